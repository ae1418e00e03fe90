package op

import "math"

// BoxShape is the part of an array that CopyBox moves: Planes of Rows of
// RowBytes each. The distances are from the start of one row, or plane, to that
// of the next; where there is one only they do not count.
type BoxShape struct {
	Planes, Rows, RowBytes int64

	DstRow, DstPlane int64
	SrcRow, SrcPlane int64
}

// Bytes is how many bytes the box has, -1 if they are not countable.
func (b *BoxShape) Bytes() int64 {
	n := int64(1)
	for _, factor := range [...]int64{b.Planes, b.Rows, b.RowBytes} {
		if factor < 0 || factor > 0 && n > math.MaxInt64/factor {
			return -1
		}
		n *= factor
	}
	return n
}

// DstSpan is how many bytes lie from the first byte that is written to the last
// one, both included; -1 if they are not countable.
func (b *BoxShape) DstSpan() int64 { return b.span(b.DstRow, b.DstPlane) }

// SrcSpan is the same for what is read.
func (b *BoxShape) SrcSpan() int64 { return b.span(b.SrcRow, b.SrcPlane) }

func (b *BoxShape) span(row, plane int64) int64 {
	if bytes := b.Bytes(); bytes <= 0 {
		return bytes
	}
	n := b.RowBytes
	for _, d := range [...]struct{ count, step int64 }{{b.Rows, row}, {b.Planes, plane}} {
		if d.count == 1 {
			continue
		}
		if d.step < 0 || d.step > (math.MaxInt64-n)/(d.count-1) {
			return -1
		}
		n += d.step * (d.count - 1)
	}
	return n
}

// apart reports whether rows that are written do not overlap.
func (b *BoxShape) apart() bool {
	plane := b.RowBytes
	if b.Rows > 1 {
		if b.DstRow < b.RowBytes {
			return false
		}
		plane += b.DstRow * (b.Rows - 1)
	}
	return b.Planes <= 1 || b.DstPlane >= plane
}

// checkBox checks the shape of a CopyBox against its buffers.
func (o *Op) checkBox() error {
	b := o.Box
	if b == nil || b.Bytes() != o.Bytes || o.Bytes > 0 && !b.apart() {
		return ErrBox
	}
	if span := b.DstSpan(); span < 0 || !o.Dst.holds(span) {
		return ErrRange
	}
	if span := b.SrcSpan(); span < 0 || !o.Src.holds(span) {
		return ErrRange
	}
	return nil
}
