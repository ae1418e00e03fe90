package devicetest

import (
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// callDesyncCases are about ranks that call different collectives in which
// each waits for nobody.
var callDesyncCases = []testCase{
	{"call/different roots", callDifferentRoots},
	{"call/different at the end", callDifferentEnd},
	{"call/different before a meeting", callDifferentMet},
}

// rootedCall is a broadcast or, told so, a reduce of which the rank is the
// root or a leaf: all that matters is that it does not wait.
func (r *rank) rootedCall(collective op.CollectiveOp, in, out op.Buffer) *op.Call {
	p := planned{rank: r.n, size: r.size, bytes: 64, elem: 1}
	return &op.Call{
		Collective: collective, Root: 0, Count: 64, Bytes: 64, Program: p.rooted(r.n), In: at(in, 0), Out: at(out, 0),
	}
}

// differently carries out a broadcast by rank 0 that the others take for a
// reduce.
func (r *rank) differently(c op.Comm, s device.Stream) error {
	r.w.t.Helper()
	collective := op.Broadcast
	if r.n > 0 {
		collective = op.ReduceTo
	}
	o := onComm(c, r.rootedCall(collective, r.alloc(64), r.alloc(64)))
	if err := s.Submit(&o); err != nil {
		return err
	}
	return s.Sync(patience)
}

// tellsDifference demands an error that names the first call.
func (r *rank) tellsDifference(err error) {
	r.w.t.Helper()
	r.is(err, device.ErrMismatch)
	for _, text := range []string{"call 1 of communicator all", "rank 0 calls broadcast u8 of 64 elements, root 0", "calls reduce u8 sum of 64 elements, root 0"} {
		if !strings.Contains(err.Error(), text) {
			r.failf("error %q does not say %q", err, text)
		}
	}
}

// callDifferentRoots goes on calling: every rank learns of the first call.
func callDifferentRoots(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		var err error
		for n := 0; n < 20 && err == nil; n++ {
			err = r.differently(c, s)
		}
		r.tellsDifference(err)
		r.must(c.Close())
	})
}

// callDifferentEnd closes the communicator after a single call, one rank after
// the other: those that come later learn of it.
func callDifferentEnd(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		if r.n > 0 {
			_, err := r.w.exchange.Get("closed", patience)
			r.must(err)
		}
		r.must(r.differently(c, s))
		if err := c.Close(); r.n > 0 {
			r.tellsDifference(err)
		} else {
			r.must(err)
			r.must(r.w.exchange.Set("closed", []byte{1}))
		}
		r.is(c.Close(), device.ErrClosed)
	})
}

// callDifferentMet follows the call by ones in which all meet.
func callDifferentMet(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		v := r.newVector(c, 64, op.I32, op.Sum, 0)
		err := r.differently(c, s)
		for n := 0; n < 20 && err == nil; n++ {
			o := onComm(c, v.call(v.oneshot()))
			if err = s.Submit(&o); err == nil {
				err = s.Sync(patience)
			}
		}
		r.tellsDifference(err)
	})
}
