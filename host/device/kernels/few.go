package kernels

import "github.com/ccrun/ccrun/host/op"

// combineFew is combinePortable for a handful of elements: no block to clear,
// nothing to set up.
func combineFew(dests, sources [][]byte, t Task) {
	switch t.Type {
	case op.U8:
		combineEach[uint8](dests, sources, t)
	case op.I32:
		combineEach[int32](dests, sources, t)
	case op.I64:
		combineEach[int64](dests, sources, t)
	case op.F32:
		combineEach[float32](dests, sources, t)
	case op.F64:
		combineEach[float64](dests, sources, t)
	}
}

func combineEach[T number](dests, sources [][]byte, t Task) {
	var first [smallBytes]byte // room for as many elements of any size
	block := elements[T](first[:len(dests[0])])
	copy(block, elements[T](sources[0]))
	for _, source := range sources[1:] {
		fold(block, elements[T](source), t.Red)
	}
	if t.divides() {
		divide(block, t.Divisor)
	}
	for _, dest := range dests {
		copy(elements[T](dest), block)
	}
}
