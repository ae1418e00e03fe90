package sim_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

const us = time.Microsecond

// TestTimeouts gives waits 100 µs that would last for ever. They begin at 7 µs
// and end at 107, whatever other events there are.
func TestTimeouts(t *testing.T) {
	for name, wait := range map[string]func(r *rank) error{
		"stream": func(r *rank) error {
			s := r.stream()
			r.submit(s, wait(1, 0, 1))
			return s.Sync(100 * us)
		},
		"event": func(r *rank) error {
			s, e := r.stream(), r.event()
			r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
			return e.Sync(100 * us)
		},
		"barrier": func(r *rank) error { return r.Barrier(100 * us) },
		"key": func(r *rank) error {
			_, err := r.x.Get("never", 100*us)
			return err
		},
		"communicator": func(r *rank) error {
			_, err := r.Device.(device.Collectives).NewComm("c", []int{0, 1}, 100*us)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
			w.run(func(r *rank) {
				switch r.n {
				case 0:
					r.must(r.w.Sleep(0, 7000))
					r.is(wait(r), device.ErrTimeout)
					r.at(107_000)
				case 2: // something happens meanwhile
					s, b := r.stream(), r.alloc(1000)
					for range 100 {
						r.submit(s, move(op.Copy, view(b, 0), view(b, 500), 500))
					}
					r.sync(s)
				}
			})
		})
	}
}

// TestTimeoutsPass lets waits end before their timeouts, which then must not
// end a later wait, keep the run from ending or be what the time ends at.
func TestTimeoutsPass(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		s, b := r.stream(), r.alloc(10_000)
		copying := move(op.Copy, view(b, 0), view(b, 5000), 5000) // 3 µs
		for range 1000 {
			r.submit(s, copying)
			r.must(s.Sync(time.Hour))
		}
		r.at(3_000_000)
		r.submit(s, copying)
		r.must(s.Sync(10 * us))
		r.must(w.Sleep(0, 7000)) // until that timeout
		r.at(3_010_000)
		r.submit(s, copying)
		r.must(s.Sync(math.MaxInt64))
		r.must(s.Sync(0))
		r.submit(s, copying)
		r.is(s.Sync(0), device.ErrTimeout)
		r.is(s.Sync(us), device.ErrTimeout)
		r.must(s.Sync(2 * us))
		r.at(3_016_000)
		r.submit(s, copying)
		r.must(s.Sync(10 * us)) // until 3,026 µs, but it is over at 3,019
		r.submit(s, wait(0, 0, 1))
		r.is(s.Sync(50*us), device.ErrTimeout)
		r.at(3_069_000)
	})
	if now := w.Now(); now != 3_069_000 {
		t.Errorf("the run ends at %d ns", now)
	}
	if n := w.Stats().Events; n > 5000 {
		t.Errorf("%d events for 1,000 copies", n)
	}
}

// TestTimeoutAfterAnother ends a wait later than the timeout of the one before.
func TestTimeoutAfterAnother(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		s, b := r.stream(), r.alloc(10_000)
		r.submit(s, move(op.Copy, view(b, 0), view(b, 5000), 5000)) // 3 µs
		r.must(s.Sync(10 * us))
		r.submit(s, wait(0, 0, 1))
		r.is(s.Sync(50*us), device.ErrTimeout)
		r.at(53_000)
		r.is(s.Sync(5*us), device.ErrTimeout)
		r.at(58_000)
	})
}

// TestOpenLate opens rank 1's device within the run, when others wait for it.
func TestOpenLate(t *testing.T) {
	w := &world{Cluster: must(sim.New(sim.Options{Preset: tiny(t), Ranks: 3})), tb: t}
	w.open(0, 3, nil)
	w.open(2, 3, nil)
	order := ""
	if err := w.Run([]func(){
		func() {
			r := w.ranks[0]
			r.submit(r.stream(), signal(1, 0, 1))
			order += "signal "
			r.barrier()
		},
		func() {
			order += "open "
			w.open(1, 3, nil)
			w.ranks[2].barrier()
		},
		func() { w.ranks[1].barrier() },
	}); err != nil || order != "open signal " {
		t.Errorf("%s%v", order, err)
	}
}

func TestSleep(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	var order strings.Builder
	w.run(func(r *rank) {
		for range 3 {
			r.must(w.Sleep(r.n, int64(1000+500*r.n)))
			order.WriteByte("ab"[r.n])
		}
		r.at(int64(3000 + 1500*r.n))
		r.must(w.Sleep(r.n, -5))
		r.must(w.Sleep(r.n, 0))
		r.at(int64(3000 + 1500*r.n))
	})
	if got := order.String(); got != "ababab" { // at 3 µs b, which began to wait first
		t.Errorf("ranks woke in order %s", got)
	}
	w = newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		r.must(w.Sleep(0, math.MaxInt64)) // as far as time goes
		s, b := r.stream(), r.alloc(10)
		r.submit(s, move(op.Copy, view(b, 0), view(b, 5), 5))
		r.must(s.Sync(device.Forever))
		for range 3 { // past the end of time: no time passes
			r.must(w.Sleep(0, math.MaxInt64))
			r.must(w.Sleep(0, 1000))
			r.submit(s, move(op.Copy, view(b, 0), view(b, 5), 5))
			r.must(s.Sync(device.Forever))
		}
	})
}

// deadlocks are bodies of rank 0 of three, of which rank 2 has ended by 50 µs
// and rank 1 at once, and what rank 0's lanes say: the lane, the operation and
// the peer.
var deadlocks = []struct {
	name string
	body func(r *rank) error
	lane int
	kind op.Kind
	peer int
}{
	{"signal", func(r *rank) error {
		s := r.stream()
		r.submit(s, wait(1, 7, 3))
		return s.Sync(device.Forever)
	}, 1, op.Wait, 1},
	{"signal of a stream nobody waits for", func(r *rank) error {
		r.submit(r.stream(), wait(1, 7, 3))
		return r.Barrier(device.Forever)
	}, 1, op.Wait, 1},
	{"stream", func(r *rank) error {
		s := r.stream()
		r.submit(s, wait(1, 7, 3))
		return s.Sync(device.Forever)
	}, 0, op.SyncStream, -1},
	{"close", func(r *rank) error {
		s := r.stream()
		r.submit(s, wait(1, 7, 3))
		return s.Close()
	}, 0, op.SyncStream, -1},
	{"full queue", func(r *rank) error {
		s := r.stream()
		for {
			if o := wait(1, 0, 1); s.Submit(&o) != nil {
				return s.Submit(&o)
			}
		}
	}, 0, op.SyncStream, -1},
	{"recv", func(r *rank) error {
		s := r.stream()
		r.submit(s, recv(2, 1, view(r.alloc(8), 0), 8))
		return s.Sync(device.Forever)
	}, 1, op.Recv, 2},
	{"send", func(r *rank) error {
		s := r.stream()
		r.submit(s, send(1, 1, view(r.alloc(8), 0), 8))
		return s.Sync(device.Forever)
	}, 1, op.Send, 1},
	{"barrier", func(r *rank) error { return r.Barrier(device.Forever) }, 0, op.Barrier, 1},
	{"event", func(r *rank) error {
		s, e := r.stream(), r.event()
		r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
		return e.Sync(device.Forever)
	}, 0, op.SyncEvent, -1},
	{"any", func(r *rank) error {
		s, e := r.stream(), r.event()
		r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
		_, err := r.WaitAny([]device.Point{{Event: e}, {Peer: 2, Slot: 8, Value: 3}}, device.Forever)
		return err
	}, 0, op.SyncAny, 2},
	{"any of a peer", func(r *rank) error {
		_, err := r.WaitAny([]device.Point{{Peer: 2, Slot: 8, Value: 3}, {Peer: 2, Slot: 9, Value: 1}}, device.Forever)
		return err
	}, 0, op.SyncAny, 2},
	{"any event", func(r *rank) error {
		s, e := r.stream(), r.event()
		r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
		_, err := r.WaitAny([]device.Point{{Event: e}}, device.Forever)
		return err
	}, 0, op.SyncAny, -1},
	{"event wait", func(r *rank) error {
		s, other, e := r.stream(), r.stream(), r.event()
		r.submit(s, wait(1, 0, 1), op.Op{Kind: op.EventRecord, Event: e})
		r.submit(other, op.Op{Kind: op.EventWait, Event: e})
		return other.Sync(device.Forever)
	}, 2, op.EventWait, -1},
	{"communicator", func(r *rank) error {
		_, err := r.Device.(device.Collectives).NewComm("c", []int{0, 2, 1}, device.Forever)
		return err
	}, 0, op.ShareLookup, 2},
	{"hang", func(r *rank) error {
		r.Device.(device.Faults).Inject(func(op.Kind, int, int64) device.Ending { return device.Ending{LongerNanos: math.MaxInt64} })
		b := r.alloc(8)
		s := r.stream()
		r.submit(s, move(op.Copy, view(b, 0), view(b, 4), 4))
		return s.Sync(device.Forever)
	}, 1, op.Copy, -1},
}

func TestDeadlock(t *testing.T) {
	for _, c := range deadlocks {
		t.Run(c.name, func(t *testing.T) {
			var w *world
			var lanes map[int]flight.Lane
			given := 0
			w = recordedWorld(t, sim.Options{Preset: tiny(t), Ranks: 3, GivenUp: func(error) {
				given++
				lanes = w.logs[0].Lanes()
			}})
			ended := 0
			err := w.each(func(r *rank) {
				switch r.n {
				case 0:
					err := c.body(r)
					r.is(err, device.ErrAborted)
					r.is(r.Barrier(device.Forever), device.ErrAborted)
				case 2:
					r.must(w.Sleep(2, 50_000))
				}
				ended++
			})
			var deadlock *sim.Deadlock
			if !errors.As(err, &deadlock) {
				t.Fatalf("Run gives %v", err)
			}
			if deadlock.AtNanos != 50_000 || len(deadlock.Ranks) != 1 || deadlock.Ranks[0] != 0 {
				t.Errorf("%+v", deadlock)
			}
			if ended != 3 || given != 1 {
				t.Errorf("%d ranks have ended, GivenUp was called %d times", ended, given)
			}
			if l := lanes[c.lane]; l.State != flight.LaneWaiting || op.Kind(l.Wait.Kind) != c.kind || l.Wait.Peer != c.peer {
				t.Errorf("lane %d is %+v, want %v of rank %d", c.lane, l, c.kind, c.peer)
			}
			if others := lanes[c.lane].Wait.Name == flight.OrOthers; others != (c.name == "any") {
				t.Errorf("lane %d names others: %v", c.lane, others)
			}
		})
	}
}

// TestDeadlockKey has no lane: whoever looks a key up says what it means.
func TestDeadlockKey(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	err := w.each(func(r *rank) {
		_, err := r.x.Get("never", device.Forever)
		r.is(err, device.ErrAborted)
	})
	var deadlock *sim.Deadlock
	if !errors.As(err, &deadlock) || deadlock.AtNanos != 0 || len(deadlock.Ranks) != 2 {
		t.Errorf("Run gives %v", err)
	}
}

// TestDeadlockCall leaves one rank out of a collective, of data and of
// phantoms.
func TestDeadlockCall(t *testing.T) {
	for name, realBytes := range map[string]int64{"data": -1, "phantoms": 0} {
		t.Run(name, func(t *testing.T) {
			var w *world
			var lane flight.Lane
			w = recordedWorld(t, sim.Options{Preset: tiny(t), Ranks: 4, RealBytes: realBytes, GivenUp: func(error) { lane = w.logs[3].Lanes()[1] }})
			err := w.each(func(r *rank) {
				c, s := r.comm("all"), r.stream()
				if r.n == 2 {
					return
				}
				r.submit(s, call(c, allReduce(c, r.alloc(64), r.alloc(64))))
				r.is(s.Sync(device.Forever), device.ErrAborted)
				r.is(c.Close(), device.ErrAborted)
			})
			var deadlock *sim.Deadlock
			if !errors.As(err, &deadlock) || deadlock.AtNanos != 0 || len(deadlock.Ranks) != 3 {
				t.Errorf("Run gives %v", err)
			}
			if lane.State != flight.LaneWaiting || op.Kind(lane.Wait.Kind) != op.CollectiveCall || lane.Wait.Peer != 2 {
				t.Errorf("the lane of rank 3 is %+v, want it to wait for rank 2", lane)
			}
		})
	}
}
