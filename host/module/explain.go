package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// explain says which part of an operation a device has refused: for it, one
// sentinel is enough; a guest's author wants the numbers.
func explain(o *op.Op, err error) error {
	var failed *device.OpError
	switch {
	case errors.As(err, &failed):
		return err
	case errors.Is(err, op.ErrBox):
		return refuse(abi.Invalid, "rows that are written overlap")
	case errors.Is(err, op.ErrRange) && o.Kind.Boxed():
		return explainBox(o, err)
	case errors.Is(err, op.ErrRange):
		return explainRange(o, err)
	case errors.Is(err, device.ErrSlot):
		return fmt.Errorf("slot %d of rank %d: %w", o.Slot, o.Peer, err)
	}
	return err
}

func explainRange(o *op.Op, err error) error {
	if e := explainView("dst", o.Dst, o.Bytes); e != nil {
		return e
	}
	if e := explainView("src", o.Src, o.Bytes); e != nil {
		return e
	}
	for n := range o.Sources[:o.SourceCount] {
		if e := explainView(fmt.Sprintf("source %d", n), o.Sources[n], o.Bytes); e != nil {
			return e
		}
	}
	if element := int64(o.Type.Size()); o.Bytes%element != 0 || o.Src.Off%element != 0 {
		return refuse(abi.Range, "%d bytes from byte %d on are not whole elements of type %v", o.Bytes, o.Src.Off, o.Type)
	}
	return err
}

// explainBox says which of its buffers a box reaches out of.
func explainBox(o *op.Op, err error) error {
	for _, side := range [...]struct {
		name string
		view op.View
		span int64
	}{{"dst", o.Dst, o.Box.DstSpan()}, {"src", o.Src, o.Box.SrcSpan()}} {
		if side.span < 0 {
			return refuse(abi.Range, "%s: the box reaches over more than 2^63-1 bytes", side.name)
		}
		if e := explainView(side.name, side.view, side.span); e != nil {
			return e
		}
	}
	return err
}

func explainView(name string, v op.View, bytes int64) error {
	if v.Buf == nil {
		return nil
	}
	return inField(name, checkView(v, bytes))
}
