package sim_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// ring is one rank of an all-reduce in 2(n-1) steps: each step waits for the
// left neighbour's chunk, adds it or takes it, and puts it to the right.
type ring struct {
	rank, size int
	chunk      int64
	d          device.Device
	s          device.Stream
	own, right op.Buffer
	inbox      op.Buffer
	o          op.Op // scratch: what is handed to an interface is allocated
}

func (r *ring) step(n int) {
	left, right := int32((r.rank+r.size-1)%r.size), int32((r.rank+1)%r.size)
	out := int64((r.rank-n+2*r.size)%r.size) * r.chunk
	in := int64((r.rank-n-1+2*r.size)%r.size) * r.chunk
	if n > 0 {
		r.submit(op.Op{Kind: op.Wait, Peer: right, Slot: 1, Value: uint64(n)}) // its inbox is free again
	}
	r.submit(op.Op{Kind: op.Put, Peer: -1, Dst: op.View{Buf: r.right}, Src: op.View{Buf: r.own, Off: out}, Bytes: r.chunk})
	r.submit(op.Op{Kind: op.Signal, Peer: right, Slot: 0, Value: uint64(n + 1)})
	r.submit(op.Op{Kind: op.Wait, Peer: left, Slot: 0, Value: uint64(n + 1)})
	o := op.Op{Kind: op.Reduce, Type: op.F32, Red: op.Sum, Peer: -1, Dst: op.View{Buf: r.own, Off: in}, Bytes: r.chunk, SourceCount: 2}
	o.Sources[0], o.Sources[1] = op.View{Buf: r.own, Off: in}, op.View{Buf: r.inbox}
	if n >= r.size-1 {
		o = op.Op{Kind: op.Copy, Peer: -1, Dst: op.View{Buf: r.own, Off: in}, Src: op.View{Buf: r.inbox}, Bytes: r.chunk}
	}
	r.submit(o)
	r.submit(op.Op{Kind: op.Signal, Peer: left, Slot: 1, Value: uint64(n + 1)})
}

func (r *ring) submit(o op.Op) {
	r.o = o
	if err := r.s.Submit(&r.o); err != nil {
		panic(err)
	}
}

func (r *ring) run(x device.Exchange) {
	r.own, r.inbox = must(r.d.Alloc(r.chunk*int64(r.size))), must(r.d.Alloc(r.chunk))
	h := must(r.d.Export(op.View{Buf: r.inbox}, r.chunk))
	if err := x.Set("inbox/"+strconv.Itoa(r.rank), fmt.Append(nil, h.Allocation)); err != nil {
		panic(err)
	}
	peer := (r.rank + 1) % r.size
	_ = must(x.Get("inbox/"+strconv.Itoa(peer), device.Forever))
	r.right = must(r.d.Import(peer, h)) // all ranks' second allocation
	r.s = must(r.d.NewStream())
	for n := range 2 * (r.size - 1) {
		r.step(n)
	}
	if err := r.s.Sync(device.Forever); err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func runRing(tb testing.TB, name string, ranks int, chunk int64, realBytes int64) *sim.Cluster {
	p := must(preset.Find(name))
	c := must(sim.New(sim.Options{Preset: p, Ranks: ranks, RealBytes: realBytes}))
	var bodies []func()
	for rank := range ranks {
		d := must(c.Open(device.Config{Rank: rank, Size: ranks}))
		r := &ring{rank: rank, size: ranks, chunk: chunk, d: d}
		bodies = append(bodies, func() { r.run(c.Exchange(rank)) })
	}
	if err := c.Run(bodies); err != nil {
		tb.Fatal(err)
	}
	return c
}

// BenchmarkRing is an all-reduce in a ring of ranks whose schedule is native:
// six operations for each of 2(n-1) steps of n ranks.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{16, 128, 1024} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			b.ReportAllocs()
			var stats sim.Stats
			var nanos int64
			for range b.N {
				c := runRing(b, "h100", ranks, 16<<10, 0)
				stats, nanos = c.Stats(), c.Now()
			}
			perSecond := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(float64(stats.Events)*perSecond, "events/s")
			b.ReportMetric(float64(stats.Operations)*perSecond, "ops/s")
			b.ReportMetric(float64(nanos)/1e6, "virtual-ms")
		})
	}
}
