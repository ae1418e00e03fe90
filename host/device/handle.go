package device

import (
	"encoding/binary"
	"errors"
)

// Handle is an exported range of a buffer, as it travels between ranks. Two
// handles are equal if and only if they name the same bytes of the same
// allocation: Allocation and Generation together are never used twice by a
// rank, while addresses are.
type Handle struct {
	Allocation uint32
	Generation uint32
	Offset     int64
	Bytes      int64
	Extra      [64]byte // the device's own, a CUDA IPC handle for example
}

// handleBytes is the length of a Handle on the wire: its fields in order,
// little-endian.
const handleBytes = 4 + 4 + 8 + 8 + 64

// Encode gives the handle as it travels.
func (h Handle) Encode() []byte {
	b := make([]byte, 0, handleBytes)
	b = binary.LittleEndian.AppendUint32(b, h.Allocation)
	b = binary.LittleEndian.AppendUint32(b, h.Generation)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Bytes))
	return append(b, h.Extra[:]...)
}

// Why a handle that has travelled is none.
var (
	errHandleLength = errors.New("a handle of another length is malformed")
	errHandleSize   = errors.New("a handle with a negative size is malformed")
)

// DecodeHandle trusts nothing: the bytes come from another process. The device
// checks what the numbers mean.
func DecodeHandle(b []byte) (Handle, error) {
	if len(b) != handleBytes {
		return Handle{}, errHandleLength
	}
	h := Handle{
		Allocation: binary.LittleEndian.Uint32(b), Generation: binary.LittleEndian.Uint32(b[4:]),
		Offset: int64(binary.LittleEndian.Uint64(b[8:])), Bytes: int64(binary.LittleEndian.Uint64(b[16:])), Extra: [64]byte(b[24:]),
	}
	if h.Offset < 0 || h.Bytes < 0 {
		return Handle{}, errHandleSize
	}
	return h, nil
}
