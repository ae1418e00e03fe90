package op

import "math/bits"

// GemmShape is the shape of a matrix product C = A B, all three row by row
// without gaps: A has M rows and K columns, B has K rows and N columns.
type GemmShape struct {
	M, N, K int64
	// Add says that the product is added to C, which is overwritten otherwise.
	Add bool
}

// checkGemm checks that the operands have the types and sizes of the shape.
func (o *Op) checkGemm() error {
	if o.Type != F32 && o.Type != F64 {
		return ErrType
	}
	if o.SourceCount != 2 || o.Gemm == nil {
		return ErrGemm
	}
	g, size := o.Gemm, int64(o.Type.Size())
	a, okA := matrixBytes(g.M, g.K, size)
	b, okB := matrixBytes(g.K, g.N, size)
	c, okC := matrixBytes(g.M, g.N, size)
	if !okA || !okB || !okC || c != o.Bytes {
		return ErrGemm
	}
	if !o.Sources[0].holds(a) || !o.Sources[1].holds(b) {
		return ErrRange
	}
	return nil
}

// matrixBytes is the length of a matrix, unless it is absurd.
func matrixBytes(rows, columns, size int64) (int64, bool) {
	if rows < 0 || columns < 0 {
		return 0, false
	}
	high, elements := bits.Mul64(uint64(rows), uint64(columns))
	if high != 0 || elements >= 1<<60 {
		return 0, false
	}
	return int64(elements) * size, true
}
