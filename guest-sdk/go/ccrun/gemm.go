package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// Gemm is a product of matrices, C = A B or C += A B, all of them row by row
// without gaps.
type Gemm struct {
	Dtype   Dtype  // F32 or F64
	C, A, B Region // M by N, M by K, K by N elements
	M, N, K int
	Add     bool // the product is added to C
}

// Gemm submits a product of matrices.
func (s *Stream) Gemm(g Gemm) {
	element := g.Dtype.Bytes()
	for _, size := range [...]struct {
		rows, columns int
		region        Region
	}{{g.M, g.N, g.C}, {g.M, g.K, g.A}, {g.K, g.N, g.B}} {
		if !fits(size.rows, 1<<31-1) || !fits(size.columns, 1<<31-1) || size.region.Bytes/element != int64(size.rows)*int64(size.columns) {
			s.refuse("gemm", ErrRange, "a matrix and its region differ in size")
			return
		}
	}
	o := s.next(raw.KindGemm)
	if s.gemms == nil {
		s.gemms = make([]raw.Gemm, heldMax)
	}
	held := &s.gemms[s.count]
	*held = raw.Gemm{
		C: g.C.handle(), COffset: uint64(g.C.Offset), A: g.A.handle(), AOffset: uint64(g.A.Offset),
		B: g.B.handle(), BOffset: uint64(g.B.Offset), M: uint32(g.M), N: uint32(g.N), K: uint32(g.K), Dtype: uint8(g.Dtype),
	}
	if g.Add {
		held.Flags = 1
	}
	o.Sources = s.world.host.AddressOfGemm(held)
	s.push()
}
