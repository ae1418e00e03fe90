// Package logged reads an operation log (package oplog) as a schedule that
// package check can look at. [Schedule] is all that it does.
package logged

import (
	"fmt"

	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/device/oplog"
)

// OperationsMax bounds a schedule: all lines of all ranks.
const OperationsMax = 1 << 22

// Schedule makes the log of a run a schedule. The lines of its places are those
// of the rank, from 1.
func Schedule(log *oplog.Log) (*check.Schedule, error) {
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
	exports := map[exported]check.Range{}
	readers := make([]*reader, log.Ranks)
	for rank := range log.Ranks {
		readers[rank] = newReader(rank, log.Ranks, exports, s)
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
	return s, nil
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
	exports     map[exported]check.Range
	schedule    *check.Schedule

	tokens
	number      int // of the line, from 1
	buffers     map[string]check.Range
	allocations int
	events      map[string]int
	eventsMade  int
	comms       map[string]string // names of communicators
	actions     []check.Action
}

func newReader(rank, ranks int, exports map[exported]check.Range, s *check.Schedule) *reader {
	r := &reader{rank: rank, ranks: ranks, exports: exports, schedule: s}
	r.forget()
	return r
}

// forget makes ready for the first line.
func (r *reader) forget() {
	r.buffers, r.events, r.comms = map[string]check.Range{}, map[string]int{}, map[string]string{}
	r.allocations, r.eventsMade = 0, 0
}

// each reads all lines.
func (r *reader) each(p *oplog.Program, read func(verb string) error) error {
	for i := range p.Lines() {
		r.number = i + 1
		text := p.Line(i, r.rank, r.ranks)
		err := r.split(text)
		if err == nil {
			err = read(r.next())
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return fmt.Errorf("rank %d, line %d of its operations (%s): %w", r.rank, r.number, text, err)
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
	comm := r.quoted()
	members := make([]int, 0, r.ranks)
	if list := r.next(); list == "all" {
		for rank := range r.ranks {
			members = append(members, rank)
		}
	} else {
		for _, rank := range commas(list) {
			members = append(members, int(r.parse(rank)))
		}
	}
	r.comms[name] = comm
	if known, ok := r.schedule.Comms[comm]; ok && !equal(known, members) {
		return fmt.Errorf("communicator %q has other ranks elsewhere", comm)
	}
	r.schedule.Comms[comm] = members
	r.add(check.Action{Kind: check.Join, Comm: comm})
	return nil
}

func equal(a, b []int) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}
