package flight

import (
	"bytes"
	"encoding/binary"
)

func boolWord(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func wordAt(b []byte, i int) uint64          { return binary.NativeEndian.Uint64(b[i*8:]) }
func putWordAt(b []byte, i int, word uint64) { binary.NativeEndian.PutUint64(b[i*8:], word) }

// cString is b up to its first zero byte.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
