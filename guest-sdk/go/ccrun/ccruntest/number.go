package ccruntest

import (
	"encoding/binary"
	"math"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

var little = binary.LittleEndian

// number reads and writes an element of a type.
type number struct {
	size int
	get  func([]byte) float64
	put  func([]byte, float64)
}

var numbers = [...]number{
	raw.DtypeU8: {1, func(b []byte) float64 { return float64(b[0]) }, func(b []byte, v float64) { b[0] = byte(int64(v)) }},
	raw.DtypeI32: {4, func(b []byte) float64 { return float64(int32(little.Uint32(b))) },
		func(b []byte, v float64) { little.PutUint32(b, uint32(int32(v))) }},
	raw.DtypeI64: {8, func(b []byte) float64 { return float64(int64(little.Uint64(b))) },
		func(b []byte, v float64) { little.PutUint64(b, uint64(int64(v))) }},
	raw.DtypeF16: {2, func(b []byte) float64 { return fromF16(little.Uint16(b)) },
		func(b []byte, v float64) { little.PutUint16(b, toF16(v)) }},
	raw.DtypeBf16: {2, func(b []byte) float64 { return float64(math.Float32frombits(uint32(little.Uint16(b)) << 16)) },
		func(b []byte, v float64) { little.PutUint16(b, toBF16(v)) }},
	raw.DtypeF32: {4, func(b []byte) float64 { return float64(math.Float32frombits(little.Uint32(b))) },
		func(b []byte, v float64) { little.PutUint32(b, math.Float32bits(float32(v))) }},
	raw.DtypeF64: {8, func(b []byte) float64 { return math.Float64frombits(little.Uint64(b)) },
		func(b []byte, v float64) { little.PutUint64(b, math.Float64bits(v)) }},
}

// toShort rounds v to a float with so many bits of fraction and normal numbers
// from 2^minExponent on, ties to even.
func toShort(v float64, fractionBits, minExponent int) float64 {
	_, exponent := math.Frexp(v) // of a fraction in [0.5, 1)
	unit := math.Ldexp(1, max(exponent-1, minExponent)-fractionBits)
	return math.RoundToEven(v/unit) * unit
}

func toBF16(v float64) uint16 {
	if v != v {
		return 0x7fc0
	}
	return uint16(math.Float32bits(float32(toShort(v, 7, -126))) >> 16)
}

func toF16(v float64) uint16 {
	short := toShort(v, 10, -14)
	bits := math.Float32bits(float32(short))
	sign := uint16(bits >> 16 & 0x8000)
	switch size := math.Abs(short); {
	case v != v:
		return 0x7e00
	case size >= 1<<16:
		return sign | 0x7c00
	case size < 1.0/(1<<14):
		return sign | uint16(size*(1<<24))
	}
	return sign | uint16((bits&0x7fffffff-0x38000000)>>13)
}

func fromF16(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(fraction+1<<10, exponent-25)
}
