package wasmtest

// Opcodes.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	end           = 0x0b
	opBranch      = 0x0c
	opBranchIf    = 0x0d
	opCall        = 0x10
	opDrop        = 0x1a
	opLoadI32     = 0x28
	opLoadI64     = 0x29
	opGrow        = 0x40
	opPushI32     = 0x41
	opPushI64     = 0x42
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
