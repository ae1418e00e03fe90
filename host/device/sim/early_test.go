package sim_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Waits and signals are carried out before their time if nobody can tell. Here
// somebody tries to.

// TestFullQueueOfSignals fills a queue with what takes 1 µs each: the 1,025th has
// to wait until half of them have left.
func TestFullQueueOfSignals(t *testing.T) {
	w := newWorld(t, sim.Options{Preset: tiny(t, "launch.signal=1us"), Ranks: 1})
	w.run(func(r *rank) {
		s := r.stream()
		for n := range 1025 {
			r.submit(s, signal(0, 0, uint64(n+1)))
			if n < 1024 {
				r.at(0)
			}
		}
		r.at(512_000)
		r.sync(s)
		r.at(1_025_000)
	})
}

// TestDelayedSignal makes a signal take longer that others follow.
func TestDelayedSignal(t *testing.T) {
	for _, c := range []struct {
		kind      op.Kind
		come, end int64 // when the second signal has come, and both are done
	}{
		{op.Signal, 13_000, 22_000},
		{op.Wait, 3_000, 2_000}, // who is delayed has none
	} {
		w := newWorld(t, sim.Options{Preset: tiny(t, "launch.signal=1us"), Ranks: 2})
		w.run(func(r *rank) {
			s := r.stream()
			if r.n == 1 {
				r.submit(s, wait(0, 0, 2))
				r.sync(s)
				r.at(c.come)
				return
			}
			r.Device.(device.Faults).Inject(func(kind op.Kind, _ int, _ int64) (end device.Ending) {
				if kind == c.kind {
					end.LongerNanos = 10_000
				}
				return end
			})
			r.submit(s, signal(1, 0, 1), signal(1, 0, 2))
			r.sync(s)
			r.at(c.end)
		})
	}
}

// TestEarlyRecords says when signals and waits are recorded to have begun and
// ended, in nanoseconds.
func TestEarlyRecords(t *testing.T) {
	w := recordedWorld(t, sim.Options{Preset: tiny(t, "launch.signal=1us"), Ranks: 1})
	w.run(func(r *rank) {
		s := r.stream()
		r.submit(s, signal(0, 0, 1), signal(0, 0, 2), wait(0, 0, 1), wait(0, 0, 2), signal(0, 0, 3), wait(0, 0, 3))
		r.sync(s)
		r.at(3000)
	})
	want := []string{"signal 1 0 1000", "signal 2 1000 2000", "wait 1 2000 2000", "wait 2 2000 2000", "signal 3 2000 3000", "wait 3 3000 3000"}
	var got []string
	for r := range w.logs[0].Records() {
		if kind := op.Kind(r.Kind); kind == op.Signal || kind == op.Wait {
			got = append(got, fmt.Sprint(kind, " ", r.Bytes, " ", r.Start, " ", r.End))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("records %q,\nwant %q", got, want)
	}
}

// TestEarlyDeadlock has a wait that never ends, looked at before its time: the
// deadlock is of the time when it began.
func TestEarlyDeadlock(t *testing.T) {
	// After the signal, or when the third call has handed it over.
	for set, at := range map[string]int64{"launch.signal=5us": 5000, "host.call=1us": 3000} {
		var w *world
		var lane flight.Lane
		w = recordedWorld(t, sim.Options{Preset: tiny(t, set), Ranks: 1, GivenUp: func(error) { lane = w.logs[0].Lanes()[1] }})
		err := w.each(func(r *rank) {
			s := r.stream()
			r.submit(s, signal(0, 0, 1), wait(0, 1, 1), signal(0, 0, 2))
			r.is(s.Sync(device.Forever), device.ErrAborted)
		})
		var deadlock *sim.Deadlock
		if !errors.As(err, &deadlock) || deadlock.AtNanos != at || lane.Wait.Since != at {
			t.Errorf("%s: Run gives %v, %+v; the lane is %+v", set, err, deadlock, lane)
		}
	}
}

// TestEarlySame runs storms with delays of nothing, which keep every operation to
// its time: the records must be the same.
func TestEarlySame(t *testing.T) {
	for seed := range uint64(6) {
		p := newStorm(seed, 1+int(seed), 1+int(seed%3), 250)
		shared := tiny(t, "host.call=0.3us") // by more ranks than it has cores
		shared.Name, shared.Machine = "shared cores", preset.Cores
		for _, machine := range append(stormPresets(t), shared) {
			t.Run(fmt.Sprintf("seed %d, %s", seed, machine.Name), func(t *testing.T) {
				var got [2]string
				for i := range got {
					w := recordedWorld(t, sim.Options{Preset: machine, Ranks: p.size, RealBytes: -1})
					for _, r := range w.ranks {
						if i > 0 {
							r.Device.(device.Faults).Inject(func(op.Kind, int, int64) device.Ending { return device.Ending{} })
						}
					}
					w.run(p.execute)
					got[i] = w.recorded()
				}
				if got[0] != got[1] {
					t.Errorf("%s,\nin time %s", got[0], got[1])
				}
			})
		}
	}
}

// recorded is a text that depends on all records, but not on their order.
func (w *world) recorded() string {
	hash, records := fnv.New64a(), []string{}
	for rank, log := range w.logs {
		for r := range log.Records() {
			records = append(records, fmt.Sprint(rank, r.Stream, r.Start, r.End, r.Kind, r.Peer, r.Aux, r.Bytes, r.Status, r.Collective, r.Step))
		}
	}
	slices.Sort(records)
	fmt.Fprint(hash, records)
	return fmt.Sprintf("%d records, %x, %d ns", len(records), hash.Sum64(), w.Now())
}
