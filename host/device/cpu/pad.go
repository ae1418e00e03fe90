package cpu

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
)

// SignalValue is the value of the slot that peer raises here.
func (d *Device) SignalValue(peer int, slot uint32) (uint64, error) {
	if d.closed {
		return 0, device.ErrClosed
	}
	if err := d.checkPad(peer, slot); err != nil {
		return 0, err
	}
	return d.own.pad(peer, slot).value.Load(), nil
}

func (d *Device) checkPad(peer int, slot uint32) error {
	if peer < 0 || peer >= d.size {
		return fmt.Errorf("rank %d of %d: %w", peer, d.size, device.ErrPeer)
	}
	if slot >= signalSlots {
		return fmt.Errorf("slot %d of %d: %w", slot, signalSlots, device.ErrSlot)
	}
	return nil
}
