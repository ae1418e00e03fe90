package devicetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// callEndCases are about calls and communicators that are refused or fail.
var callEndCases = []testCase{
	{"call/mismatch", callMismatch},
	{"call/variable parts that differ", callVariableMismatch},
	{"call/refused", callRefused},
	{"call/timeout", callTimeout},
	{"call/sync timeout", callSyncTimeout},
	{"call/abort", callAbort},
	{"call/failed stream", callFailedStream},
	{"comm/refused", commRefused},
	{"comm/late rank", commLate},
	{"comm/memory", commMemory},
}

// callMismatch has rank 2 call something else. Every rank learns who calls
// what, and the communicator is of no use afterwards.
func callMismatch(t *testing.T, open Open) {
	needsCollectives(t, open)
	changes := map[string]func(*op.Call){
		"rank 2 calls all_gather f32 of 64 elements":                    func(c *op.Call) { c.Collective = op.AllGather },
		"rank 2 calls all_reduce i32 sum of 64 elements":                func(c *op.Call) { c.Type = op.I32 },
		"rank 2 calls all_reduce f32 max of 64 elements":                func(c *op.Call) { c.Red = op.Max },
		"rank 2 calls all_reduce f32 sum of 63 elements":                func(c *op.Call) { c.Count-- },
		"rank 2 calls all_reduce f32 sum of 64 elements by algorithm 9": func(c *op.Call) { c.Algorithm = 9 },
		"rank 2 calls all_reduce f32 sum of 64 elements by swap":        func(c *op.Call) { c.Algorithm = uint8(op.Swap) },
		"rank 2 calls broadcast f32 of 64 elements, root 1":             func(c *op.Call) { c.Collective, c.Root = op.Broadcast, 1 },
		"rank 2 calls barrier":                                          func(c *op.Call) { c.Collective = op.BarrierAll },
	}
	for text, change := range changes {
		w := newWorld(t, open, 3)
		w.each(func(r *rank) {
			c, s := r.comm("all", r.everyone()...), r.stream()
			v := r.newVector(c, 256, op.F32, op.Sum, 0)
			call := v.call(v.direct())
			if r.n == 2 {
				change(call)
			}
			o := onComm(c, call)
			err := s.Submit(&o)
			if err == nil {
				err = s.Sync(patience)
			}
			r.is(err, device.ErrMismatch)
			if !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "calls all_reduce f32 sum of 64 elements") {
				r.failf("error %q does not say %q", err, text)
			}
			other := r.stream()
			o = onComm(c, v.call(v.direct()))
			r.is(other.Submit(&o), device.ErrMismatch)
			r.submit(other, signal(r.n, 0, 1)) // only the communicator is broken
			r.sync(other)
			r.must(c.Close())
		})
	}
}

func callVariableMismatch(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		b := r.alloc(100)
		counts := []int64{1, 1}
		call := &op.Call{
			Collective: op.AllToAllV, Program: planned{rank: r.n, size: 2}.exchange(), In: at(b, 0), Out: at(b, 50),
			SendCounts: []int64{1, 5}, SendOffsets: counts, RecvCounts: []int64{1, 1}, RecvOffsets: counts,
		}
		if r.n == 1 {
			call.SendCounts, call.RecvCounts = []int64{1, 1}, []int64{6, 1}
		}
		o := onComm(c, call)
		err := s.Submit(&o)
		if err == nil {
			err = s.Sync(patience)
		}
		r.is(err, device.ErrMismatch)
	})
}

// callRefused submits calls that cannot be carried out.
func callRefused(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		closed := r.comm("closed", r.everyone()...)
		r.must(closed.Close())
		v := r.newVector(c, 256, op.F32, op.Sum, 0)
		freed := r.alloc(256)
		r.must(r.Free(freed))
		imported := r.share("v", v.buffer)[1-r.n]
		refuse := func(want error, comm op.Comm, change func(*op.Call)) {
			r.w.t.Helper()
			call := v.call(v.direct())
			change(call)
			o := onComm(comm, call)
			r.is(s.Submit(&o), want)
		}
		refuse(op.ErrRange, c, func(c *op.Call) { c.Out.Off += 200 })
		refuse(op.ErrRange, c, func(c *op.Call) { c.In = op.View{} })
		refuse(op.ErrRange, c, func(c *op.Call) { c.In = at(r.alloc(100), 0) })
		refuse(op.ErrRange, c, func(c *op.Call) { c.In.Off = -1 })
		refuse(device.ErrStale, c, func(c *op.Call) { c.In = at(freed, 0) })
		refuse(device.ErrForeign, c, func(c *op.Call) { c.In = at(imported, 0) })
		refuse(device.ErrClosed, closed, func(*op.Call) {})
		refuse(device.ErrForeign, strangerComm{}, func(*op.Call) {})
		refuse(op.ErrCall, nil, func(*op.Call) {})
		refuse(op.ErrCall, c, func(c *op.Call) { c.Program = nil })
		refuse(op.ErrCall, c, func(c *op.Call) { c.Root = 2 })
		refuse(op.ErrCall, c, func(c *op.Call) { c.Collective = op.AllToAllV })
		refuse(op.ErrCall, c, func(c *op.Call) {
			c.Collective, c.SendCounts, c.RecvCounts = op.AllToAllV, []int64{1, 1}, []int64{1, 1}
			c.SendOffsets, c.RecvOffsets = make([]int64, 2), make([]int64, 2)
			c.RecvCounts[r.n] = 2 // of this rank's own part
		})
		refuse(op.ErrType, c, func(c *op.Call) { c.Type = 99 })
		refuse(op.ErrRedOp, c, func(c *op.Call) { c.Red = 99 })
		refuse(op.ErrCall, c, func(c *op.Call) { c.Next = c })
		r.submit(s, onComm(c, v.call(v.direct()))) // nothing of that has been numbered
		r.sync(s)
		r.checkVector(v, "after refusals")
	})
}

// strangerComm is no communicator of any device.
type strangerComm struct{}

func (strangerComm) Rank() int { return 0 }
func (strangerComm) Size() int { return 2 }

// callTimeout waits for a rank that never calls.
func callTimeout(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3, func(c *device.Config) { c.OpTimeout = time.Second })
	w.each(func(r *rank) {
		c := r.comm("all", r.everyone()...)
		if r.n == 1 {
			return
		}
		s := r.stream()
		v := r.newVector(c, 256, op.F32, op.Sum, 0)
		r.submit(s, onComm(c, v.call(v.direct())), onComm(c, v.call(v.direct())))
		err := s.Sync(patience)
		r.is(err, device.ErrTimeout)
		if !strings.Contains(err.Error(), "rank 1") {
			r.failf("error %q does not name the rank", err)
		}
	})
}

// callSyncTimeout gives up waiting for a call now and then; the call goes on.
func callSyncTimeout(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		for n := range 5 {
			v := r.newVector(c, 4096, op.I32, op.Sum, uint64(n*10))
			if r.n == 1 {
				_, err := r.w.exchange.Get("gave up "+string(rune('0'+n)), patience)
				r.must(err)
			}
			r.submit(s, onComm(c, v.call(v.ring())))
			if r.n == 0 {
				r.is(s.Sync(time.Millisecond), device.ErrTimeout)
				r.is(s.Sync(0), device.ErrTimeout)
				r.must(r.w.exchange.Set("gave up "+string(rune('0'+n)), []byte{1}))
			}
			r.sync(s)
			r.checkVector(v, "after timeouts")
		}
	})
}

// callAbort ends a call that waits, and the next ones.
func callAbort(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	cause := errors.New("the reason")
	w.each(func(r *rank) {
		c := r.comm("all", r.everyone()...)
		if r.n == 1 {
			return
		}
		s := r.stream()
		v := r.newVector(c, 256, op.F32, op.Sum, 0)
		r.submit(s, onComm(c, v.call(v.direct())))
		go r.Abort(cause)
		err := s.Sync(device.Forever)
		r.is(err, device.ErrAborted)
		r.is(err, cause)
		_, err = r.collectives().NewComm("another", r.everyone(), patience)
		r.is(err, device.ErrAborted)
	})
}

// callFailedStream has rank 0 pass over a call, the second of three, behind an
// operation that fails. The first, which is under way by then, completes, and
// the third fails at once, without anybody's waiting for it to time out.
func callFailedStream(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2, func(c *device.Config) { c.OpTimeout = time.Hour })
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		v := r.newVector(c, 256, op.I32, op.Sum, 0)
		if r.n == 1 {
			b := r.alloc(64)
			r.publish("stale", at(b, 0), 64)
			_, err := r.w.exchange.Get("imported", patience)
			r.must(err)
			r.must(r.Free(b))
			r.submit(s, signal(0, 0, 1))
			_, err = r.w.exchange.Get("failed", patience)
			r.must(err)
			r.submit(s, onComm(c, v.call(v.direct())))
			r.sync(s)
			return
		}
		failing, last := r.stream(), r.stream()
		stale, local := r.lookup(1, "stale"), r.alloc(64)
		r.submit(s, onComm(c, v.call(v.direct())))
		r.submit(failing, wait(1, 0, 1), move(op.Get, at(local, 0), at(stale, 0), 64), onComm(c, v.call(v.direct())))
		r.submit(last, wait(1, 0, 1), onComm(c, v.call(v.direct())))
		r.must(r.w.exchange.Set("imported", []byte{1}))
		r.is(failing.Sync(patience), device.ErrStale)
		r.must(r.w.exchange.Set("failed", []byte{1}))
		r.sync(s)
		r.checkVector(v, "under way")
		r.is(last.Sync(patience), device.ErrStale)
		o := onComm(c, v.call(v.direct()))
		r.is(r.stream().Submit(&o), device.ErrStale)
	})
}

func commRefused(t *testing.T, open Open) {
	r := one(t, open, func(c *device.Config) { c.Size = 3 })
	d := r.collectives()
	for _, ranks := range [][]int{{}, {1}, {0, 0}, {0, 3}, {0, -1}} {
		_, err := d.NewComm("c", ranks, 0)
		r.is(err, device.ErrPeer)
	}
	c, err := d.NewComm("c", []int{0}, 0)
	r.must(err)
	r.must(c.Close())
	r.must(r.Close())
	r.is(second(d.NewComm("d", []int{0}, 0)), device.ErrClosed)
	r.is(c.Close(), device.ErrClosed)
}

// commLate gives up on a rank that comes late, and asks again.
func commLate(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		if r.n == 0 {
			r.is(second(r.collectives().NewComm("c", r.everyone(), time.Millisecond)), device.ErrTimeout)
			r.is(second(r.collectives().NewComm("c", []int{1, 0}, time.Millisecond)), device.ErrMismatch)
			r.must(r.w.exchange.Set("late", []byte{1}))
		} else {
			_, err := r.w.exchange.Get("late", patience)
			r.must(err)
		}
		c, s := r.comm("c", r.everyone()...), r.stream()
		v := r.newVector(c, 256, op.I32, op.Sum, 0)
		r.submit(s, onComm(c, v.call(v.direct())))
		r.sync(s)
		r.checkVector(v, "after a timeout")
		ranks := []int{0, 1}
		if r.n == 1 {
			ranks = []int{1, 0}
		}
		r.is(second(r.collectives().NewComm("d", ranks, patience)), device.ErrMismatch)
	})
}

// commMemory makes and closes more communicators than there may be at a time,
// ranks not in step.
func commMemory(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s := r.stream()
		var before device.Comm
		for n := range 600 {
			c := r.comm("c"+string(rune(n+1000)), r.everyone()...)
			v := r.newVector(c, 64, op.I32, op.Sum, uint64(n))
			r.submit(s, onComm(c, v.call(v.oneshot())))
			if r.n == 0 && before != nil {
				r.must(before.Close())
			}
			if r.n == 1 {
				r.must(c.Close()) // waits for the call
			}
			r.sync(s)
			r.checkVector(v, "in passing")
			r.must(r.Free(v.buffer))
			before = c
		}
	})
}
