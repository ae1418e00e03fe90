package check

import (
	"cmp"
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Kind says what an action does, as far as other actions can tell.
type Kind uint8

// Actions of streams. Work on stream [Guest] is the guest's own.
const (
	// Work reads and writes memory, and waits for nobody.
	Work Kind = iota
	// Signal raises this rank's Slot at rank Peer to Value.
	Signal
	// Wait is for the slot that rank Peer raises here to reach Value.
	Wait
	// Send offers what it reads, Bytes of it, to rank Peer on channel Slot.
	Send
	// Recv takes Bytes from rank Peer on channel Slot.
	Recv
	// Record marks Event.
	Record
	// WaitEvent waits for the last Record of Event that was submitted before it.
	WaitEvent
	// Collective carries out Calls on Comm, together.
	Collective
)

// Actions of the guest itself.
const (
	// SyncStream waits until Stream has done what was submitted to it.
	SyncStream Kind = iota + 32
	// SyncEvent waits for the last Record of Event that was submitted.
	SyncEvent
	// Barrier waits for all ranks.
	Barrier
	// LateBarrier is a barrier that did not wait long enough. It counts.
	LateBarrier
	// Seen is a look at a slot that found Value there.
	Seen
	// Publish tells others of Key and goes on.
	Publish
	// Lookup waits until rank Peer has published Key.
	Lookup
	// Join makes the communicator Comm, when all its ranks do.
	Join
)

// Guest is the number of the stream that is none: what the guest does itself.
const Guest = 0

// Action is what a rank asked of its device. Which fields count depends on
// Kind.
type Action struct {
	Kind   Kind
	Name   string // of Work: "put", "fill"
	Stream int    // that it was submitted to or, for SyncStream, waits for; from 1
	Peer   int
	Slot   uint32 // or channel
	Value  uint64
	Bytes  int64
	Event  int
	Comm   string
	Calls  []Call
	Key    string

	Reads, Writes []Range

	Function string // of the guest that asked for it, "" if not known
	Line     int    // of the record, 0 if there is none
}

// Range is some bytes of an allocation of a rank. A rank never uses the number
// of an allocation again.
type Range struct {
	Owner      int
	Allocation int
	Off, Bytes int64
}

// overlap gives the bytes that two ranges share.
func (r Range) overlap(other Range) (shared Range, ok bool) {
	if r.Owner != other.Owner || r.Allocation != other.Allocation {
		return Range{}, false
	}
	low, high := max(r.Off, other.Off), min(r.Off+r.Bytes, other.Off+other.Bytes)
	shared = Range{r.Owner, r.Allocation, low, high - low}
	return shared, low < high
}

// Call is a collective, with what all its ranks must agree on.
type Call struct {
	Collective op.CollectiveOp
	Type       op.Dtype
	Red        op.RedOp
	Root       int
	Count      int64
	// Counts are of an exchange of parts, nil if the record does not tell. They
	// are no part of what all must agree on: each pair of members must.
	Counts *Counts
}

// Counts is what a member sends to and receives from each, in elements.
type Counts struct{ Sends, Recvs []int64 }

// String is the call in words, with what all ranks must agree on and nothing
// else: equal words mean equal calls.
func (c Call) String() string {
	switch c.Collective {
	case op.BarrierAll:
		return c.Collective.String()
	case op.AllToAllV:
		return fmt.Sprintf("%s %s", c.Collective, c.Type)
	case op.AllReduce, op.ReduceScatter:
		return fmt.Sprintf("%s %s %s of %d elements", c.Collective, c.Type, c.Red, c.Count)
	case op.ReduceTo:
		return fmt.Sprintf("%s %s %s of %d elements, root %d", c.Collective, c.Type, c.Red, c.Count, c.Root)
	case op.Broadcast, op.Gather, op.Scatter:
		return fmt.Sprintf("%s %s of %d elements, root %d", c.Collective, c.Type, c.Count, c.Root)
	}
	return fmt.Sprintf("%s %s of %d elements", c.Collective, c.Type, c.Count)
}

// rooted reports whether one member is another than the rest.
func (c Call) rooted() bool {
	switch c.Collective {
	case op.Broadcast, op.Scatter, op.ReduceTo, op.Gather:
		return true
	}
	return false
}

// waitsFor reports whether a member cannot end the call before another has
// entered it, because it gets something from there. Numbers are of members.
func (c Call) waitsFor(member, other int) bool {
	switch c.Collective {
	case op.Broadcast, op.Scatter:
		return other == c.Root
	case op.ReduceTo, op.Gather:
		return member == c.Root
	}
	return true
}

// Rank is what one rank did.
type Rank struct {
	Actions []Action // in the order in which the guest asked for them
	// Ended says that the guest came to its end: the record is all that it would
	// ever do.
	Ended bool
}

// Schedule is what all ranks did.
type Schedule struct {
	Ranks []Rank
	// Comms are the world ranks of communicators, in their order. One that is not
	// here is the world's.
	Comms map[string][]int
}

// Operations counts the actions of all ranks.
func (s *Schedule) Operations() int {
	n := 0
	for i := range s.Ranks {
		n += len(s.Ranks[i].Actions)
	}
	return n
}

// onStream reports whether a stream carries the action out.
func (a *Action) onStream() bool { return a.Kind <= Collective && a.Stream != Guest }

// isMessage reports whether it makes progress together with its neighbours.
func (a *Action) isMessage() bool { return a.Kind == Send || a.Kind == Recv }

// An Error is a schedule that makes no sense.
type Error struct {
	Rank, Index int
	Text        string
}

// Error names the action.
func (e *Error) Error() string {
	return fmt.Sprintf("rank %d, action %d: %s", e.Rank, e.Index, e.Text)
}

// check finds what no rank can have done.
func (s *Schedule) check() error {
	c := &checker{Schedule: s, comms: map[string]*checkedComm{}}
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Actions {
			if text := s.Ranks[rank].Actions[i].wrong(rank, c); text != "" {
				return &Error{rank, i, text}
			}
		}
	}
	return nil
}

// checker knows which communicators it has looked at.
type checker struct {
	*Schedule
	comms map[string]*checkedComm
}

// checkedComm is a communicator with who is in it, and what is wrong with it.
type checkedComm struct {
	members map[int]bool
	wrong   string
}

// wrong says what is wrong with an action of a rank, "" if nothing is.
func (a *Action) wrong(rank int, s *checker) string {
	switch {
	case a.Kind > Join || a.Kind > Collective && a.Kind < SyncStream:
		return "unknown kind"
	case a.Stream < 0:
		return "negative stream"
	case a.Kind > Work && a.Kind <= Collective && a.Stream == Guest:
		return "only streams do that"
	case a.hasPeer() && (a.Peer < 0 || a.Peer >= len(s.Ranks)):
		return fmt.Sprintf("there is no rank %d", a.Peer)
	}
	for _, ranges := range [][]Range{a.Reads, a.Writes} {
		for _, r := range ranges {
			if r.Owner < 0 || r.Owner >= len(s.Ranks) || r.Off < 0 || r.Bytes < 0 || r.Off+r.Bytes < r.Off {
				return "no such bytes"
			}
		}
	}
	if a.Kind == Collective || a.Kind == Join {
		return cmp.Or(s.wrongComm(a.Comm, rank), s.wrongCounts(a))
	}
	return ""
}

func (a *Action) hasPeer() bool {
	switch a.Kind {
	case Signal, Wait, Send, Recv, Seen, Lookup:
		return true
	}
	return false
}

func (c *checker) wrongComm(name string, rank int) string {
	if _, ok := c.Comms[name]; !ok {
		return ""
	}
	comm, ok := c.comms[name]
	if !ok {
		comm = c.checkComm(name)
		c.comms[name] = comm
	}
	if comm.wrong == "" && !comm.members[rank] {
		return fmt.Sprintf("not in communicator %q", name)
	}
	return comm.wrong
}

func (c *checker) checkComm(name string) *checkedComm {
	comm := &checkedComm{members: make(map[int]bool, len(c.Comms[name]))}
	for _, member := range c.Comms[name] {
		switch {
		case member < 0 || member >= len(c.Ranks):
			comm.wrong = fmt.Sprintf("there is no rank %d", member)
		case comm.members[member]:
			comm.wrong = fmt.Sprintf("rank %d is twice in communicator %q", member, name)
		}
		if comm.wrong != "" {
			break
		}
		comm.members[member] = true
	}
	return comm
}

// wrongCounts finds calls with counts that are not one for each member.
func (c *checker) wrongCounts(a *Action) string {
	size := len(c.Ranks)
	if members, ok := c.Comms[a.Comm]; ok {
		size = len(members)
	}
	for i := range a.Calls {
		if counts := a.Calls[i].Counts; counts != nil && (len(counts.Sends) != size || len(counts.Recvs) != size) {
			return fmt.Sprintf("%d and %d counts for %d ranks", len(counts.Sends), len(counts.Recvs), size)
		}
	}
	return ""
}
