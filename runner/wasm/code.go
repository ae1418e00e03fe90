package wasm

// Opcodes.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	end           = 0x0b
	opIf          = 0x04
	opBranch      = 0x0c
	opBranchIf    = 0x0d
	opCall        = 0x10
	opDrop        = 0x1a
	opLoadI32     = 0x28
	opLoadI64     = 0x29
	opStoreI32    = 0x36
	opStoreI64    = 0x37
	opStoreByte   = 0x3c // of a 64-bit number
	opGrow        = 0x40
	opPushI32     = 0x41
	opPushI64     = 0x42
	opIsZeroI64   = 0x50
	opEqualI64    = 0x51
	opAboveI64    = 0x56 // unsigned
	opAddI64      = 0x7c
	opSubI64      = 0x7d
	opMulI64      = 0x7e
	opAndI64      = 0x83
	opShiftLeft   = 0x86
	opShiftRight  = 0x88 // unsigned
	opWrap        = 0xa7
	opExtend      = 0xad // unsigned
	voidBlock     = 0x40
)

// Code joins instructions.
func Code(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// PushI32 pushes a constant.
func PushI32(v int32) []byte { return append([]byte{opPushI32}, signed(int64(v))...) }

// PushI64 pushes a constant.
func PushI64(v int64) []byte { return append([]byte{opPushI64}, signed(v)...) }

// LoadI32 pushes the number at an address.
func LoadI32(address int32) []byte { return append(PushI32(address), opLoadI32, 2, 0) }

// LoadI64 pushes the number at an address.
func LoadI64(address int32) []byte { return append(PushI32(address), opLoadI64, 3, 0) }

// LoadI64At pushes the number at the address that another expression pushes,
// plus an offset.
func LoadI64At(address []byte, offset uint32) []byte {
	return Code(address, []byte{opLoadI64, 3}, Unsigned(uint64(offset)))
}

// StoreI32 stores what value pushes.
func StoreI32(address, value []byte) []byte { return Code(address, value, []byte{opStoreI32, 2, 0}) }

// StoreI64 stores what value pushes, at an offset from the address.
func StoreI64(address []byte, offset uint32, value []byte) []byte {
	return Code(address, value, []byte{opStoreI64, 3}, Unsigned(uint64(offset)))
}

// StoreByte stores the low bits of the 64-bit number that value pushes.
func StoreByte(address, value []byte) []byte {
	return Code(address, value, []byte{opStoreByte, 0, 0})
}

// Add adds 64-bit numbers.
func Add(a, b []byte) []byte { return Code(a, b, []byte{opAddI64}) }

// Sub subtracts 64-bit numbers.
func Sub(a, b []byte) []byte { return Code(a, b, []byte{opSubI64}) }

// Mul multiplies 64-bit numbers.
func Mul(a, b []byte) []byte { return Code(a, b, []byte{opMulI64}) }

// And gives the bits that two 64-bit numbers share.
func And(a, b []byte) []byte { return Code(a, b, []byte{opAndI64}) }

// ShiftLeft shifts a 64-bit number.
func ShiftLeft(a, bits []byte) []byte { return Code(a, bits, []byte{opShiftLeft}) }

// ShiftRight shifts a 64-bit number as an unsigned one.
func ShiftRight(a, bits []byte) []byte { return Code(a, bits, []byte{opShiftRight}) }

// Equal tells whether 64-bit numbers are the same; the answer has 32 bits.
func Equal(a, b []byte) []byte { return Code(a, b, []byte{opEqualI64}) }

// Above tells whether a is more than b, both unsigned; the answer has 32 bits.
func Above(a, b []byte) []byte { return Code(a, b, []byte{opAboveI64}) }

// Wrap makes a 32-bit number of a 64-bit one.
func Wrap(v []byte) []byte { return Code(v, []byte{opWrap}) }

// Extend makes a 64-bit number of an unsigned 32-bit one.
func Extend(v []byte) []byte { return Code(v, []byte{opExtend}) }

// Call calls a function by index: imports first.
func Call(index int) []byte { return append([]byte{opCall}, Unsigned(uint64(index))...) }

// Drop drops the top of the stack.
func Drop() []byte { return []byte{opDrop} }

// Unreachable traps.
func Unreachable() []byte { return []byte{opUnreachable} }

// Grow grows memory by a number of pages and pushes the old size or -1.
func Grow(pages int32) []byte { return append(PushI32(pages), opGrow, 0) }

// Forever repeats body without end.
func Forever(body ...[]byte) []byte {
	return Code([]byte{opLoop, voidBlock}, Code(body...), []byte{opBranch, 0, end})
}

// While repeats body for as long as condition, a 64-bit number, is not zero.
func While(condition []byte, body ...[]byte) []byte {
	return Code([]byte{opBlock, voidBlock, opLoop, voidBlock}, condition, []byte{opIsZeroI64, opBranchIf, 1},
		Code(body...), []byte{opBranch, 0, end, end})
}

// If runs body unless condition, a 32-bit number, is zero.
func If(condition []byte, body ...[]byte) []byte {
	return Code(condition, []byte{opIf, voidBlock}, Code(body...), []byte{end})
}

// Unless runs body if condition pushes zero.
func Unless(condition []byte, body ...[]byte) []byte {
	return Code([]byte{opBlock, voidBlock}, condition, []byte{opBranchIf, 0}, Code(body...), []byte{end})
}

// Unsigned is a number in LEB128.
func Unsigned(v uint64) []byte {
	var out []byte
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

func signed(v int64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
