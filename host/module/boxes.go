package module

import (
	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// copyBox submits a copy of a box. range: it reaches outside a buffer; invalid:
// a buffer that was looked up, or rows that are written overlap.
func copyBox(c *call) error {
	o := c.begin(op.CopyBox)
	o.Term = c.trace.term
	if err := c.decodeBox(o, c.in); err != nil {
		return err
	}
	return c.submitOne(o)
}

// boxFields are the fields of a box structure that are sizes, in order from 64.
var boxFields = [...]string{"planes", "rows", "row_bytes"}

// decodeBox reads a box structure.
func (c *call) decodeBox(o *op.Op, b []byte) error {
	if get64(b[88:]) != 0 {
		return errReserved
	}
	if err := first(inField("dst", c.decodeView(&o.Dst, b)), inField("src", c.decodeView(&o.Src, b[32:]))); err != nil {
		return err
	}
	if err := decodeBoxShape(&c.box, b[64:], b[16:], b[48:]); err != nil {
		return err
	}
	o.Box, o.Bytes = &c.box, c.box.Bytes()
	return nil
}

// decodeBoxShape reads planes, rows and the bytes of a row, and the distances of
// rows and of planes, at the destination and at the source.
func decodeBoxShape(box *op.BoxShape, shape, dst, src []byte) error {
	sizes := [...]*int64{&box.Planes, &box.Rows, &box.RowBytes}
	for n, to := range sizes {
		var err error
		if *to, err = size(boxFields[n], shape[8*n:]); err != nil {
			return err
		}
	}
	for _, d := range [...]struct {
		name string
		at   []byte
		to   *int64
	}{{"dst_row", dst, &box.DstRow}, {"dst_plane", dst[8:], &box.DstPlane}, {"src_row", src, &box.SrcRow}, {"src_plane", src[8:], &box.SrcPlane}} {
		var err error
		if *d.to, err = size(d.name, d.at); err != nil {
			return err
		}
	}
	if box.Bytes() < 0 {
		return refuse(abi.Range, "the box has more than 2^63-1 bytes")
	}
	return nil
}
