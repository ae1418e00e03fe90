package main

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// native does the work in Go, with operations that are ready: no program could
// ask less of the device.
func (w *world) native(work work) func() error {
	o := op.Op{
		Kind: work.kind, Peer: -1, Bytes: work.bytes,
		Dst: op.View{Buf: w.own}, Src: op.View{Buf: w.own, Off: bufferBytes / 2},
	}
	switch work.kind {
	case op.Put:
		o.Dst.Buf = w.shared
	case op.Signal:
		o.Peer, o.Slot, o.Dst, o.Src = 0, nativeSlot, op.View{}, op.View{}
	}
	step := uint64(1) // signals one by one raise the slot, those of a batch ask for the same values again
	if o.Value = 1; work.batched {
		step = 0
	}
	return func() error {
		for range work.chunk() {
			o.Value += step
			if err := w.stream.Submit(&o); err != nil {
				return err
			}
		}
		return w.stream.Sync(device.Forever)
	}
}
