package cpu

import (
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// Barrier counts this rank in and waits until every rank's count is as high.
// Each rank raises one counter in its own arena: a barrier that timed out
// leaves nothing half done, and whoever waits knows for whom.
func (d *Device) Barrier(timeout time.Duration) error {
	if err := d.usable(); err != nil {
		return err
	}
	d.barriers++
	d.own.header().arrived.set(d.barriers)
	d.kick(nil)
	g := d.guestWaitFor(op.Barrier, timeout)
	g.value = d.barriers
	for i := 1; i < d.size; i++ {
		g.peer = (d.rank + i) % d.size
		a, err := d.attach(g.peer)
		if err != nil {
			return err
		}
		w := waiting{device: d, bell: &a.header().arrived, guest: g, limit: d.limitFrom(d.Now())}
		if err := w.atLeast(d.barriers); err != nil {
			return fmt.Errorf("barrier %d: rank %d has entered %d: %w",
				d.barriers, g.peer, a.header().arrived.value.Load(), unwrapTimeout(err))
		}
	}
	return nil
}

// unwrapTimeout makes the guest's own deadline an ordinary timeout.
func unwrapTimeout(err error) error {
	if err == errDeadline {
		return device.ErrTimeout
	}
	return err
}
