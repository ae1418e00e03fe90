package op

import "math"

// BoxShape is the part of an array that CopyBox and GetBox move: Planes of Rows of
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

// Joined is the same box in as few rows as it can be told in, and in planes of
// more than one row only. One that is a single run of bytes, or empty, has one
// row.
func (b *BoxShape) Joined() BoxShape {
	j := *b
	if j.Bytes() <= 0 {
		return BoxShape{Planes: 1, Rows: 1}
	}
	j.joinRows()
	switch {
	case j.Rows == 1:
		j.Planes, j.Rows, j.DstRow, j.SrcRow = 1, j.Planes, j.DstPlane, j.SrcPlane
		j.joinRows()
	case j.DstPlane == j.Rows*j.DstRow && j.SrcPlane == j.Rows*j.SrcRow:
		j.Planes, j.Rows = 1, j.Planes*j.Rows
	}
	return j
}

// joinRows makes one row of rows without gaps.
func (b *BoxShape) joinRows() {
	if b.DstRow == b.RowBytes && b.SrcRow == b.RowBytes {
		b.Rows, b.RowBytes = 1, b.Rows*b.RowBytes
	}
}

// Apart reports whether rows that are written do not overlap: planes lie one
// behind the other, or each between the rows of the others.
func (b *BoxShape) Apart() bool {
	return b.Bytes() == 0 || nested(b.RowBytes, b.Rows, b.DstRow, b.Planes, b.DstPlane) || nested(b.RowBytes, b.Planes, b.DstPlane, b.Rows, b.DstRow)
}

// nested reports whether so many runs of bytes, inner ones at one distance and
// outer ones of all of these at another, do not overlap. The box is countable.
func nested(bytes, innerCount, inner, outerCount, outer int64) bool {
	if innerCount > 1 {
		if inner < bytes || inner > (math.MaxInt64-bytes)/(innerCount-1) {
			return false
		}
		bytes += inner * (innerCount - 1)
	}
	return outerCount <= 1 || outer >= bytes
}

// checkBox checks the shape of a box against its buffers. Rows that are read
// may overlap, so the source can be shorter than what is copied.
func (o *Op) checkBox() error {
	b := o.Box
	if b == nil || b.Bytes() != o.Bytes || !b.Apart() {
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
