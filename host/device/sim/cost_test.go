package sim_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// costRanks are the sizes of clusters that costs are compared at.
var costRanks = []int{64, 1024, 16384}

// benchmarkRanks gives the cost of what each rank does once in a round, per rank:
// it should not depend on how many there are.
func benchmarkRanks(b *testing.B, begin func(r *rank) (round func(n int), end func())) {
	for _, ranks := range costRanks {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			w := newWorld(b, sim.Options{Preset: must(preset.Find("h100")), Ranks: ranks})
			rounds := max(1, b.N/ranks)
			w.run(func(r *rank) {
				round, end := begin(r)
				round(-1)
				r.barrier()
				if r.n == 0 {
					b.ResetTimer()
				}
				for n := range rounds {
					round(n)
				}
				end()
			})
			perRank := float64(b.Elapsed().Nanoseconds()) / float64(rounds*ranks)
			b.ReportMetric(perRank, "ns/rank")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkBarrier is barriers of all ranks.
func BenchmarkBarrier(b *testing.B) {
	benchmarkRanks(b, func(r *rank) (func(int), func()) {
		return func(int) { r.barrier() }, func() {}
	})
}

// BenchmarkCall is collectives of all ranks, on phantoms.
func BenchmarkCall(b *testing.B) {
	benchmarkRanks(b, func(r *rank) (func(int), func()) {
		c, s := r.comm("all"), r.stream()
		in, out := r.alloc(1<<20), r.alloc(1<<20)
		all := func(kind op.StepKind) op.Step { return op.Step{Kind: kind, Peer: -1} }
		program := &op.Program{Met: true, Steps: []op.Step{all(op.StepEnter), all(op.StepMeet), all(op.StepLeave), all(op.StepPart)}}
		o := call(c, &op.Call{Collective: op.AllReduce, Type: op.F32, Count: 1 << 18, Bytes: 1 << 20, Program: program, In: view(in, 0), Out: view(out, 0)})
		return func(int) { r.must(s.Submit(&o)) }, func() { r.sync(s) }
	})
}

// BenchmarkCallData is the same, step by step.
func BenchmarkCallData(b *testing.B) {
	benchmarkRanks(b, func(r *rank) (func(int), func()) {
		c, s := r.comm("all"), r.stream()
		all := func(kind op.StepKind) op.Step { return op.Step{Kind: kind, Peer: -1} }
		program := &op.Program{Met: true, Steps: []op.Step{all(op.StepEnter), all(op.StepMeet), all(op.StepLeave), all(op.StepPart)}}
		o := call(c, &op.Call{Collective: op.BarrierAll, Program: program})
		return func(int) { r.must(s.Submit(&o)) }, func() { r.sync(s) }
	})
}

// BenchmarkExchange publishes a key of each rank, which its neighbour waits for,
// and has all wait for one key of rank 0.
func BenchmarkExchange(b *testing.B) {
	benchmarkRanks(b, func(r *rank) (func(int), func()) {
		return func(n int) {
			r.must(r.x.Set(fmt.Sprint(n, ".", r.n), []byte("value")))
			_, err := r.x.Get(fmt.Sprint(n, ".", (r.n+1)%r.size), device.Forever)
			r.must(err)
			if r.n == r.size-1 {
				r.must(r.x.Set(fmt.Sprint("all", n), []byte("value")))
			}
			_, err = r.x.Get(fmt.Sprint("all", n), device.Forever)
			r.must(err)
		}, func() {}
	})
}

// BenchmarkEvents spreads a million operations over more and more ranks, pairs
// of which send each other bytes and flags.
func BenchmarkEvents(b *testing.B) {
	for _, ranks := range costRanks {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				w := newWorld(b, sim.Options{Preset: must(preset.Find("h100")), Ranks: ranks})
				w.run(func(r *rank) {
					p := newPair(r)
					p.rounds(10)
					r.barrier()
					b.StartTimer() // by the first that goes on
					p.rounds(2_000_000 / ranks / 4)
				})
				stats := w.Stats()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(stats.Events), "ns/event")
				b.ReportMetric(float64(stats.Events)/float64(stats.Operations), "events/operation")
			}
		})
	}
}

// pair is a rank that puts and signals to its partner, waits for the same and
// adds what has come, again and again.
type pair struct {
	rank  *rank
	s     device.Stream
	o     [4]op.Op
	count uint64
}

func newPair(r *rank) *pair {
	b := r.alloc(1 << 20)
	partner := r.n ^ 1
	h, err := r.Export(view(b, 0), 1<<20)
	r.must(err)
	r.barrier()
	remote, err := r.Import(partner, h) // all ranks' allocations are alike
	r.must(err)
	return &pair{rank: r, s: r.stream(), o: [4]op.Op{
		move(op.Put, view(remote, 0), view(b, 0), 1<<10),
		signal(partner, 0, 0), wait(partner, 0, 0),
		reduce(view(b, 0), 1<<10, view(b, 0), view(b, 1<<19)),
	}}
}

func (p *pair) rounds(n int) {
	for range n {
		p.count++
		p.o[1].Value, p.o[2].Value = p.count, p.count
		for i := range p.o {
			p.rank.must(p.s.Submit(&p.o[i]))
		}
	}
	p.rank.sync(p.s)
}

// TestNoAllocation submits and carries out operations of the kinds that there
// are millions of: nothing is allocated for them once queues are long enough.
func TestNoAllocation(t *testing.T) {
	w := recordedWorld(t, sim.Options{Preset: must(preset.Find("h100")), Ranks: 2})
	var before, after runtime.MemStats
	const rounds = 5000
	w.run(func(r *rank) {
		p, e, s := newPair(r), r.event(), r.stream()
		p.rounds(rounds) // as long as queues and pools get
		o := op.Op{Kind: op.EventRecord, Event: e, Peer: -1}
		r.must(s.Submit(&o))
		r.sync(s)
		r.barrier()
		runtime.ReadMemStats(&before)
		p.rounds(rounds)
		for range rounds {
			r.must(s.Submit(&o))
		}
		r.sync(s)
		r.barrier()
		runtime.ReadMemStats(&after)
	})
	if n := after.Mallocs - before.Mallocs; n > rounds/10 {
		t.Errorf("%d allocations for %d operations", n, 2*5*rounds)
	}
}

// BenchmarkDeadlock finds that the last rank has not come, says so in all lanes
// and unwinds the others.
func BenchmarkDeadlock(b *testing.B) {
	for name, come := range map[string]func(r *rank){
		"barrier": func(r *rank) { _ = r.Barrier(device.Forever) },
		"call": func(r *rank) {
			c, s := r.comm("all"), r.stream()
			if r.n < r.size-1 {
				r.submit(s, call(c, &op.Call{Collective: op.BarrierAll, Program: &op.Program{Met: true, Steps: []op.Step{
					{Kind: op.StepEnter, Peer: -1}, {Kind: op.StepMeet, Peer: -1},
				}}}))
				_ = s.Sync(device.Forever)
			}
		},
	} {
		for _, ranks := range costRanks {
			b.Run(fmt.Sprintf("%s/ranks=%d", name, ranks), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					w := recordedWorld(b, sim.Options{Preset: must(preset.Find("h100")), Ranks: ranks})
					b.StartTimer()
					err := w.each(func(r *rank) {
						if name == "call" || r.n < r.size-1 {
							come(r)
						}
					})
					if err == nil {
						b.Fatal("no deadlock")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ranks), "ns/rank")
			})
		}
	}
}
