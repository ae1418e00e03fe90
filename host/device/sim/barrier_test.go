package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestAbortBehindBarrier has the first rank that comes out of a barrier give the
// run up: the others have passed it as well.
func TestAbortBehindBarrier(t *testing.T) {
	cause := errors.New("the reason")
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
	checkAborted(t, cause, w.each(func(r *rank) {
		r.barrier()
		if r.n == 0 {
			w.Abort(cause)
		}
		r.is(r.Barrier(device.Forever), cause)
	}))
}

// TestAbortInBarrier gives the run up when all ranks have entered a barrier that
// takes 2 µs to end, since one has not so much time.
func TestAbortInBarrier(t *testing.T) {
	cause := errors.New("the reason")
	var w *world
	var lane flight.Lane
	w = recordedWorld(t, sim.Options{Preset: tiny(t), Ranks: 3, GivenUp: func(error) { lane = w.logs[1].Lanes()[0] }})
	checkAborted(t, cause, w.each(func(r *rank) {
		if r.n > 0 {
			err := r.Barrier(device.Forever)
			r.is(err, cause)
			r.at(1000)
			if strings.Contains(err.Error(), "rank -1") {
				t.Error(err)
			}
			return
		}
		err := r.Barrier(time.Microsecond)
		r.is(err, device.ErrTimeout)
		if want := "barrier 1: all ranks have entered it: "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s...", err, want)
		}
		w.Abort(cause)
	}))
	if lane.State != flight.LaneWaiting || op.Kind(lane.Wait.Kind) != op.Barrier || lane.Wait.Peer != -1 || lane.Wait.Seen != 1 {
		t.Errorf("the lane is %+v", lane)
	}
}

// TestBarrierTimeout names the first rank that has not come, and the barriers
// that it has come to.
func TestBarrierTimeout(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 4})
	w.run(func(r *rank) {
		r.barrier()
		if r.n >= 2 {
			return
		}
		err := r.Barrier(time.Microsecond)
		r.is(err, device.ErrTimeout)
		if want := "barrier 2: rank 2 has entered 1: "; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s...", err, want)
		}
	})
}

// TestBarriersAhead enters barrier after barrier for which nobody else comes.
func TestBarriersAhead(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		if r.n == 1 {
			r.must(w.Sleep(1, 1e9))
			r.barrier()
			return
		}
		for range 1 << 16 {
			r.is(r.Barrier(0), device.ErrTimeout)
		}
		r.is(r.Barrier(0), device.ErrTooMany)
		r.must(w.Sleep(0, 2e9))
		r.is(r.Barrier(0), device.ErrTimeout) // one is over
		r.is(r.Barrier(0), device.ErrTooMany)
	})
}

// TestCommsAlone asks for communicator after communicator that nobody else asks
// for: there is a limit to them, but not to asking again.
func TestCommsAlone(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		get := func(i int) (device.Comm, error) {
			return r.Device.(device.Collectives).NewComm(fmt.Sprint("c", i), []int{0, 1}, 0)
		}
		if r.n == 1 {
			r.must(w.Sleep(1, 1000))
			c, err := get(5)
			r.must(err)
			r.must(c.Close())
			return
		}
		const most = 256
		for i := range most {
			r.is(second(get(i)), device.ErrTimeout)
		}
		for range 2 {
			r.is(second(get(most)), device.ErrTooMany)
			r.is(second(get(most-1)), device.ErrTimeout)
		}
		r.must(w.Sleep(0, 2000))
		c, err := get(5)
		r.must(err)
		r.must(c.Close())
		r.is(second(get(most)), device.ErrTimeout)
		r.is(second(get(most+1)), device.ErrTooMany)
	})
}
