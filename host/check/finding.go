package check

import (
	"fmt"
	"strings"
)

// Class is what a finding means for a run that takes that order.
type Class uint8

// Classes.
const (
	// Mismatch is two ranks that disagree on what they do together.
	Mismatch Class = iota
	// Deadlock is a state in which nobody can do anything.
	Deadlock
	// Race is two operations on the same bytes that nothing orders.
	Race
	classCount
)

var classes = [...]string{Mismatch: "mismatch", Deadlock: "deadlock", Race: "race"}

// String is the name in results.
func (c Class) String() string { return classes[c] }

// Causes of findings, as [Finding.Cause] names them.
const (
	CauseMissingSignal   = "missing signal"
	CauseMissingMessage  = "missing message"
	CauseMissingCall     = "missing call"
	CauseWrongPeer       = "wrong peer"
	CauseMismatchedCount = "mismatched count"
	CauseMismatchedCall  = "mismatched collective"
	CauseBudget          = "budget deadlock"
	CauseCycle           = "cyclic wait"
	CauseReadBeforeWrite = "read before write"
	CauseOverwritten     = "overwritten before read"
	CauseTwoWrites       = "two writes"
)

// Finding is an order that goes wrong, and why.
type Finding struct {
	Class  Class
	Cause  string
	Why    string  // in a sentence without its cause
	Places []Place // the operations at fault, then others that are concerned
	Order  []Place // what must come first for it to happen, where several orders are possible
}

// Place is an operation of a rank.
type Place struct {
	Rank      int
	Stream    int // [Guest] for what the guest did itself
	Role      string
	Operation string
	Function  string // of the guest, "" if not known
	Line      int    // of the record
}

func place(s *step, role string) Place {
	p := Place{Rank: s.rank, Role: role, Operation: s.Words(), Function: s.Function, Line: s.Line}
	if s.onStream() {
		p.Stream = s.Stream
	}
	return p
}

// String is the place in a line.
func (p Place) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d", p.Rank)
	if p.Function != "" {
		fmt.Fprintf(&b, " in %s", p.Function)
	}
	if p.Stream != Guest {
		fmt.Fprintf(&b, ", stream %d", p.Stream)
	}
	fmt.Fprintf(&b, ": %s", p.Operation)
	if p.Role != "" {
		fmt.Fprintf(&b, " (%s)", p.Role)
	}
	return b.String()
}

// Text is the finding in lines: what it is, then the places.
func (f *Finding) Text() string {
	lines := []string{fmt.Sprintf("%s: %s", f.Cause, f.Why)}
	for _, p := range f.Places {
		lines = append(lines, p.String())
	}
	if len(f.Order) > 0 {
		lines = append(lines, "in an order in which, of those that compete,")
		for _, p := range f.Order {
			lines = append(lines, p.String())
		}
	}
	return strings.Join(lines, "\n")
}

// Words says what an action is: "put of 4096 bytes to rank 1".
func (a *Action) Words() string {
	switch a.Kind {
	case Work:
		return a.workWords()
	case Signal:
		return fmt.Sprintf("signal rank %d, slot %d to %d", a.Peer, a.Slot, a.Value)
	case Wait:
		return fmt.Sprintf("wait for rank %d to raise slot %d to %d", a.Peer, a.Slot, a.Value)
	case Seen:
		return fmt.Sprintf("found that rank %d has raised slot %d to %d", a.Peer, a.Slot, a.Value)
	case Send:
		return fmt.Sprintf("send of %d bytes to rank %d on channel %d", a.Bytes, a.Peer, a.Slot)
	case Recv:
		return fmt.Sprintf("recv of %d bytes from rank %d on channel %d", a.Bytes, a.Peer, a.Slot)
	case Record:
		return fmt.Sprintf("event_record of event %d", a.Event)
	case WaitEvent:
		return fmt.Sprintf("event_wait for event %d", a.Event)
	case Collective:
		words := make([]string, len(a.Calls))
		for i, c := range a.Calls {
			words[i] = c.String()
		}
		return "collective " + strings.Join(words, " and ")
	case SyncStream:
		return fmt.Sprintf("stream_sync of stream %d", a.Stream)
	case SyncEvent:
		return fmt.Sprintf("event_sync of event %d", a.Event)
	case Barrier, LateBarrier:
		return "barrier"
	case Publish:
		return fmt.Sprintf("publication of %s", a.Key)
	case Lookup:
		return fmt.Sprintf("lookup of %s of rank %d", a.Key, a.Peer)
	}
	return fmt.Sprintf("joining of communicator %q", a.Comm)
}

// workWords names the other rank of a transfer, if the ranges tell.
func (a *Action) workWords() string {
	text := fmt.Sprintf("%s of %d bytes", a.Name, a.Bytes)
	switch {
	case a.Name == "put" && len(a.Writes) > 0:
		text += fmt.Sprintf(" to rank %d", a.Writes[0].Owner)
	case (a.Name == "get" || a.Name == "get_box") && len(a.Reads) > 0:
		text += fmt.Sprintf(" from rank %d", a.Reads[0].Owner)
	}
	return text
}

// words names bytes: "bytes 0 to 4096 of rank 1's buffer 2".
func (r Range) words() string {
	return fmt.Sprintf("bytes %d to %d of rank %d's buffer %d", r.Off, r.Off+r.Bytes, r.Owner, r.Allocation)
}
