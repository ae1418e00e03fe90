package kernels

import "github.com/ccrun/ccrun/host/op"

// number is an element type that the processor computes with.
type number interface {
	uint8 | int32 | int64 | float32 | float64
}

// blockElements is how many elements are combined before they are stored: a
// block of sums stays in the first-level cache while all sources are added.
const blockElements = 512

// combinePortable is the definition of [Set.Combine].
func combinePortable(dests, sources [][]byte, t Task) {
	switch t.Type {
	case op.U8:
		combineNumbers[uint8](dests, sources, t)
	case op.I32:
		combineNumbers[int32](dests, sources, t)
	case op.I64:
		combineNumbers[int64](dests, sources, t)
	case op.F32:
		combineNumbers[float32](dests, sources, t)
	case op.F64:
		combineNumbers[float64](dests, sources, t)
	case op.F16, op.BF16:
		combineHalves(dests, sources, t)
	}
}

func combineNumbers[T number](dests, sources [][]byte, t Task) {
	size := len(elements[T](dests[0]))
	var sums [blockElements]T
	for from := 0; from < size; from += blockElements {
		block := sums[:min(blockElements, size-from)]
		for k, source := range sources {
			in := elements[T](source)[from : from+len(block)]
			if k == 0 {
				copy(block, in)
				continue
			}
			fold(block, in, t.Red)
		}
		if t.divides() {
			divide(block, t.Divisor)
		}
		for _, dest := range dests {
			copy(elements[T](dest)[from:from+len(block)], block)
		}
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
			if v < block[i] || v != v {
				block[i] = v
			}
		}
	case op.Max:
		for i, v := range source {
			if v > block[i] || v != v {
				block[i] = v
			}
		}
	default: // Sum, Avg
		for i, v := range source {
			block[i] += v
		}
	}
}

// divide rounds towards zero if T is an integer type. A divisor that T is too
// narrow for is larger than any sum.
func divide[T number](block []T, divisor int) {
	by := T(divisor)
	if int(by) != divisor {
		clear(block)
		return
	}
	for i := range block {
		block[i] /= by
	}
}
