package kernels

import (
	"fmt"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// probe is a plain copy of as many bytes, measured beside a kernel: absolute
// figures wander with the neighbours, ratios do not.
type probe struct {
	dst, src []byte
	elapsed  time.Duration
}

func newProbe(bytes int) *probe {
	p := &probe{dst: make([]byte, bytes), src: make([]byte, bytes)}
	touch(p.dst)
	touch(p.src)
	return p
}

func touch(b []byte) {
	for i := range b {
		b[i] = byte(i)
	}
}

func (p *probe) run() {
	start := time.Now()
	copy(p.dst, p.src)
	p.elapsed += time.Since(start)
}

// report adds the kernel's bandwidth in units of the copy's.
func (p *probe) report(b *testing.B, kernelBytes int, kernel time.Duration) {
	own := float64(kernelBytes) / float64(kernel)
	plain := float64(2*len(p.dst)) / float64(p.elapsed)
	b.ReportMetric(own/plain, "x-copy")
	b.ReportMetric(plain*1e3, "copy-MB/s")
}

func BenchmarkCombine(b *testing.B) {
	for _, c := range []struct {
		dtype          op.Dtype
		red            op.RedOp
		sources, dests int
	}{
		{op.F32, op.Sum, 2, 1}, {op.F32, op.Sum, 2, 2}, {op.F32, op.Sum, 4, 4}, {op.F32, op.Sum, 8, 8},
		{op.F32, op.Avg, 2, 2}, {op.F32, op.Max, 2, 1}, {op.BF16, op.Sum, 2, 2}, {op.F16, op.Sum, 2, 2},
		{op.F64, op.Sum, 2, 2}, {op.I64, op.Prod, 2, 1}, {op.F32, op.Sum, 1, 3},
	} {
		for _, bytes := range []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20} {
			for isa := Portable; isa <= Detect(); isa++ {
				name := fmt.Sprintf("%s_%s_%d_to_%d/%d/%s", c.dtype, c.red, c.sources, c.dests, bytes, isa)
				b.Run(name, func(b *testing.B) {
					benchmarkCombine(b, Set{isa, StreamBytesDefault}, c.dtype, c.red, c.sources, c.dests, bytes)
				})
			}
		}
	}
}

func benchmarkCombine(b *testing.B, set Set, dtype op.Dtype, red op.RedOp, sources, dests, bytes int) {
	all := make([]byte, (sources+dests)*bytes)
	touch(all)
	var in, out [][]byte
	for i := range sources + dests {
		part := all[i*bytes:][:bytes]
		if i < sources {
			in = append(in, part)
		} else {
			out = append(out, part)
		}
	}
	task := Task{Type: dtype, Red: red, Divisor: sources}
	p := newProbe(bytes)
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	var own time.Duration
	for b.Loop() {
		start := time.Now()
		set.Combine(out, in, task)
		own += time.Since(start)
		b.StopTimer()
		p.run()
		b.StartTimer()
	}
	p.report(b, len(all), own)
}
