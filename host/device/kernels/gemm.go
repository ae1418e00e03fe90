package kernels

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/ccrun/ccrun/host/op"
)

// Gemm computes c = a b, or c += a b, of F32 or F64 matrices.
func Gemm(c, a, b []byte, t op.Dtype, g *op.GemmShape) {
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
		by.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, floats[float32](a), k, floats[float32](b), n, float32(beta), floats[float32](c), n)
		return
	}
	by.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, floats[float64](a), k, floats[float64](b), n, beta, floats[float64](c), n)
}
