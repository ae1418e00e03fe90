package kernels

import (
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// combineHalves is combineNumbers for 16-bit floats, in single precision.
func combineHalves(dests, sources [][]byte, t Task) {
	size := len(dests[0]) / 2
	var sums, wide [blockElements]float32
	for from := 0; from < size; from += blockElements {
		block := sums[:min(blockElements, size-from)]
		for k, source := range sources {
			in := elements[uint16](source)[from : from+len(block)]
			if k == 0 {
				widen(block, in, t.Type)
				continue
			}
			widen(wide[:len(block)], in, t.Type)
			fold(block, wide[:len(block)], t.Red)
		}
		if t.divides() {
			divide(block, t.Divisor)
		}
		for _, dest := range dests {
			narrow(elements[uint16](dest)[from:from+len(block)], block, t.Type)
		}
	}
}

// widen converts halves to single precision, exactly.
func widen(out []float32, in []uint16, t op.Dtype) {
	in = in[:len(out)]
	if t == op.BF16 {
		for i, h := range in {
			out[i] = op.F32FromBF16(h)
		}
		return
	}
	for i, h := range in {
		out[i] = widenF16(h)
	}
}

// widenF16 moves exponent and fraction to their places and corrects the
// exponent's bias by a multiplication, which is right for subnormals too.
func widenF16(h uint16) float32 {
	const rebias = 0x1p112
	bits := math.Float32bits(math.Float32frombits(uint32(h&0x7fff)<<13) * rebias)
	if h&0x7c00 == 0x7c00 { // infinite or not a number
		bits |= 0x7f800000
	}
	return math.Float32frombits(bits | uint32(h&0x8000)<<16)
}

// narrow rounds to halves.
func narrow(out []uint16, in []float32, t op.Dtype) {
	in = in[:len(out)]
	if t == op.BF16 {
		for i, v := range in {
			out[i] = op.BF16FromF32(v)
		}
		return
	}
	for i, v := range in {
		out[i] = op.F16FromF32(v)
	}
}
