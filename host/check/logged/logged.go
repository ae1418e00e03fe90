// Package logged reads an operation log (package oplog) as a schedule that
// package check can look at. [Schedule] is all that it does.
package logged

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/device/oplog"
)

// Limits of a schedule. What all ranks wait for together costs each of them as
// much as there are ranks.
const (
	RanksMax      = 1 << 13
	OperationsMax = 1 << 22 // lines of all ranks
	// TextBytesMax bounds the text of these lines, lists of ranks among it.
	TextBytesMax = 1 << 29
	// MembersMax bounds the members of all communicators together. A log that was
	// recorded has a line for each.
	MembersMax = OperationsMax
	// EntriesMax bounds the members of all calls and barriers together. A log that
	// was recorded has a line for most.
	EntriesMax = 4 * OperationsMax
)

// Schedule makes the log of a run a schedule. The lines of its places are those
// of the rank, from 1.
func Schedule(log *oplog.Log) (*check.Schedule, error) {
	if log.Ranks > RanksMax {
		return nil, fmt.Errorf("the log has %d ranks, and %d at most can be checked: record it with fewer", log.Ranks, RanksMax)
	}
	total := 0
	for rank := range log.Ranks {
		p := log.Program(rank)
		if p == nil {
			return nil, fmt.Errorf("the log says nothing of rank %d", rank)
		}
		if total += p.Lines(); total > OperationsMax {
			return nil, fmt.Errorf("the log has more than %d operations", OperationsMax)
		}
	}
	s := &check.Schedule{Ranks: make([]check.Rank, log.Ranks), Comms: map[string][]int{}}
	all := &common{schedule: s, exports: map[exported]check.Range{}, comms: map[string]comm{}}
	readers := make([]*reader, log.Ranks)
	for rank := range log.Ranks {
		readers[rank] = newReader(rank, log.Ranks, all)
		if err := readers[rank].each(log.Program(rank), readers[rank].own); err != nil {
			return nil, err
		}
	}
	for rank, r := range readers { // now all that can be imported is known
		r.forget()
		if err := r.each(log.Program(rank), r.line); err != nil {
			return nil, err
		}
		s.Ranks[rank] = check.Rank{Actions: r.actions, Ended: log.Program(rank).Ended}
	}
	return s, countEntries(s)
}

// countEntries fails if there are too many members of calls and barriers.
func countEntries(s *check.Schedule) error {
	entries, barriers, calls := 0, 0, map[string]int{}
	for rank := range s.Ranks {
		ownBarriers, ownCalls := 0, map[string]int{}
		for i := range s.Ranks[rank].Actions {
			switch a := &s.Ranks[rank].Actions[i]; a.Kind {
			case check.Barrier, check.LateBarrier:
				if ownBarriers++; ownBarriers > barriers {
					barriers = ownBarriers
					entries += len(s.Ranks)
				}
			case check.Collective, check.Join:
				ownCalls[a.Comm] += max(1, len(a.Calls))
				if more := ownCalls[a.Comm] - calls[a.Comm]; more > 0 {
					calls[a.Comm] += more
					entries += more * len(s.Comms[a.Comm])
				}
			}
			if entries > EntriesMax {
				return fmt.Errorf("the calls and barriers of the log have more than %d members together: record fewer ranks or iterations", EntriesMax)
			}
		}
	}
	return nil
}

// common is what the readers of all ranks share.
type common struct {
	schedule  *check.Schedule
	exports   map[exported]check.Range
	comms     map[string]comm
	members   int // of these
	textBytes int // that were read
	boxRows   int64
}

// comm is a communicator as a line gives it.
type comm struct {
	list     string
	memberOf map[int]int // by rank
}

// exported is what a rank calls bytes that others may reach.
type exported struct {
	rank int
	name string
}

// reader reads the lines of one rank, twice: for what it owns, and for what it
// does.
type reader struct {
	rank, ranks int
	*common

	tokens
	number      int // of the line, from 1
	buffers     map[string]check.Range
	allocations int
	events      map[string]int
	eventsMade  int
	names       map[string]string // of communicators
	actions     []check.Action
}

func newReader(rank, ranks int, all *common) *reader {
	r := &reader{rank: rank, ranks: ranks, common: all}
	r.forget()
	return r
}

// forget makes ready for the first line.
func (r *reader) forget() {
	r.buffers, r.events, r.names = map[string]check.Range{}, map[string]int{}, map[string]string{}
	r.allocations, r.eventsMade = 0, 0
}

// each reads all lines.
func (r *reader) each(p *oplog.Program, read func(verb string) error) error {
	for i := range p.Lines() {
		r.number = i + 1
		text := p.Line(i, r.rank, r.ranks)
		if r.textBytes += len(text); r.textBytes > 2*TextBytesMax { // it is read twice
			return fmt.Errorf("the log has more than %d bytes in its lines: record fewer ranks or iterations", TextBytesMax)
		}
		err := r.split(text)
		if err == nil {
			err = read(r.next())
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return fmt.Errorf("rank %d, line %d of its operations (%.200s): %w", r.rank, r.number, text, err)
		}
	}
	return nil
}

// own reads lines for the memory that they make and export.
func (r *reader) own(verb string) error {
	switch verb {
	case "alloc":
		r.alloc()
	case "free":
		delete(r.buffers, r.next())
	case "import":
		delete(r.buffers, r.next()) // the number may have been another's
	case "export":
		name := r.next()
		r.skip("<-")
		v := r.view()
		v.Bytes = min(r.int64(), v.Bytes)
		r.exports[exported{r.rank, name}] = v
	}
	return nil
}

// alloc reads a line that makes a buffer.
func (r *reader) alloc() {
	name, bytes := r.next(), r.int64()
	r.allocations++
	r.buffers[name] = check.Range{Owner: r.rank, Allocation: r.allocations, Bytes: bytes}
}

// line reads a line for what it does.
func (r *reader) line(verb string) error {
	switch verb {
	case "alloc":
		r.alloc()
	case "free":
		delete(r.buffers, r.next())
	case "export":
		r.add(check.Action{Kind: check.Publish, Key: r.next()})
	case "import":
		return r.imported()
	case "read", "write":
		r.touched(verb)
	case "event":
		r.eventsMade++
		r.events[r.next()] = r.eventsMade
	case "sync", "close":
		r.add(check.Action{Kind: check.SyncStream, Stream: r.stream()})
	case "event_sync":
		r.add(check.Action{Kind: check.SyncEvent, Event: r.events[r.next()]})
	case "barrier":
		r.add(check.Action{Kind: check.Barrier})
	case "barrier_late":
		r.add(check.Action{Kind: check.LateBarrier})
	case "seen":
		r.add(r.slot(check.Action{Kind: check.Seen}))
	case "comm":
		return r.joined()
	case "and":
		return r.grouped()
	case "stream", "event_close", "comm_close", "collective", "collective_end", "mark", "mark_end":
	default:
		return r.submitted(verb)
	}
	return nil
}

// add appends what a line does.
func (r *reader) add(a check.Action) {
	a.Function, a.Line = r.function, r.number
	r.actions = append(r.actions, a)
}

// imported is of a buffer whose owner must have exported it.
func (r *reader) imported() error {
	buffer := r.next()
	r.skip("<-")
	peer, name := r.peer(), r.next()
	v, ok := r.exports[exported{peer, name}]
	if !ok {
		return fmt.Errorf("rank %d exports no %s", peer, name)
	}
	r.buffers[buffer] = v
	r.add(check.Action{Kind: check.Lookup, Peer: peer, Key: name})
	return nil
}

// touched is what the guest itself reads or writes.
func (r *reader) touched(verb string) {
	v := r.view()
	a := check.Action{Kind: check.Work, Name: verb, Bytes: r.int64()}
	if verb == "read" {
		a.Reads = part(v, a.Bytes)
	} else {
		a.Writes = part(v, a.Bytes)
	}
	r.add(a)
}

// part is the first bytes of a view: nothing of one that does not exist.
func part(v check.Range, bytes int64) []check.Range {
	v.Bytes = min(v.Bytes, bytes)
	if v.Bytes <= 0 {
		return nil
	}
	return []check.Range{v}
}

// joined is of a communicator, which has another name on each rank.
func (r *reader) joined() error {
	name := r.next()
	shared := r.quoted()
	list := r.next()
	r.names[name] = shared
	r.add(check.Action{Kind: check.Join, Comm: shared})
	known, ok := r.comms[shared]
	if ok && known.list == list {
		return nil // as most have it
	}
	members := r.membersOf(list)
	if ok && !slices.Equal(r.schedule.Comms[shared], members) {
		return fmt.Errorf("communicator %q has other ranks elsewhere", shared)
	}
	if ok {
		r.comms[shared] = comm{list, known.memberOf}
		return nil
	}
	if r.members += len(members); r.members > MembersMax {
		return fmt.Errorf("the communicators of the log have more than %d members together", MembersMax)
	}
	memberOf := make(map[int]int, len(members))
	for member, rank := range members {
		memberOf[rank] = member
	}
	r.schedule.Comms[shared], r.comms[shared] = members, comm{list, memberOf}
	return nil
}

// membersOf reads a list of ranks.
func (r *reader) membersOf(list string) []int {
	var members []int
	if list == "all" {
		for rank := range r.ranks {
			members = append(members, rank)
		}
		return members
	}
	for _, rank := range commas(list) {
		members = append(members, int(r.parse(rank)))
	}
	return members
}
