package cpu

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// multiply executes a Gemm.
func (s *stream) multiply(o *op.Op) error {
	operands := [...]op.View{o.Sources[0], o.Sources[1], o.Dst}
	var mem [len(operands)][]byte
	entered := 0
	for ; entered < len(operands); entered++ {
		v := &operands[entered]
		b := v.Buf.(*buffer)
		if !b.enter(s.number, entered) {
			break
		}
		mem[entered] = b.mem[v.Off:]
	}
	err := error(device.ErrStale)
	if entered == len(operands) {
		err = nil
		gemm(mem[2][:o.Bytes], mem[0], mem[1], o.Type, o.Gemm)
	}
	for i := range entered {
		operands[i].Buf.(*buffer).leave(s.number, i)
	}
	return err
}

// gemm computes c = a b, or c += a b.
func gemm(c, a, b []byte, t op.Dtype, g *op.GemmShape) {
	if g.K == 0 && !g.Add {
		clear(c)
	}
	if g.M == 0 || g.N == 0 || g.K == 0 {
		return
	}
	m, n, k, beta := int(g.M), int(g.N), int(g.K), 0.0
	if g.Add {
		beta = 1
	}
	var by gonum.Implementation
	if t == op.F32 {
		by.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, numbers[float32](a), k, numbers[float32](b), n, float32(beta), numbers[float32](c), n)
		return
	}
	by.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, numbers[float64](a), k, numbers[float64](b), n, beta, numbers[float64](c), n)
}
