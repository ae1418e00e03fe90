package ccruntest

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

func (r *rank) Gemm(stream uint64, g *raw.Gemm) raw.Errno {
	o := raw.Op{Kind: raw.KindGemm, Sources: r.AddressOfGemm(g)}
	return r.submitOne(stream, o)
}

// matrices finds the operands of a product.
func (r *rank) matrices(g *raw.Gemm) (a, b, c []byte, errno raw.Errno) {
	if g.Dtype != raw.DtypeF32 && g.Dtype != raw.DtypeF64 {
		return nil, nil, nil, r.fail(raw.ErrnoInvalid, "matrices are of type f32 or f64")
	}
	size := uint64(numbers[g.Dtype].size)
	if c, errno = r.region(g.C, g.COffset, size*uint64(g.M)*uint64(g.N)); errno != raw.OK {
		return nil, nil, nil, errno
	}
	if a, errno = r.region(g.A, g.AOffset, size*uint64(g.M)*uint64(g.K)); errno != raw.OK {
		return nil, nil, nil, errno
	}
	b, errno = r.region(g.B, g.BOffset, size*uint64(g.K)*uint64(g.N))
	return a, b, c, errno
}

// multiply computes a product in float64, which is exact for what fill writes.
func (r *rank) multiply(g *raw.Gemm) {
	a, b, c, _ := r.matrices(g)
	n := numbers[g.Dtype]
	at := func(m []byte, columns uint32, i, j uint32) []byte { return m[(int(i)*int(columns)+int(j))*n.size:] }
	for i := range g.M {
		for j := range g.N {
			sum := 0.0
			if g.Flags != 0 {
				sum = n.get(at(c, g.N, i, j))
			}
			for k := range g.K {
				sum += n.get(at(a, g.K, i, k)) * n.get(at(b, g.N, k, j))
			}
			n.put(at(c, g.N, i, j), sum)
		}
	}
}
