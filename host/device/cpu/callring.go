package cpu

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// callRing is where a stream keeps the calls of its queued operations, those of
// a group side by side. It is the guest's thread that takes room; what it has
// taken for an operation is free again when that is done. Room is bounded,
// since a queue may hold many groups, and a group many calls.
type callRing struct {
	calls  []op.Call
	base   uint64 // position of calls[0]; what was taken before lies in an array that is not used any more
	next   uint64 // position of the next to be taken
	oldest uint64 // position of the first that may not be free
}

// Calls that a ring has room for, powers of two: at first, when most calls are
// alone, and at most.
const (
	ringCalls    = queueLength
	ringCallsMax = 8 * queueLength
)

// A group fits into an empty ring of any size.
const _ = uint(ringCalls - op.MaxGroup)

// take gives room for n calls and its position, or nil if there is none.
func (r *callRing) take(n int) ([]op.Call, uint64) {
	if r.calls == nil {
		r.calls = make([]op.Call, ringCalls)
	}
	if r.oldest == r.next {
		r.base = r.next
	}
	size := uint64(len(r.calls))
	from := r.next
	at := (from - r.base) & (size - 1)
	if at+uint64(n) > size {
		from, at = from+size-at, 0 // the group would not lie side by side
	}
	if from+uint64(n)-r.oldest > size {
		return nil, 0
	}
	r.next = from + uint64(n)
	return r.calls[at : at : at+uint64(n)], from
}

// grow makes the ring as large as it gets and reports whether it was smaller.
func (r *callRing) grow() bool {
	if len(r.calls) == ringCallsMax {
		return false
	}
	r.calls = make([]op.Call, ringCallsMax)
	r.base, r.oldest = r.next, r.next
	return true
}

// free notes up to which position the ring is free.
func (r *callRing) free(position uint64) { r.oldest = max(r.oldest, position) }

// firstCalls is the position of the first calls that are not done.
func (q *queue) firstCalls() uint64 {
	for i := q.done.value.Load(); i < q.tail.Load(); i++ {
		if e := q.at(i); e.op.Kind == op.CollectiveCall {
			return e.position
		}
	}
	return q.ring.next
}

// makeRoomForCalls gives room for n calls, after waiting until there is some.
func (s *stream) makeRoomForCalls(n int) (room []op.Call, position uint64, err error) {
	for {
		if room, position = s.ring.take(n); room != nil {
			return room, position, nil
		}
		before := s.ring.oldest
		if s.ring.free(s.firstCalls()); s.ring.oldest > before || s.ring.grow() {
			continue
		}
		done := s.done.value.Load()
		half := done + (s.tail.Load()-done+1)/2
		if err := s.reach(half, s.device.guestWaitFor(op.SyncStream, device.Forever)); err != nil {
			return nil, 0, err
		}
		if err := s.err(); err != nil {
			return nil, 0, err
		}
	}
}
