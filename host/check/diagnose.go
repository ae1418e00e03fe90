package check

import (
	"fmt"
	"slices"
)

// explainMismatch says on what two ranks disagree.
func (r *run) explainMismatch() Finding {
	d := r.differ
	if d.parts {
		return Finding{
			Cause:  CauseMismatchedCount,
			Why:    fmt.Sprintf("in an exchange rank %d sends %d elements where rank %d receives %d", d.one.rank, d.sent, d.other.rank, d.received),
			Places: []Place{place(d.one, "sends"), place(d.other, "receives")},
		}
	}
	if d.oneCall == "" {
		return Finding{
			Cause:  CauseMismatchedCount,
			Why:    fmt.Sprintf("rank %d sends %d bytes where rank %d receives %d", d.one.rank, d.one.Bytes, d.other.rank, d.other.Bytes),
			Places: []Place{place(d.one, ""), place(d.other, "")},
		}
	}
	if d.other.rank < d.one.rank {
		d = &disagreement{one: d.other, other: d.one, oneCall: d.otherCall, otherCall: d.oneCall}
	}
	return Finding{
		Cause:  CauseMismatchedCall,
		Why:    fmt.Sprintf("rank %d calls %s, rank %d calls %s", d.one.rank, d.oneCall, d.other.rank, d.otherCall),
		Places: []Place{place(d.one, ""), place(d.other, "")},
	}
}

// blocked is an operation that a guest or a stream cannot do. Its needs are
// what it waits for.
type blocked struct {
	*step
	guest bool // the guest itself is held up
	needs []need
}

// need is one of the things that something blocked waits for. It is met by
// going on with another blocked thing, or by nobody that the record knows of.
type need struct {
	rank   int // that must act
	by     int // index of what is blocked there, -1 if nothing is
	absent bool
}

// stuck is the state of a deadlock.
type stuck struct {
	*run
	blocked  []blocked
	ofGuest  []int // by rank, -1 for none
	ofStream []int
}

// explainDeadlock says why nobody can move. What the record shows for certain
// comes before what it suggests.
func (r *run) explainDeadlock() Finding {
	s := r.stuck()
	for _, explain := range []func() *Finding{s.wrongPeer, s.missing, s.cycle} {
		if f := explain(); f != nil {
			s.addOthers(f)
			return *f
		}
	}
	f := Finding{Cause: CauseCycle, Why: "no rank can move"}
	s.addOthers(&f)
	return f
}

// addOthers adds what else waits.
func (s *stuck) addOthers(f *Finding) {
	for i := range s.blocked {
		b := &s.blocked[i]
		if b.Kind == SyncStream && s.ofStream[b.stream] >= 0 {
			continue // what it waits for says more
		}
		p := s.waiting(b)
		if !slices.ContainsFunc(f.Places, func(q Place) bool { q.Role = p.Role; return q == p }) {
			f.Places = append(f.Places, p)
		}
	}
}

// stuck gathers what is blocked, and for what.
func (r *run) stuck() *stuck {
	s := &stuck{run: r, ofGuest: make([]int, len(r.guests)), ofStream: make([]int, len(r.streams))}
	for rank := range r.guests {
		s.ofGuest[rank] = -1
		if next := r.guests[rank].next; next < len(r.plan.guests[rank]) {
			s.ofGuest[rank] = len(s.blocked)
			s.blocked = append(s.blocked, blocked{step: r.plan.guests[rank][next], guest: true})
		}
	}
	for i := range r.streams {
		r.advance(i)
		s.ofStream[i] = -1
		if head := r.streams[i].head; head < len(r.streams[i].submitted) {
			s.ofStream[i] = len(s.blocked)
			s.blocked = append(s.blocked, blocked{step: r.plan.streams[i].steps[head]})
		}
	}
	for i := range s.blocked {
		s.blocked[i].needs = s.needs(&s.blocked[i])
	}
	return s
}

// holder is what holds up a step that has not been done: the stream that it is
// in, or the guest that has not come to it.
func (s *stuck) holder(other *step) need {
	n := need{rank: other.rank, by: s.ofGuest[other.rank]}
	if other.onStream() && other.at < len(s.streams[other.stream].submitted) {
		n.by = s.ofStream[other.stream]
	}
	return n
}

// nobody is a need that nothing in the record of a rank meets. Its guest may
// have meant to, if it has not come to its end.
func (s *stuck) nobody(rank int) need {
	return need{rank: rank, by: s.ofGuest[rank], absent: true}
}

func (s *stuck) needs(b *blocked) []need {
	switch b.Kind {
	case SyncStream:
		return []need{{rank: b.rank, by: s.ofStream[b.stream]}}
	case SyncEvent, WaitEvent:
		return []need{s.holder(s.plan.streams[b.object].steps[b.number])}
	case Wait, Seen:
		slot := &s.plan.slots[b.object]
		return s.anyOf(slot.signals, slot.from, func(other *step) bool { return other.Value >= b.Value && s.pending(other) })
	case Send:
		channel := &s.plan.channels[b.object]
		return s.anyOf(channel.recvs, channel.to, s.pending)
	case Recv:
		channel := &s.plan.channels[b.object]
		return s.anyOf(channel.sends, channel.from, s.pending)
	case Barrier:
		return s.absentees(b)
	case Collective, Join:
		return s.callers(b)
	case Lookup:
		for _, other := range s.plan.guests[b.Peer] {
			if other.Kind == Publish && other.object == b.object {
				return []need{s.holder(other)}
			}
		}
		return []need{s.nobody(b.Peer)}
	}
	return nil // what waits for nobody is not blocked
}

// anyOf needs one of several steps of a rank.
func (s *stuck) anyOf(steps []*step, rank int, fits func(*step) bool) []need {
	for _, other := range steps {
		if fits(other) {
			return []need{s.holder(other)}
		}
	}
	return []need{s.nobody(rank)}
}

func (s *stuck) absentees(b *blocked) []need {
	var needs []need
	for rank, when := range s.barriers[b.number].entered {
		if when.exists() {
			continue
		}
		at := slices.IndexFunc(s.plan.guests[rank], func(other *step) bool {
			return (other.Kind == Barrier || other.Kind == LateBarrier) && other.number == b.number
		})
		if at < 0 {
			needs = append(needs, s.nobody(rank))
		} else {
			needs = append(needs, s.holder(s.plan.guests[rank][at]))
		}
	}
	return needs
}

func (s *stuck) callers(b *blocked) []need {
	comm := &s.plan.comms[b.object]
	if before := s.callBefore(b.step, comm.member(b.rank)); before != nil && !s.previousDone(b.step, comm.member(b.rank)) {
		return []need{s.holder(before)}
	}
	var needs []need
	for call := b.number; call < b.number+max(1, len(b.Calls)); call++ {
		for member, rank := range comm.members {
			if s.comms[b.object].calls[call].entered[member].exists() {
				continue
			}
			if call < len(comm.calls[member]) {
				needs = append(needs, s.holder(comm.calls[member][call]))
			} else {
				needs = append(needs, s.nobody(rank))
			}
		}
	}
	return needs
}

// eachLacking calls f for what nobody gives as it is waited for, until it finds
// something: what nobody meets at all, and values of slots that are passed over.
func (s *stuck) eachLacking(f func(b *blocked, n need) *Finding) *Finding {
	for i := range s.blocked {
		b := &s.blocked[i]
		for _, n := range b.needs {
			if !n.absent && !s.passedOver(b) {
				continue
			}
			if finding := f(b, n); finding != nil {
				return finding
			}
		}
	}
	return nil
}

// passedOver reports whether something waits for a value that a slot never has.
func (s *stuck) passedOver(b *blocked) bool {
	if b.Kind != Wait && b.Kind != Seen {
		return false
	}
	return !slices.ContainsFunc(s.plan.slots[b.object].signals, func(signal *step) bool { return signal.Value == b.Value })
}

// wrongPeer finds what somebody waits for at another rank, where nobody does.
func (s *stuck) wrongPeer() *Finding {
	return s.eachLacking(func(b *blocked, n need) *Finding {
		for _, other := range s.plan.guests[n.rank] {
			if !s.strays(other, b) {
				continue
			}
			f := &Finding{Cause: CauseWrongPeer, Places: []Place{place(other, "nobody waits for it there"), s.waiting(b)}}
			f.Why = fmt.Sprintf("rank %d waits for what rank %d gives to rank %d instead", b.rank, other.rank, other.Peer)
			return f
		}
		return nil
	})
}

// strays reports whether a step is just what b waits for, but for its peer, and
// nothing there waits for it.
func (s *stuck) strays(other *step, b *blocked) bool {
	if other.Peer == b.rank || other.Slot != b.Slot {
		return false
	}
	switch {
	case other.Kind == Signal && (b.Kind == Wait || b.Kind == Seen):
		if other.Value < b.Value {
			return false
		}
		before := uint64(0) // the slot's value ahead of it
		for _, earlier := range s.plan.slots[other.object].signals {
			if earlier.index < other.index {
				before = max(before, earlier.Value)
			}
		}
		next, waited := firstAbove(s.plan.slots[other.object].thresholds, before)
		return before < b.Value && (!waited || next > other.Value)
	case other.Kind == Send && b.Kind == Recv:
		c := &s.plan.channels[other.object]
		return other.Bytes == b.Bytes && slices.Index(c.sends, other) >= len(c.recvs)
	case other.Kind == Recv && b.Kind == Send:
		c := &s.plan.channels[other.object]
		return other.Bytes == b.Bytes && slices.Index(c.recvs, other) >= len(c.sends)
	}
	return false
}

// waiting is the place of something blocked.
func (s *stuck) waiting(b *blocked) Place {
	if b.Kind == Wait || b.Kind == Seen {
		return place(b.step, fmt.Sprintf("waits: it is %d", s.slots[b.object].value()))
	}
	return place(b.step, "waits")
}
