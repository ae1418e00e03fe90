package sim_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestCallTime demands of collectives of data and of phantoms alike that they
// end what the model says after the last rank has come.
func TestCallTime(t *testing.T) {
	for _, ranks := range []int{2, 8, 24} {
		for _, realBytes := range []int64{-1, 0} {
			t.Run(fmt.Sprintf("%d ranks, %d bytes of data", ranks, realBytes), func(t *testing.T) {
				p := *must(preset.Find("h100"))
				p.Host = preset.Host{}
				w := newWorld(t, sim.Options{Preset: &p, Ranks: ranks, RealBytes: realBytes})
				w.run(func(r *rank) {
					c, s := r.comm("all"), r.stream()
					in, out := r.alloc(64*kib), r.alloc(64*kib)
					r.barrier()
					arrived := r.Now()
					for n := range 3 {
						r.must(w.Sleep(r.n, int64(1000*((r.n+n)%ranks))))
						r.submit(s, call(c, allReduce(c, in, out)))
						r.sync(s)
						best := p.NCCL.Best(nccl.Call{Collective: op.AllReduce, Bytes: 64 * kib, Ranks: ranks, Nodes: (ranks + 7) / 8})
						arrived += int64(1000*(ranks-1)) + int64(best.Seconds*1e9)
						if now := r.Now(); now < arrived || now > arrived+int64(n)+1 { // parts of nanoseconds
							t.Errorf("rank %d: call %d ends at %d ns, want %d", r.n, n+1, now, arrived)
						}
					}
				})
			})
		}
	}
}

// TestHangingCall has a modelled call never end on rank 1, which then waits for
// nobody, though the other has gone on to a call that rank 1 is not in.
func TestHangingCall(t *testing.T) {
	for _, realBytes := range []int64{-1, 0} {
		var w *world
		var lanes [2]flight.Lane
		w = recordedWorld(t, sim.Options{Preset: must(preset.Find("h100")), Ranks: 2, RealBytes: realBytes, GivenUp: func(error) {
			lanes = [2]flight.Lane{w.logs[0].Lanes()[1], w.logs[1].Lanes()[1]}
		}})
		err := w.each(func(r *rank) {
			if r.n == 1 {
				r.Device.(device.Faults).Inject(func(op.Kind, int, int64) device.Ending { return device.Ending{LongerNanos: math.MaxInt64} })
			}
			c, s := r.comm("all"), r.stream()
			in, out := r.alloc(64*kib), r.alloc(64*kib)
			r.submit(s, call(c, allReduce(c, in, out)), call(c, allReduce(c, in, out)))
			r.is(s.Sync(device.Forever), device.ErrAborted)
		})
		var deadlock *sim.Deadlock
		if !errors.As(err, &deadlock) {
			t.Errorf("Run gives %v", err)
		}
		if lanes[0].Wait.Peer != 1 || lanes[1].Wait.Peer != -1 || lanes[1].State != flight.LaneWaiting {
			t.Errorf("the lanes are %+v", lanes)
		}
	}
}

// lonely is a broadcast in which the root waits for nobody.
func lonely(r *rank, c op.Comm, in, out op.Buffer) *op.Call {
	slot := op.Place{Area: op.AreaSlot}
	p := &op.Program{Name: "lonely", SlotBytes: 64}
	enter := op.Step{Kind: op.StepEnter, Peer: -1}
	if r.n == 0 {
		p.Steps = []op.Step{{Kind: op.StepMove, Peer: -1, Bytes: 64, Sources: []op.Place{{Area: op.AreaIn}}, Dests: []op.Place{slot}}, enter}
	} else {
		p.Steps = []op.Step{enter, {Kind: op.StepMeet, Peer: 0}, {
			Kind: op.StepMove, Peer: -1, Bytes: 64, Sources: []op.Place{slot}, Dests: []op.Place{{Rank: int32(c.Rank()), Area: op.AreaOut}},
		}}
	}
	return &op.Call{Collective: op.Broadcast, Type: op.U8, Count: 64, Bytes: 64, Program: p, In: view(in, 0), Out: view(out, 0)}
}

// TestCallsAhead lets the root of broadcasts run ahead of a rank that comes at
// 1 ms: by four calls, and no more. A call takes 10 µs.
func TestCallsAhead(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2, RealBytes: -1})
	w.run(func(r *rank) {
		c, s := r.comm("all"), r.stream()
		in, out := r.alloc(64), r.alloc(64)
		if r.n == 1 {
			r.must(w.Sleep(1, 1_000_000))
		}
		for n := range 10 {
			if r.n == 0 {
				r.must(r.Write(view(in, 0), []byte{byte(n + 1)}))
			}
			r.submit(s, call(c, lonely(r, c, in, out)))
			r.sync(s)
			if r.n == 0 && n < 4 {
				r.at(int64(10_000 * (n + 1)))
			}
			if r.n == 0 && n == 4 {
				r.at(1_010_000)
			}
			var got [1]byte
			if r.must(r.Read(got[:], view(out, 0))); r.n == 1 && got[0] != byte(n+1) {
				t.Errorf("call %d brings %d", n+1, got[0])
			}
		}
		r.must(c.Close())
	})
}

// TestCallMismatch has rank 1 call something else, alone or as the second of a
// group, while rank 2 comes later: all are told, and told the same.
func TestCallMismatch(t *testing.T) {
	for _, realBytes := range []int64{-1, 0} {
		for _, group := range []bool{false, true} {
			for late := range 3 {
				t.Run(fmt.Sprintf("%d bytes of data, group %v, rank %d late", realBytes, group, late), func(t *testing.T) {
					w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3, RealBytes: realBytes})
					w.run(func(r *rank) {
						c, s := r.comm("all"), r.stream()
						if r.n == late {
							r.must(w.Sleep(r.n, 1000))
						}
						n := int64(64)
						if r.n == 1 {
							n = 128
						}
						calls := []*op.Call{allReduce(c, r.alloc(n), r.alloc(n))}
						if group {
							calls = append(calls, lonely(r, c, r.alloc(64), r.alloc(64)))
						}
						r.submit(s, call(c, calls...))
						err := s.Sync(device.Forever)
						r.is(err, device.ErrMismatch)
						for _, text := range []string{"call 1 of communicator all", "all_reduce i32 sum of 16 elements", "rank 1 calls all_reduce i32 sum of 32 elements"} {
							if !strings.Contains(err.Error(), text) {
								t.Errorf("rank %d: %q does not say %q", r.n, err, text)
							}
						}
						o := call(c, calls...)
						r.is(r.stream().Submit(&o), device.ErrMismatch)
						r.must(c.Close())
					})
				})
			}
		}
	}
}

// TestCallAfterMismatch has a rank come when the others know that they disagree,
// and wait for one that has given up.
func TestCallAfterMismatch(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3, RealBytes: -1})
	w.run(func(r *rank) {
		c, s := r.comm("all"), r.stream()
		x := allReduce(c, r.alloc(64+64*int64(r.n%2)), r.alloc(128))
		x.Program = &op.Program{Met: true, Steps: []op.Step{{Kind: op.StepEnter, Peer: -1}, {Kind: op.StepMeet, Peer: int32((r.n + 1) % 2)}}}
		if r.n == 2 {
			r.must(w.Sleep(2, 1000))
			x.Program.Steps = []op.Step{{Kind: op.StepEnter, Peer: -1}, {Kind: op.StepMeet}, {Kind: op.StepWait, Value: 1}}
		}
		r.submit(s, call(c, x))
		r.is(s.Sync(device.Forever), device.ErrMismatch)
		r.at(1000 * int64(r.n/2))
	})
}

// TestMismatchWithoutAll has two ranks disagree while another never comes.
func TestMismatchWithoutAll(t *testing.T) {
	for _, realBytes := range []int64{-1, 0} {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 4, RealBytes: realBytes})
		w.run(func(r *rank) {
			c, s := r.comm("all"), r.stream()
			if r.n == 3 {
				return
			}
			n := int64(64 + r.n/2)
			if n > 64 {
				n = 128
			}
			r.submit(s, call(c, allReduce(c, r.alloc(n), r.alloc(n))))
			r.is(s.Sync(device.Forever), device.ErrMismatch)
		})
	}
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 4, RealBytes: -1})
	w.run(func(r *rank) { // rank 0 waits for nobody, and so does not find out
		c, s := r.comm("all"), r.stream()
		x := allReduce(c, r.alloc(64), r.alloc(64))
		if r.n == 0 {
			r.must(w.Sleep(0, 1000))
			x = lonely(r, c, x.In.Buf, x.Out.Buf)
		}
		if r.n == 3 {
			return
		}
		r.submit(s, call(c, x))
		if err := s.Sync(device.Forever); r.n > 0 {
			r.is(err, device.ErrMismatch)
		}
	})
}

// TestCommMismatch has ranks order a communicator in two ways.
func TestCommMismatch(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
	w.run(func(r *rank) {
		ranks := [][]int{{0, 1, 2}, {0, 1, 2}, {2, 1, 0}}[r.n]
		r.is(second(r.Device.(device.Collectives).NewComm("c", ranks, device.Forever)), device.ErrMismatch)
	})
}

// TestTwoWaits has two streams wait for one slot's values.
func TestTwoWaits(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		s, other := r.stream(), r.stream()
		if r.n == 1 {
			r.submit(s, signal(0, 5, 1))
			r.must(w.Sleep(1, 10_000))
			r.submit(s, signal(0, 5, 2), signal(0, 5, 1)) // a slot only grows
			return
		}
		r.submit(s, wait(1, 5, 2))
		r.submit(other, wait(1, 5, 1))
		r.sync(other)
		r.at(1000)
		r.sync(s)
		r.at(11_000)
		if n := must(r.SignalValue(1, 5)); n != 2 {
			t.Errorf("the slot is at %d", n)
		}
	})
}

// TestFailed follows the failure of one stream to those that depend on it: one
// that waits for its event and a rank that receives what it has sent behind.
func TestFailed(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		b, s, other := r.alloc(100), r.stream(), r.stream()
		if r.n == 1 {
			r.submit(s, recv(0, 0, view(b, 0), 9))
			r.is(s.Sync(device.Forever), device.ErrMismatch)
			r.submit(other, recv(0, 1, view(b, 0), 8))
			r.is(other.Sync(device.Forever), device.ErrStale)
			return
		}
		e, before := r.event(), r.event()
		r.submit(s, op.Op{Kind: op.EventRecord, Event: before})
		r.submit(s, send(1, 1, view(b, 0), 8), send(1, 0, view(b, 0), 8), op.Op{Kind: op.EventRecord, Event: e})
		r.submit(other, op.Op{Kind: op.EventWait, Event: before}, op.Op{Kind: op.EventWait, Event: e})
		r.is(other.Sync(device.Forever), device.ErrMismatch)
		r.is(e.Sync(device.Forever), device.ErrMismatch)
		r.must(before.Sync(device.Forever))
		r.is(s.Close(), device.ErrMismatch)
	})
}

// TestSendToFailed has a stream fail while it receives: that message's sender
// need not know.
func TestSendToFailed(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		b, s, other := r.alloc(1<<20), r.stream(), r.stream()
		if r.n == 1 {
			r.submit(s, recv(0, 0, view(b, 0), 1_000_000), recv(0, 1, view(b, 0), 8))
			r.is(s.Sync(device.Forever), device.ErrMismatch)
			r.at(0)
			return
		}
		r.submit(s, send(1, 0, view(b, 0), 1_000_000))
		r.submit(other, send(1, 1, view(b, 0), 9))
		r.is(other.Sync(device.Forever), device.ErrMismatch)
		r.sync(s)
		r.at(1_002_000)
	})
}

// TestCallCounts has two ranks of an all_to_all_v of phantoms disagree.
func TestCallCounts(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
	w.run(func(r *rank) {
		c, s := r.comm("all"), r.stream()
		counts := func(n int64) []int64 { return []int64{n, n, n} }
		x := &op.Call{
			Collective: op.AllToAllV, Type: op.U8, Program: &op.Program{Met: true},
			SendCounts: counts(10), SendOffsets: counts(0), RecvCounts: counts(10), RecvOffsets: counts(0),
			In: view(r.alloc(big), 0), Out: view(r.alloc(big), 0),
		}
		if r.n == 2 {
			x.RecvCounts = []int64{10, 20, 10}
		}
		r.submit(s, call(c, x))
		err := s.Sync(device.Forever)
		r.is(err, device.ErrMismatch)
		for _, text := range []string{"rank 1 calls", "sends it 10", "rank 2 calls", "receives 20 from it"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("rank %d: %q does not say %q", r.n, err, text)
			}
		}
	})
}

// TestComms makes a thousand communicators of a random part of the ranks each,
// and one more than there may be at a time.
func TestComms(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 5, RealBytes: -1})
	w.run(func(r *rank) {
		s := r.stream()
		in, out := r.alloc(8), r.alloc(8)
		for n := range 1000 {
			ranks := []int{}
			for rank := range r.size {
				if (n+7)*(rank+3)%5 < 3 || rank == n%5 {
					ranks = append([]int{rank}, ranks...)
				}
			}
			if !strings.Contains(fmt.Sprint(ranks), fmt.Sprint(r.n)) {
				continue
			}
			c, err := r.Device.(device.Collectives).NewComm(fmt.Sprint("c", n), ranks, device.Forever)
			r.must(err)
			if ranks[c.Rank()] != r.n || c.Size() != len(ranks) {
				t.Errorf("rank %d is %d of %v", r.n, c.Rank(), ranks)
			}
			r.submit(s, call(c, allReduce(c, in, out)))
			r.must(c.Close())
		}
		r.sync(s)
		for _, ranks := range [][]int{{}, {r.n, r.n}, {r.n, 5}, {-1, r.n}, {(r.n + 1) % 5}} {
			r.is(second(r.Device.(device.Collectives).NewComm("bad", ranks, 0)), device.ErrPeer)
		}
		alone := []int{r.n}
		for n := range 257 {
			_, err := r.Device.(device.Collectives).NewComm(fmt.Sprint("alone", r.n, n), alone, 0)
			if n < 256 {
				r.must(err)
			} else {
				r.is(err, device.ErrTooMany)
			}
		}
	})
}

// TestClosedEarly has a rank close its device while others use its memory.
func TestClosedEarly(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2, RealBytes: -1})
	err := w.each(func(r *rank) {
		b, s := r.alloc(1<<20), r.stream()
		all := r.share("b", b)
		if r.n == 1 {
			r.submit(s, wait(0, 9, 9), signal(0, 0, 1))
			r.must(w.Sleep(1, 10_000)) // while the put is under way
			r.must(r.Close())
			r.is(r.Barrier(device.Forever), device.ErrClosed)
			return
		}
		r.submit(s, move(op.Put, view(all[1], 0), view(b, 0), 1<<20), signal(1, 0, 1))
		r.sync(s)
		o := move(op.Get, view(b, 0), view(all[1], 0), 8)
		r.is(s.Submit(&o), device.ErrStale)
		o = recv(1, 0, view(b, 0), 8)
		r.submit(s, o)
		r.is(s.Sync(device.Forever), device.ErrAborted)
	})
	var deadlock *sim.Deadlock
	if !errors.As(err, &deadlock) {
		t.Errorf("Run gives %v", err)
	}
}

// TestLimits makes as many streams and events as there may be, uses them all at
// once, gives them back and does so again.
func TestLimits(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		f, b := r.Facts(), r.alloc(1000)
		for range 2 {
			var streams []device.Stream
			var events []device.Event
			for range f.MaxEvents {
				events = append(events, r.event())
			}
			for range f.MaxStreams {
				streams = append(streams, r.stream())
			}
			r.is(second(r.NewStream()), device.ErrTooMany)
			r.is(second(r.NewEvent()), device.ErrTooMany)
			for i, e := range events { // a chain through all streams
				s, after := streams[i%len(streams)], streams[(i+1)%len(streams)]
				r.submit(s, move(op.Copy, view(b, 0), view(b, 500), 500), op.Op{Kind: op.EventRecord, Event: e})
				r.submit(after, op.Op{Kind: op.EventWait, Event: e})
			}
			r.must(events[len(events)-1].Sync(device.Forever))
			for _, e := range events {
				r.must(e.Close())
			}
			for _, s := range streams {
				r.must(s.Close())
			}
		}
		r.at(2 * 4096 * 2100)
	})
}

// TestStreamsGivenBack makes far more streams than there may be at a time, one
// after the other: they leave nothing behind.
func TestStreamsGivenBack(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		b := r.alloc(10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const streams = 20_000
		for range streams {
			s := r.stream()
			r.submit(s, move(op.Copy, view(b, 0), view(b, 5), 5))
			r.must(s.Close())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 100*streams {
			t.Errorf("%d closed streams keep %d bytes", streams, kept)
		}
	})
}

// TestFullQueue submits more than a queue holds: the rank waits until half of it
// is done.
func TestFullQueue(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		s, b := r.stream(), r.alloc(1000)
		copying := move(op.Copy, view(b, 0), view(b, 500), 500) // 2.1 µs
		for n := range 1025 {
			r.submit(s, copying)
			if n < 1024 {
				r.at(0)
			}
		}
		r.at(512 * 2100)
		r.sync(s)
		r.at(1025 * 2100)
	})
}
