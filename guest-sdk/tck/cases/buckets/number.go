package main

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// element names an element of a case: what lies there is a function of it.
type element struct {
	salt  uint64 // of the run
	array uint64 // a tensor, or an entry
	index uint64
}

func (e element) hash(part int) uint64 {
	return mix(mix(e.salt+golden*e.array) + golden*(e.index+1) + mix(uint64(part+1)))
}

// whole writes an element of an array that nobody adds up: any bits.
func (e element) whole(to []byte) {
	for i := range to {
		to[i] = byte(e.hash(-1) >> (8 * i))
	}
}

// part is the number that a part has there. Numbers are so small that every
// type holds all sums and products of up to 60 of them.
func (e element) part(dtype ccrun.Dtype, red ccrun.RedOp, part int) int64 {
	h, signed := e.hash(part), int64(1)
	if dtype == ccrun.U8 {
		signed = 0
	}
	switch red {
	case ccrun.Sum:
		return int64(h%5) - 2*signed - (1-signed)*int64(h%5/2)
	case ccrun.Prod:
		switch {
		case part == 0 && signed == 0:
			return int64(h%3) + 1
		case part == 0:
			return int64(h%100) + 1
		case signed == 0:
			return e.twice(part)
		}
		return 1 - 2*int64(h%2)
	}
	return int64(h%200) - signed*100
}

// twice is 2 for every tenth part, another one in each element, else 1: so the
// part shows in the product, and 60 of them are 64 at most.
func (e element) twice(part int) int64 {
	if (e.hash(-2)+uint64(part))%10 == 0 {
		return 2
	}
	return 1
}

// total writes what so many parts add up to.
func (e element) total(to []byte, dtype ccrun.Dtype, red ccrun.RedOp, parts int) {
	sum := e.part(dtype, red, 0)
	for part := 1; part < parts; part++ {
		v := e.part(dtype, red, part)
		switch red {
		case ccrun.Sum:
			sum += v
		case ccrun.Prod:
			sum *= v
		case ccrun.Min:
			sum = min(sum, v)
		case ccrun.Max:
			sum = max(sum, v)
		}
	}
	encode(to, dtype, sum)
}

// encode writes a small whole number as an element of a type.
func encode(to []byte, dtype ccrun.Dtype, v int64) {
	little := binary.LittleEndian
	switch dtype {
	case ccrun.U8:
		to[0] = byte(v)
	case ccrun.I32:
		little.PutUint32(to, uint32(int32(v)))
	case ccrun.I64:
		little.PutUint64(to, uint64(v))
	case ccrun.F16:
		little.PutUint16(to, half(v))
	case ccrun.BF16:
		little.PutUint16(to, uint16(math.Float32bits(float32(v))>>16))
	case ccrun.F32:
		little.PutUint32(to, math.Float32bits(float32(v)))
	case ccrun.F64:
		little.PutUint64(to, math.Float64bits(float64(v)))
	}
}

// half is a whole number of less than 2048 in F16.
func half(v int64) uint16 {
	sign := uint16(0)
	if v < 0 {
		sign, v = 0x8000, -v
	}
	if v == 0 {
		return sign
	}
	exponent := bits.Len64(uint64(v)) - 1
	fraction := uint16(v<<(10-exponent)) & 0x3ff
	return sign | uint16(exponent+15)<<10 | fraction
}

// guard writes what lies where nothing of a case does.
func guard(to []byte, salt uint64) {
	for i := range to {
		to[i] = byte(mix(salt+uint64(i)/8) >> (i % 8 * 8))
	}
}
