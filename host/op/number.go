package op

import (
	"encoding/binary"
	"math"
)

// PutNumber stores v, converted to t, at the start of b. Conversion rounds to
// nearest, ties to even, for the float types and truncates for the integers.
func PutNumber(b []byte, t Dtype, v float64) {
	switch t {
	case U8:
		b[0] = uint8(int64(v))
	case I32:
		binary.LittleEndian.PutUint32(b, uint32(int32(v)))
	case I64:
		binary.LittleEndian.PutUint64(b, uint64(int64(v)))
	case F16:
		binary.LittleEndian.PutUint16(b, F16FromF32(stickyF32(v)))
	case BF16:
		binary.LittleEndian.PutUint16(b, BF16FromF32(stickyF32(v)))
	case F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	case F64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
	}
}

// stickyF32 narrows v for a second rounding to a shorter type: rounded to odd,
// so that a value just beside the middle of two short numbers does not become
// a tie.
func stickyF32(v float64) float32 {
	f := float32(v)
	if float64(f) == v || v != v || math.IsInf(float64(f), 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		bits-- // back to truncation
	}
	return math.Float32frombits(bits | 1)
}

// BF16FromF32 rounds f to bfloat16, ties to even; a NaN stays a NaN.
func BF16FromF32(f float32) uint16 {
	bits := math.Float32bits(f)
	if f != f {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// F32FromBF16 widens a bfloat16, exactly.
func F32FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F16FromF32 rounds f to IEEE 754 binary16, ties to even; a NaN stays a NaN,
// values too large become infinite.
func F16FromF32(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return sign | 0x7e00
	case bits >= 0x47800000: // 65536 and above, infinity
		return sign | 0x7c00
	case bits < 0x38800000: // below 2^-14: subnormal or zero
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(bits))*(1<<24)))
	}
	rounded := bits + 0xfff + bits>>13&1
	return sign | uint16((rounded-0x38000000)>>13)
}

// F32FromF16 widens an IEEE 754 binary16, exactly.
func F32FromF16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	case 0:
		small := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(small))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
