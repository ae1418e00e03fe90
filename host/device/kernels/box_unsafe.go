package kernels

import (
	"unsafe"

	"github.com/ccrun/ccrun/host/op"
)

// What rows are moved in. The larger ones are structures because the compiler
// moves those in vector registers, and calls a function for arrays.
type (
	words16 struct{ a, b uint64 }
	words32 struct{ a, b, c, d, e, f, g, h uint32 }
	words64 struct{ a, b, c, d, e, f, g, h uint64 }
)

// shortRowBytes is up to which length copyShort copies rows.
const shortRowBytes = 128

// copyShort copies the first plane of a box that has short rows, for which a
// call of Go's copy takes longer than the bytes: each row in one or two words.
func copyShort(dst, src []byte, b *op.BoxShape) {
	rows, n := b.Rows-1, b.RowBytes
	dst, src = dst[:rows*b.DstRow+n], src[:rows*b.SrcRow+n] // all that is touched below
	switch {
	case n == 1:
		copyWords[uint8](dst, src, b)
	case n < 4:
		copyWords[uint16](dst, src, b)
	case n < 8:
		copyWords[uint32](dst, src, b)
	case n < 16:
		copyWords[uint64](dst, src, b)
	case n < 32:
		copyWords[words16](dst, src, b)
	case n < 64:
		copyWords[words32](dst, src, b)
	default:
		copyWords[words64](dst, src, b)
	}
}

// copyWords copies rows of one word or, with another that ends where the row
// ends, of up to two.
func copyWords[W any](dst, src []byte, b *op.BoxShape) {
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	var word W
	last := b.RowBytes - int64(unsafe.Sizeof(word))
	at, read := int64(0), int64(0)
	if last == 0 {
		for range b.Rows {
			*(*W)(unsafe.Add(to, at)) = *(*W)(unsafe.Add(from, read))
			at, read = at+b.DstRow, read+b.SrcRow
		}
		return
	}
	for range b.Rows {
		*(*W)(unsafe.Add(to, at)) = *(*W)(unsafe.Add(from, read))
		*(*W)(unsafe.Add(to, at+last)) = *(*W)(unsafe.Add(from, read+last))
		at, read = at+b.DstRow, read+b.SrcRow
	}
}
