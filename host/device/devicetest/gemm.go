package devicetest

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var gemmCases = []testCase{
	{"gemm/shapes", gemmShapes},
	{"gemm/peers", gemmPeers},
}

// whole is element i of a matrix: small, so that all products are exact.
func whole(i int64, seed int64) float64 { return float64((i*7+seed*5)%9 - 4) }

func (r *rank) matrix(rows, columns int64, t op.Dtype, seed int64) op.Buffer {
	r.w.t.Helper()
	size := int64(t.Size())
	b := make([]byte, rows*columns*size)
	for i := range rows * columns {
		op.PutNumber(b[i*size:], t, whole(i, seed))
	}
	m := r.alloc(int64(len(b)) + 8)
	r.write(m, 8, b)
	return m
}

// product is element i of the product of matrices with seeds 1 and 2.
func product(g op.GemmShape, i int64) float64 {
	sum := 0.0
	for k := range g.K {
		sum += whole(i/g.N*g.K+k, 1) * whole(k*g.N+i%g.N, 2)
	}
	if g.Add {
		sum += whole(i, 3)
	}
	return sum
}

func (r *rank) checkGemm(s device.Stream, g op.GemmShape, t op.Dtype, a, b op.Buffer) {
	r.w.t.Helper()
	c := r.matrix(g.M, g.N, t, 3)
	size := int64(t.Size())
	o := op.Op{Kind: op.Gemm, Type: t, Dst: at(c, 8), Bytes: g.M * g.N * size, SourceCount: 2, Gemm: &g, Peer: -1}
	o.Sources[0], o.Sources[1] = at(a, 8), at(b, 8)
	err := s.Submit(&o)
	if errors.Is(err, device.ErrMissing) {
		r.w.t.Skip("the device multiplies no matrices")
	}
	r.must(err)
	r.sync(s)
	got := r.read(c)[8:]
	for i := range g.M * g.N {
		var v float64
		if t == op.F32 {
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(got[i*4:])))
		} else {
			v = math.Float64frombits(binary.LittleEndian.Uint64(got[i*8:]))
		}
		if want := product(g, i); v != want {
			r.failf("%s %+v: element %d is %v, want %v", t, g, i, v, want)
		}
	}
	r.must(r.Free(c))
}

func gemmShapes(t *testing.T, open Open) {
	r := one(t, open)
	streams := []device.Stream{r.stream(), r.stream()}
	for n, g := range []op.GemmShape{
		{M: 1, N: 1, K: 1}, {M: 3, N: 5, K: 7}, {M: 70, N: 130, K: 65}, {M: 64, N: 64, K: 64}, {M: 1, N: 100, K: 33},
		{M: 100, N: 1, K: 33}, {M: 4, N: 4, K: 0}, {M: 0, N: 4, K: 4}, {M: 4, N: 0, K: 4},
	} {
		for _, dtype := range []op.Dtype{op.F32, op.F64} {
			for _, g.Add = range []bool{false, true} {
				a, b := r.matrix(g.M, g.K, dtype, 1), r.matrix(g.K, g.N, dtype, 2)
				r.checkGemm(streams[n%2], g, dtype, a, b)
			}
		}
	}
	b, s := r.alloc(64), streams[0]
	o := op.Op{Kind: op.Gemm, Type: op.F32, Dst: at(b, 0), Bytes: 64, SourceCount: 2, Gemm: &op.GemmShape{M: 4, N: 4, K: 4}, Peer: -1}
	o.Sources[0], o.Sources[1] = at(b, 0), at(b, 0)
	for want, change := range map[error]func(o *op.Op){
		op.ErrType:  func(o *op.Op) { o.Type = op.I32 },
		op.ErrGemm:  func(o *op.Op) { o.Gemm = nil },
		op.ErrRange: func(o *op.Op) { o.Sources[1].Off = 4 },
	} {
		bad := o
		change(&bad)
		r.is(s.Submit(&bad), want)
	}
}

// gemmPeers multiplies matrices where peers have them.
func gemmPeers(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		g := op.GemmShape{M: 20, N: 30, K: 40}
		all := r.share("m", r.matrix(g.M*int64(1-r.n)+g.K*int64(r.n), g.K*int64(1-r.n)+g.N*int64(r.n), op.F64, int64(r.n)+1))
		r.checkGemm(r.stream(), g, op.F64, all[0], all[1])
		r.barrier()
	})
}
