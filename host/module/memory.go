package module

import (
	"encoding/binary"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/ccrun/ccrun/host/abi"
)

var (
	errNull      = &refusal{abi.Fault, "null pointer"}
	errUnaligned = &refusal{abi.Fault, "unaligned pointer"}
	errOutside   = &refusal{abi.Fault, "reaches outside the guest's memory"}
	errName      = &refusal{abi.Invalid, "a name is 1 to 63 bytes of printable UTF-8"}
)

// region is the guest's memory from pointer on. The slice is good until the
// call returns: the memory moves when the guest grows it. Nothing is asked of
// the pointer of an empty region, since empty slices of guests have any.
func (c *call) region(pointer uint64, bytes, align uint64) ([]byte, error) {
	pointer = uint64(uint32(pointer))
	switch {
	case bytes == 0:
		return nil, nil
	case pointer == 0:
		return nil, errNull
	case pointer%align != 0:
		return nil, errUnaligned
	// Up to 4 GiB less one byte: wazero v1.12.0 wraps around at the very end.
	case c.memory == nil, bytes > math.MaxUint32, pointer+bytes > math.MaxUint32:
		return nil, errOutside
	}
	b, ok := c.memory.Read(uint32(pointer), uint32(bytes))
	if !ok {
		return nil, errOutside
	}
	return b, nil
}

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
func get16(b []byte) uint16    { return binary.LittleEndian.Uint16(b) }
func get32(b []byte) uint32    { return binary.LittleEndian.Uint32(b) }
func get64(b []byte) uint64    { return binary.LittleEndian.Uint64(b) }

// maxNameBytes is the length of the longest name of a share, a mark, a digest
// or an algorithm: what a flight file keeps.
const maxNameBytes = 63

// checkName accepts what can be shown in a terminal and a trace.
func checkName(name []byte) error {
	if len(name) == 0 || len(name) > maxNameBytes {
		return errName
	}
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			return errName
		}
		name = name[n:]
	}
	return nil
}
