package sim

import (
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// boxed is what a CopyBox or GetBox needs: its box, in as few rows as can be.
func boxed(shape *op.BoxShape) *extra {
	b := new(struct {
		extra
		shape op.BoxShape
	})
	b.shape = shape.Joined()
	b.box = &b.shape
	return &b.extra
}

// touchBox notes what a rank reads or writes of a box, and gives how much of it
// its core has to fetch. It looks at all rows before it notes any: a part of an
// allocation has many of them. Where there are more rows than an allocation has
// parts, hardly a part lies between two of them: then planes, or all, are taken
// for runs of bytes.
func (m *cores) touchBox(rank int, p place, b *op.BoxShape, row, plane int64, note func(l *lines, off, bytes int64, core int)) int64 {
	bytes := b.Bytes()
	if bytes == 0 {
		return 0
	}
	rows, run := b.Rows, b.RowBytes
	if b.Planes*rows > partsMax {
		rows, run = 1, run+row*(rows-1)
	}
	planes := b.Planes
	if planes > partsMax {
		planes, run = 1, run+plane*(planes-1)
	}
	l, off, core := p.buf.owner.linesOf(), p.buf.offset+p.off, m.coreOf(rank)
	missing := float64(0) // rows that are read may overlap, and come to more than can be counted
	for i := range planes {
		for j := range rows {
			missing += float64(l.missing(off+i*plane+j*row, run, core))
		}
	}
	m.cluster.touched -= l.touched
	for i := range planes {
		for j := range rows {
			note(l, off+i*plane+j*row, run, core)
		}
	}
	m.cluster.touched += l.touched
	return int64(missing / (float64(planes) * float64(rows) * float64(run)) * float64(bytes))
}

// applyBox copies a box between buffers that both have bytes.
func (d *Device) applyBox(t *task) {
	if t.dst.buf.owner.phantom() || haunted(t.dst, t.src) {
		return
	}
	b := t.extra.box
	kernels.New().CopyBox(t.dst.region(b.DstSpan()), t.src.region(b.SrcSpan()), b)
}
