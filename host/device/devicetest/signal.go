package devicetest

import (
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var signalCases = []testCase{
	{"signal/monotonic", signalMonotonic},
	{"signal/separate slots", signalSeparate},
	{"signal/wait at least", signalAtLeast},
	{"signal/not lost", signalNotLost},
	{"signal/data first", signalDataFirst},
}

func (r *rank) signalValue(peer int, slot uint32, want uint64) {
	r.w.t.Helper()
	got, err := r.SignalValue(peer, slot)
	r.must(err)
	if got != want {
		r.failf("slot %d of rank %d is %d, want %d", slot, peer, got, want)
	}
}

func signalMonotonic(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	highest := uint64(0)
	for _, v := range []uint64{0, 5, 3, 5, 7, 0, 1 << 40, 1<<32 + 1, 1<<64 - 1, 1} {
		highest = max(highest, v)
		r.submit(s, signal(0, 1, v))
		r.sync(s)
		r.signalValue(0, 1, highest)
	}
	_, err := r.SignalValue(1, 0)
	r.is(err, device.ErrPeer)
	_, err = r.SignalValue(0, r.Facts().SignalSlots)
	r.is(err, device.ErrSlot)
}

// signalSeparate raises the first and the last slot of each pair of ranks:
// sources and slots must not run into each other.
func signalSeparate(t *testing.T, open Open) {
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		s, last := r.stream(), r.Facts().SignalSlots-1
		for peer := range r.size {
			r.submit(s, signal(peer, 0, uint64(100+r.n*10+peer)), signal(peer, last, uint64(200+r.n*10+peer)))
		}
		r.sync(s)
		r.barrier()
		for peer := range r.size {
			r.signalValue(peer, 0, uint64(100+peer*10+r.n))
			r.signalValue(peer, 1, 0)
			r.signalValue(peer, last, uint64(200+peer*10+r.n))
		}
		r.barrier()
	})
}

func signalAtLeast(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s := r.stream()
		if r.n == 0 {
			r.submit(s, wait(1, 3, 0)) // holds nobody
			r.sync(s)
			r.submit(s, wait(1, 3, 10))
			r.is(s.Sync(20*time.Millisecond), device.ErrTimeout)
			r.submit(s, signal(1, 0, 1))
			r.signalValue(1, 3, 0)
			r.must(r.Barrier(patience))
			r.sync(s)
			r.signalValue(1, 3, 12)
			return
		}
		r.barrier()
		r.submit(s, signal(0, 3, 9), signal(0, 3, 12), wait(0, 0, 1))
		r.sync(s)
	})
}

// signalNotLost posts many signals before the other side waits for the first,
// and waits for each value exactly.
func signalNotLost(t *testing.T, open Open) {
	const rounds = 500
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s := r.stream()
		if r.n == 0 {
			for i := range uint64(rounds) {
				r.submit(s, signal(1, 0, i+1))
			}
			r.sync(s)
			r.barrier()
			r.submit(s, wait(1, 0, rounds))
			r.sync(s)
			return
		}
		r.barrier()
		for i := range uint64(rounds) {
			r.submit(s, wait(0, 0, i+1), signal(0, 0, i+1))
		}
		r.sync(s)
	})
}

// signalDataFirst checks that what was put before a signal is there when the
// wait is over.
func signalDataFirst(t *testing.T, open Open) {
	const rounds, size = 300, 1024
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(size)
		theirs, s, peer := r.share("b", mine)[1-r.n], r.stream(), 1-r.n
		for i := range uint64(rounds) {
			if r.n == 0 {
				src := r.filled(size, i)
				r.submit(s, move(op.Put, at(theirs, 0), at(src, 0), size), signal(peer, 0, i+1), wait(peer, 0, i+1))
				r.must(r.Free(src)) // the put still sees its bytes
				r.sync(s)
				continue
			}
			var found op.Result
			r.submit(s, wait(peer, 0, i+1),
				op.Op{Kind: op.Verify, Dst: at(mine, 0), Bytes: size, Value: i, Result: &found, Peer: -1}, signal(peer, 0, i+1))
			r.sync(s)
			if found.Mismatches != 0 || found.FirstBad != -1 {
				r.failf("round %d: %+v", i, found)
			}
		}
		r.barrier()
	})
}
