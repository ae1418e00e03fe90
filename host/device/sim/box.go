package sim

import (
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// boxed is what a CopyBox needs: its box, in as few rows as can be.
func boxed(shape *op.BoxShape) *extra {
	b := new(struct {
		extra
		shape op.BoxShape
	})
	b.shape = shape.Joined()
	b.box = &b.shape
	return &b.extra
}

// applyBox copies a box between buffers that both have bytes.
func (d *Device) applyBox(t *task) {
	if t.dst.buf.owner.phantom() || haunted(t.dst, t.src) {
		return
	}
	b := t.extra.box
	kernels.New().CopyBox(t.dst.region(b.DstSpan()), t.src.region(b.SrcSpan()), b)
}
