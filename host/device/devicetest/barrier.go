package devicetest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
)

var barrierCases = []testCase{
	{"barrier/nobody passes early", barrierOrder},
	{"barrier/timeout", barrierTimeout},
	{"barrier/peer opens late", barrierLatePeer},
}

func barrierOrder(t *testing.T, open Open) {
	const n, rounds = 5, 300
	w := newWorld(t, open, n)
	var entered atomic.Int64
	w.each(func(r *rank) {
		for i := range int64(rounds) {
			entered.Add(1)
			r.barrier()
			if got := entered.Load(); got < (i+1)*n || got > (i+2)*n {
				r.failf("passed barrier %d when %d had entered", i, got)
			}
		}
	})
}

// barrierTimeout lets three of four ranks give up once. The fourth then passes
// that barrier alone: all have called it as often.
func barrierTimeout(t *testing.T, open Open) {
	w := newWorld(t, open, 4)
	late := make(chan struct{}, 3)
	w.each(func(r *rank) {
		if r.n != 3 {
			r.is(r.Barrier(10*time.Millisecond), device.ErrTimeout)
			late <- struct{}{}
		} else {
			for range 3 {
				<-late
			}
			r.barrier()
		}
		r.barrier()
	})
}

// barrierLatePeer calls a barrier when the peer has no device yet. The call
// does not count: the peer's first barrier is not over before this rank comes
// again, and then both ranks pass together.
func barrierLatePeer(t *testing.T, open Open) {
	var config device.Config
	r := one(t, open, func(c *device.Config) {
		c.Size = 2
		config = *c
	})
	r.is(r.Barrier(0), device.ErrTimeout)
	r.is(r.Barrier(5*time.Millisecond), device.ErrTimeout)
	config.Rank, config.Recorder = 1, nil
	peer, err := open(config)
	r.must(err)
	defer func() { r.must(peer.Close()) }()
	r.is(peer.Barrier(5*time.Millisecond), device.ErrTimeout)
	r.barrier()
	r.is(r.Barrier(5*time.Millisecond), device.ErrTimeout)
	r.must(peer.Barrier(patience))
}
