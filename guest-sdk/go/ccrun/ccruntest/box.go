package ccruntest

import (
	"math/bits"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

func (r *rank) CopyBox(stream uint64, b *raw.Box) raw.Errno {
	return r.submitOne(stream, raw.Op{Kind: raw.KindCopyBox, Sources: r.AddressOfBox(b)})
}

// boxMax is the most bytes that rows may number, and distances add up to.
const boxMax = 1 << 62

// times is a product, boxMax if it is more than that.
func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return min(low, boxMax)
	}
	return boxMax
}

// boxSpan is how many bytes lie from the first to the last of a box's rows.
func boxSpan(b *raw.Box, row, plane uint64) uint64 {
	switch times(times(b.Planes, b.Rows), b.RowBytes) {
	case 0:
		return 0
	case boxMax:
		return boxMax
	}
	return min(times(b.Planes-1, plane)+times(b.Rows-1, row), boxMax) + min(b.RowBytes, boxMax)
}

// checkBox finds out whether a box lies within its buffers, and its rows apart
// where they are written.
func (r *rank) checkBox(b *raw.Box) raw.Errno {
	if b.DstRow|b.DstPlane|b.SrcRow|b.SrcPlane > 1<<63-1 {
		return r.fail(raw.ErrnoRange, "a distance is negative, or over 2^63-1")
	}
	if _, errno := r.region(b.Dst, b.DstOffset, boxSpan(b, b.DstRow, b.DstPlane)); errno != raw.OK {
		return errno
	}
	if _, errno := r.region(b.Src, b.SrcOffset, boxSpan(b, b.SrcRow, b.SrcPlane)); errno != raw.OK {
		return errno
	}
	if boxSpan(b, 0, 0) == 0 {
		return raw.OK
	}
	inOrder := nested(b.RowBytes, b.Rows, b.DstRow, b.Planes, b.DstPlane)
	if !inOrder && !nested(b.RowBytes, b.Planes, b.DstPlane, b.Rows, b.DstRow) {
		return r.fail(raw.ErrnoInvalid, "rows that are written overlap")
	}
	return raw.OK
}

// nested reports whether runs of bytes, inner ones at one distance and outer ones
// of all of these at another, lie apart.
func nested(bytes, innerCount, inner, outerCount, outer uint64) bool {
	if innerCount > 1 && inner < bytes {
		return false
	}
	return outerCount <= 1 || innerCount == 0 || outer >= times(innerCount-1, inner)+bytes
}

// copyBox copies a box that has been checked.
func (r *rank) copyBox(b *raw.Box) {
	if boxSpan(b, 0, 0) == 0 {
		return
	}
	for plane := range b.Planes {
		for row := range b.Rows {
			dst, _ := r.region(b.Dst, b.DstOffset+plane*b.DstPlane+row*b.DstRow, b.RowBytes)
			src, _ := r.region(b.Src, b.SrcOffset+plane*b.SrcPlane+row*b.SrcRow, b.RowBytes)
			copy(dst, src)
		}
	}
}
