package kernels

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// roundNanos is how long a batch of small calls takes at least: reading the
// clock must not count.
const roundNanos = 20_000

// compare times f beside a plain copy of size bytes, in alternation: absolute
// figures wander with the neighbours, ratios do not. It reports f's bandwidth,
// and how many times the copy's that is, as the median of all rounds.
func compare(b *testing.B, traffic, size int, f func()) {
	dst, src := make([]byte, size), make([]byte, size)
	touch(dst)
	touch(src)
	f()
	plain := func() { copy(dst, src) }
	calls, copies := batch(f), batch(plain)
	var own, ratios []float64
	b.SetBytes(int64(traffic))
	b.ReportAllocs()
	for b.Loop() {
		call, probe := perCall(f, calls), perCall(plain, copies)
		own = append(own, call)
		ratios = append(ratios, float64(traffic)/call*probe/float64(2*size))
	}
	slices.Sort(own)
	slices.Sort(ratios)
	median := own[len(own)/2]
	b.ReportMetric(median, "ns/op")
	b.ReportMetric(float64(traffic)*1e3/median, "MB/s")
	b.ReportMetric(ratios[len(ratios)/2], "x-copy")
}

func touch(b []byte) {
	for i := range b {
		b[i] = byte(i)
	}
}

// batch is how many calls of f fill a round.
func batch(f func()) int {
	for n := 1; ; n *= 2 {
		if perCall(f, n)*float64(n) >= roundNanos {
			return n
		}
	}
}

// perCall is the nanoseconds of one call, as the mean of n.
func perCall(f func(), n int) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(start)) / float64(n)
}

func BenchmarkCombine(b *testing.B) {
	for _, c := range []struct {
		dtype          op.Dtype
		red            op.RedOp
		sources, dests int
	}{
		{op.F32, op.Sum, 2, 1}, {op.F32, op.Sum, 2, 2}, {op.F32, op.Sum, 4, 4}, {op.F32, op.Sum, 8, 8},
		{op.F32, op.Avg, 3, 1}, {op.F32, op.Max, 2, 1}, {op.BF16, op.Sum, 2, 2}, {op.F16, op.Sum, 2, 2},
		{op.F64, op.Sum, 2, 2}, {op.I64, op.Prod, 2, 1}, {op.F32, op.Sum, 1, 3},
	} {
		for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20} {
			for isa := Portable; isa <= Detect(); isa++ {
				name := fmt.Sprintf("%s_%s_%d_to_%d/%d/%s", c.dtype, c.red, c.sources, c.dests, size, isa)
				b.Run(name, func(b *testing.B) {
					sources, dests := make([][]byte, c.sources), make([][]byte, c.dests)
					for _, list := range [][][]byte{sources, dests} {
						for i := range list {
							list[i] = make([]byte, size)
						}
					}
					set, task := Set{isa, StreamBytesDefault}, Task{Type: c.dtype, Red: c.red, Divisor: c.sources}
					compare(b, size*(c.sources+c.dests), size, func() { set.Combine(dests, sources, task) })
				})
			}
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dst, src := make([]byte, size), make([]byte, size)
			touch(dst)
			touch(src)
			set := New()
			compare(b, 2*size, size, func() { set.Copy(dst, src, 0) })
		})
	}
}
