package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/op"
)

func after(e device.Event) op.Op { return op.Op{Kind: op.EventRecord, Event: e} }

// TestAny shows when a rank goes on that waits for whatever comes first: at the
// instant at which it has come, not after some look.
func TestAny(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 2})
	w.run(func(r *rank) {
		s := r.stream()
		if r.n == 1 {
			r.must(w.Sleep(1, 20_000))
			r.submit(s, signal(0, 5, 1))
			r.must(w.Sleep(1, 30_000))
			r.submit(s, signal(0, 6, 1))
			return
		}
		b, e, held, never := r.alloc(20_000), r.event(), r.event(), r.event()
		r.submit(s, move(op.Copy, view(b, 0), view(b, 10_000), 10_000), after(e)) // 2 us and 1 us
		r.submit(r.stream(), wait(1, 5, 1), after(held))
		r.submit(r.stream(), wait(1, 7, 1), after(never))
		points := []device.Point{{Event: never}, {Peer: 1, Slot: 6, Value: 1}, {Event: held}, {Event: e}}
		r.any(points, 10*time.Microsecond, 3, 4_000)
		points[3] = device.Point{Event: never}
		r.any(points, 10*time.Microsecond, -1, 14_000)
		r.any(points, 0, -1, 14_000)
		r.any(nil, time.Microsecond, -1, 15_000)
		r.any(points, device.Forever, 2, 21_000)
		points[2] = points[0]
		r.any(points, device.Forever, 1, 51_000)
		r.any(points[1:], 0, 0, 51_000)
		if again, stop := r.SignalValue(1, 7); again != 0 || stop != nil {
			t.Error(again, stop)
		}
		r.submit(r.stream(), signal(0, 0, 1))
		s7 := r.stream()
		r.submit(s7, wait(0, 0, 1))
		r.must(s7.Sync(device.Forever))
	})
}

// any waits, and demands what is found and when.
func (r *rank) any(points []device.Point, timeout time.Duration, want int, atNanos int64) {
	r.w.tb.Helper()
	i, err := r.WaitAny(points, timeout)
	if i != want || (err == nil) != (want >= 0) || err != nil && !errors.Is(err, device.ErrTimeout) {
		r.w.tb.Errorf("point %d, error %v, want point %d", i, err, want)
	}
	if now := r.Now(); now != atNanos {
		r.w.tb.Errorf("point %d at %d ns, want %d", i, now, atNanos)
	}
}

// TestAnyIsTheSame runs a program whose ranks do what depends on which of their
// streams is first, twice.
func TestAnyIsTheSame(t *testing.T) {
	run := func() (found []int, nanos int64) {
		w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 3})
		orders := make([][]int, 3)
		w.run(func(r *rank) {
			random := rand.New(rand.NewPCG(7, uint64(r.n)))
			var points []device.Point
			var streams []device.Stream
			for peer := range r.size {
				for channel := range uint32(3) {
					if peer == r.n {
						continue
					}
					s, e, b := r.stream(), r.event(), r.alloc(1<<20)
					n := int64(channel+1) * 50_000
					r.submit(s, send(peer, channel, view(b, 0), n), recv(peer, channel, view(b, 500_000), n), after(e))
					points, streams = append(points, device.Point{Event: e}), append(streams, s)
				}
			}
			for left := 40; left > 0; left-- {
				i, err := r.WaitAny(points, device.Forever)
				r.must(err)
				orders[r.n] = append(orders[r.n], i)
				b, n := r.alloc(1<<20), int64(1+random.IntN(100_000))
				r.submit(streams[i], move(op.Copy, view(b, 0), view(b, 200_000), n), after(points[i].Event))
			}
		})
		return slices.Concat(orders...), w.Now()
	}
	first, firstNanos := run()
	again, againNanos := run()
	if !slices.Equal(first, again) || firstNanos != againNanos || len(first) != 120 {
		t.Errorf("%d ns, then %d:\n%v\n%v", firstNanos, againNanos, first, again)
	}
}

// TestAnyAllocates nothing once everything has its size.
func TestAnyAllocates(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t), Ranks: 1})
	w.run(func(r *rank) {
		held, gate, e, value := r.stream(), r.stream(), r.event(), uint64(0)
		points := []device.Point{{Slot: 9, Value: 1}, {Event: e}}
		round := func() {
			value++
			hold, rec, raise := wait(0, 0, value), after(e), signal(0, 0, value)
			r.must(errors.Join(held.Submit(&hold), held.Submit(&rec)))
			if i, err := r.WaitAny(points, 0); i >= 0 || !errors.Is(err, device.ErrTimeout) {
				t.Error(i, err)
			}
			r.must(gate.Submit(&raise))
			if i, err := r.WaitAny(points, device.Forever); i != 1 || err != nil {
				t.Error(i, err)
			}
		}
		for range 200 {
			round()
		}
		alone := testing.AllocsPerRun(100, func() {
			value++
			hold, rec, raise := wait(0, 0, value), after(e), signal(0, 0, value)
			r.must(errors.Join(held.Submit(&hold), held.Submit(&rec), gate.Submit(&raise), e.Sync(device.Forever)))
		})
		if n := testing.AllocsPerRun(100, round); n > alone {
			t.Errorf("%v allocations in a round, %v without", n, alone)
		}
	})
}
