package cpu

import "github.com/ccrun/ccrun/host/op"

// combine writes the element-wise combination of the first n sources to dst,
// in one pass over memory, from the first source to the last. dst may be one
// of the sources. Integers wrap; half precision is added up in single
// precision and rounded once; Avg divides the sum by n.
func combine(dst []byte, sources *[op.MaxSources][]byte, n int, t op.Dtype, red op.RedOp) {
	switch t {
	case op.U8:
		combineNumbers[uint8](dst, sources, n, red)
	case op.I32:
		combineNumbers[int32](dst, sources, n, red)
	case op.I64:
		combineNumbers[int64](dst, sources, n, red)
	case op.F32:
		combineNumbers[float32](dst, sources, n, red)
	case op.F64:
		combineNumbers[float64](dst, sources, n, red)
	case op.F16, op.BF16:
		combineHalves(dst, sources, n, t, red)
	}
}

// number is an element type that the processor computes with.
type number interface {
	uint8 | int32 | int64 | float32 | float64
}

// blockElements is how many elements are combined before they are stored: a
// block of sums stays in the first-level cache while all sources are added.
const blockElements = 512

func combineNumbers[T number](dst []byte, sources *[op.MaxSources][]byte, n int, red op.RedOp) {
	out := elements[T](dst)
	var in [op.MaxSources][]T
	for k := range n {
		in[k] = elements[T](sources[k])
	}
	if n == 2 && red == op.Sum {
		addPair(out, in[0], in[1])
		return
	}
	var sums [blockElements]T
	for from := 0; from < len(out); from += blockElements {
		size := min(blockElements, len(out)-from)
		block := sums[:size]
		copy(block, in[0][from:])
		for k := 1; k < n; k++ {
			fold(block, in[k][from:from+size], red)
		}
		if red == op.Avg {
			divide(block, n)
		}
		copy(out[from:], block)
	}
}

// addPair is the most frequent case: no block in between.
func addPair[T number](out, a, b []T) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

// fold combines a block with one more source.
func fold[T number](block, source []T, red op.RedOp) {
	source = source[:len(block)]
	switch red {
	case op.Prod:
		for i, v := range source {
			block[i] *= v
		}
	case op.Min:
		for i, v := range source {
			if v < block[i] {
				block[i] = v
			}
		}
	case op.Max:
		for i, v := range source {
			if v > block[i] {
				block[i] = v
			}
		}
	default: // Sum, Avg
		for i, v := range source {
			block[i] += v
		}
	}
}

func divide[T number](block []T, n int) {
	by := T(n)
	for i := range block {
		block[i] /= by
	}
}
