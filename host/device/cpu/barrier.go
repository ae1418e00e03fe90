package cpu

import (
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// Barrier counts this rank in and waits until every rank's count is as high.
// Each rank raises one counter in its own arena: a barrier that timed out
// leaves nothing half done, and whoever waits knows for whom. A rank counts
// itself in only once it has mapped every peer's arena, because a peer may be
// gone as soon as all have come, and then could not be waited for any more.
func (d *Device) Barrier(timeout time.Duration) error {
	if err := d.usable(); err != nil {
		return err
	}
	g := d.guestWaitFor(op.Barrier, timeout)
	g.value = d.barriers + 1
	if err := d.attachAll(g.deadline); err != nil {
		return fmt.Errorf("barrier %d: %w", g.value, err)
	}
	d.barriers++
	d.own.header().arrived.set(d.barriers)
	for i := 1; i < d.size; i++ {
		g.peer = (d.rank + i) % d.size
		arrived := &d.peers[g.peer].Load().header().arrived
		w := waiting{device: d, bell: arrived, guest: g, limit: d.limitFrom(d.Now())}
		if err := w.atLeast(d.barriers); err != nil {
			return fmt.Errorf("barrier %d: rank %d has entered %d: %w",
				d.barriers, g.peer, arrived.value.Load(), unwrapTimeout(err))
		}
	}
	return nil
}

// attachAll maps the arenas of all peers until a deadline.
func (d *Device) attachAll(deadline int64) error {
	for peer := range d.peers {
		if d.peers[peer].Load() != nil {
			continue
		}
		if _, err := d.attachUntil(peer, deadline); err != nil {
			return err
		}
	}
	return nil
}
