package logged

import (
	"github.com/ccrun/ccrun/host/check"
	"github.com/ccrun/ccrun/host/op"
)

// BoxRowsMax bounds the rows that are looked at of one box, at either end, and
// AllBoxRowsMax those of all boxes together. Of a box that has more the first and
// the last are taken: what is found is so, but a race of rows between them is
// not. The bytes between the rows are never taken for the box's: boxes that
// share no byte, columns of one matrix, would seem to.
const (
	BoxRowsMax    = 256
	AllBoxRowsMax = 1 << 20
)

// box reads a copy of a box.
func (r *reader) box(a *check.Action) {
	var b op.BoxShape
	to := r.view()
	r.skip("by")
	b.DstRow, b.DstPlane = r.int64(), r.int64()
	r.skip("<-")
	from := r.view()
	r.skip("by")
	b.SrcRow, b.SrcPlane = r.int64(), r.int64()
	r.skip("of")
	b.Planes, b.Rows, b.RowBytes = r.int64(), r.int64(), r.int64()
	if a.Bytes = b.Bytes(); a.Bytes <= 0 {
		a.Bytes = 0
		return
	}
	a.Writes = r.rows(to, b.DstSpan(), &b, b.DstRow, b.DstPlane)
	a.Reads = r.rows(from, b.SrcSpan(), &b, b.SrcRow, b.SrcPlane)
}

// rows are the ranges of a view that the rows of a box are, as far as the view
// reaches. Rows that lie one behind the other are one.
func (r *reader) rows(v check.Range, span int64, b *op.BoxShape, row, plane int64) []check.Range {
	if span < 0 {
		r.fail("a box that reaches over more than 2^63-1 bytes")
		return nil
	}
	one := op.BoxShape{Planes: b.Planes, Rows: b.Rows, RowBytes: b.RowBytes, DstRow: row, DstPlane: plane, SrcRow: row, SrcPlane: plane}
	one = one.Joined()
	count := one.Planes * one.Rows
	most := min(BoxRowsMax, max(2, AllBoxRowsMax-r.boxRows))
	var ranges []check.Range
	for i := int64(0); i < count; i++ {
		if count > most && i == most/2 {
			i = count - most/2
		}
		ranges = append(ranges, from(v, i/one.Rows*one.DstPlane+i%one.Rows*one.DstRow, one.RowBytes)...)
	}
	r.boxRows += min(count, most)
	return ranges
}
