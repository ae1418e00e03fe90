package kernels

import (
	"encoding/binary"
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// define is what doc.go says of Combine, one element at a time, without any of
// the package's code.
func define(out []byte, sources [][]byte, t Task) {
	size := t.Type.Size()
	for i := 0; i < len(out); i += size {
		var at [][]byte
		for _, s := range sources {
			at = append(at, s[i:i+size])
		}
		o, le := out[i:i+size], binary.LittleEndian
		switch t.Type {
		case op.U8:
			o[0] = uint8(defineInt(at, t, func(b []byte) int64 { return int64(b[0]) }, func(v int64) int64 { return v & 0xff }))
		case op.I32:
			le.PutUint32(o, uint32(defineInt(at, t, func(b []byte) int64 { return int64(int32(le.Uint32(b))) }, func(v int64) int64 { return int64(int32(v)) })))
		case op.I64:
			le.PutUint64(o, uint64(defineInt(at, t, func(b []byte) int64 { return int64(le.Uint64(b)) }, func(v int64) int64 { return v })))
		case op.F16:
			le.PutUint16(o, op.F16FromF32(defineFloat(at, t, func(b []byte) float32 { return op.F32FromF16(le.Uint16(b)) })))
		case op.BF16:
			le.PutUint16(o, op.BF16FromF32(defineFloat(at, t, func(b []byte) float32 { return op.F32FromBF16(le.Uint16(b)) })))
		case op.F32:
			le.PutUint32(o, math.Float32bits(defineFloat(at, t, func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) })))
		case op.F64:
			le.PutUint64(o, math.Float64bits(defineFloat(at, t, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) })))
		}
	}
}

func defineInt(at [][]byte, t Task, read func([]byte) int64, wrap func(int64) int64) int64 {
	acc := read(at[0])
	for _, b := range at[1:] {
		v := read(b)
		switch t.Red {
		case op.Prod:
			acc *= v
		case op.Min:
			acc = min(acc, v)
		case op.Max:
			acc = max(acc, v)
		default:
			acc += v
		}
		acc = wrap(acc)
	}
	if t.Red == op.Avg && t.Divisor > 1 {
		acc /= int64(t.Divisor)
	}
	return acc
}

func defineFloat[T float32 | float64](at [][]byte, t Task, read func([]byte) T) T {
	acc := read(at[0])
	for _, b := range at[1:] {
		v := read(b)
		switch {
		case t.Red == op.Prod:
			acc *= v
		case t.Red == op.Min || t.Red == op.Max:
			if acc != acc || v != v {
				acc = T(math.NaN())
			} else if t.Red == op.Min && v < acc || t.Red == op.Max && v > acc {
				acc = v
			}
		default:
			acc += v
		}
	}
	if t.Red == op.Avg && t.Divisor > 1 {
		acc /= T(t.Divisor)
	}
	return acc
}
