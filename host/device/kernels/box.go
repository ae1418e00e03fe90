package kernels

import "github.com/ccrun/ccrun/host/op"

// CopyBox copies a box whose first byte is the first of src to where the first
// byte of dst is. Both hold what the shape spans, and do not overlap.
func (s Set) CopyBox(dst, src []byte, shape *op.BoxShape) {
	bytes := shape.Bytes()
	if bytes <= 0 {
		return
	}
	b := shape.Joined()
	if b.Rows == 1 {
		s.Copy(dst[:bytes], src[:bytes], 0)
		return
	}
	for plane := range b.Planes {
		s.copyRows(dst[plane*b.DstPlane:], src[plane*b.SrcPlane:], &b)
	}
}

// copyRows copies the first plane of a box.
func (s Set) copyRows(dst, src []byte, b *op.BoxShape) {
	to, from, n := int64(0), int64(0), b.RowBytes
	for range b.Rows {
		if n <= copyStretchBytes {
			copy(dst[to:to+n], src[from:from+n])
		} else {
			copyUp(dst[to:to+n], src[from:from+n])
		}
		to, from = to+b.DstRow, from+b.SrcRow
	}
}
