package check

import (
	"fmt"
	"slices"
	"strings"
)

// missing finds what a rank does not do that has come to its end, or to that of
// its record. One that is blocked itself may have meant to do it later, unless
// another rank did the like before it came there.
func (s *stuck) missing() *Finding {
	return s.eachLacking(func(b *blocked, n need) *Finding {
		var f *Finding
		like, next := s.like(b, n.rank)
		switch {
		case n.absent && s.Ranks[n.rank].Ended:
			f = s.absence(b, n.rank, "never does")
		case like != nil:
			f = s.absence(b, n.rank, "has left out")
		case !n.absent && s.oneByOne(b):
			f = s.absence(b, n.rank, "passes over")
		case !n.absent:
			return nil
		case n.by < 0:
			f = s.absence(b, n.rank, "does not do as far as the record goes")
		default:
			return nil
		}
		if like != nil {
			f.Why += fmt.Sprintf("; rank %d gives rank %d the like", like.rank, like.Peer)
			f.Places = append(f.Places, place(next, "without the signal before it"), place(like, "the like"))
		}
		return f
	})
}

// oneByOne reports whether all that was waited for of a slot before was given
// as it was waited for, and there was something.
func (s *stuck) oneByOne(b *blocked) bool {
	slot := &s.plan.slots[b.object]
	some := false
	for _, threshold := range slot.thresholds {
		if threshold == 0 || threshold >= b.Value {
			continue
		}
		some = true
		if !slices.ContainsFunc(slot.signals, func(signal *step) bool { return signal.Value == threshold }) {
			return false
		}
	}
	return some
}

// absence says that a rank does not do what another waits for.
func (s *stuck) absence(b *blocked, rank int, how string) *Finding {
	f := &Finding{Places: []Place{s.waiting(b)}}
	switch b.Kind {
	case Wait, Seen:
		f.Cause = CauseMissingSignal
		f.Why = fmt.Sprintf("rank %d waits for rank %d to raise slot %d to %d, which it %s (%d is the most)", b.rank, rank, b.Slot, b.Value, how, s.highest(b))
	case Send:
		f.Cause = CauseMissingMessage
		f.Why = fmt.Sprintf("rank %d waits for rank %d to receive on channel %d, which it %s", b.rank, rank, b.Slot, how)
	case Recv:
		f.Cause = CauseMissingMessage
		f.Why = fmt.Sprintf("rank %d waits for rank %d to send on channel %d, which it %s", b.rank, rank, b.Slot, how)
	default:
		f.Cause = CauseMissingCall
		f.Why = fmt.Sprintf("rank %d waits for rank %d to come to its %s, which it %s", b.rank, rank, b.Words(), how)
	}
	return f
}

// highest is the most that a slot is ever raised to.
func (s *stuck) highest(b *blocked) uint64 {
	most := uint64(0)
	for _, signal := range s.plan.slots[b.object].signals {
		most = max(most, signal.Value)
	}
	return most
}

// like finds a signal that a rank has left out on its way: another rank has
// given it to the peer that lies as far from it, and both did the same up to
// there and went on with the same, next.
func (s *stuck) like(b *blocked, rank int) (signal, next *step) {
	if b.Kind != Wait && b.Kind != Seen {
		return nil, nil
	}
	for i := range len(s.plan.guests) - 1 {
		other := (rank + 1 + i) % len(s.plan.guests)
		at := s.parting(rank, other)
		theirs := s.plan.guests[other]
		if at+1 >= len(theirs) || at >= len(s.plan.guests[rank]) {
			continue
		}
		signal, next = theirs[at], s.plan.guests[rank][at]
		if signal.Kind == Signal && signal.Slot == b.Slot && signal.Value >= b.Value &&
			s.distance(other, signal.Peer) == s.distance(rank, b.rank) && s.alike(next, theirs[at+1]) {
			return signal, next
		}
	}
	return nil, nil
}

// parting is the first action in which two ranks are not alike.
func (s *stuck) parting(one, other int) int {
	a, b := s.plan.guests[one], s.plan.guests[other]
	for i := range min(len(a), len(b)) {
		if !s.alike(a[i], b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// alike reports whether two ranks do the same, each from where it is.
func (s *stuck) alike(one, other *step) bool {
	return one.Kind == other.Kind && one.Name == other.Name && one.Stream == other.Stream && one.Slot == other.Slot &&
		one.Value == other.Value && one.Bytes == other.Bytes && one.Function == other.Function &&
		(!one.hasPeer() || s.distance(one.rank, one.Peer) == s.distance(other.rank, other.Peer))
}

// distance is how far a rank lies behind another, around the ring.
func (s *stuck) distance(from, to int) int {
	size := len(s.plan.guests)
	return (to - from + size) % size
}

// cycle finds ranks that wait for each other.
func (s *stuck) cycle() *Finding {
	for start := range s.blocked {
		path := s.wayBack(start)
		if path == nil {
			continue
		}
		f := &Finding{Cause: CauseBudget}
		var ranks []string
		for i, at := range path {
			b := &s.blocked[at]
			if i == 0 || s.blocked[path[i-1]].rank != b.rank {
				ranks = append(ranks, fmt.Sprintf("rank %d waits for", b.rank))
			}
			if b.Kind == SyncStream {
				continue
			}
			f.Places = append(f.Places, s.waiting(b))
			if b.Kind != Wait && b.Kind != Seen {
				f.Cause = CauseCycle
			}
		}
		if s.blocked[path[len(path)-1]].rank == s.blocked[path[0]].rank && len(ranks) > 1 {
			ranks = ranks[:len(ranks)-1] // the cycle began in the middle of a rank
		}
		f.Why = fmt.Sprintf("%s rank %d, and each gives what is waited for only after its own wait", strings.Join(ranks, " "), s.blocked[path[0]].rank)
		return f
	}
	return nil
}

// wayBack is the shortest way from something blocked to itself, over what each
// waits for; nil if there is none.
func (s *stuck) wayBack(start int) []int {
	from := make([]int, len(s.blocked))
	for i := range from {
		from[i] = -1
	}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, n := range s.blocked[at].needs {
			if n.by == start {
				var path []int
				for ; at != start; at = from[at] {
					path = append(path, at)
				}
				path = append(path, start)
				slices.Reverse(path)
				return path
			}
			if n.by >= 0 && from[n.by] < 0 {
				from[n.by] = at
				queue = append(queue, n.by)
			}
		}
	}
	return nil
}
