package sim

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// acceptCalls checks that the communicator is this device's and that the
// buffers of every call are this rank's own and as large as its program needs.
func (d *Device) acceptCalls(o *op.Op) error {
	c, ok := o.Comm.(*comm)
	if !ok || c == nil || c.device != d {
		return device.ErrForeign
	}
	if c.closed {
		return device.ErrClosed
	}
	if c.broken != nil {
		return c.broken
	}
	for call := o.Call; call != nil; call = call.Next {
		bytes := c.needsOf(call.Program)
		if call.Collective == op.AllToAllV {
			var err error
			if bytes, err = call.VectorBytes(c.rank, c.Size()); err != nil {
				return err
			}
		}
		for area, v := range [...]op.View{call.In, call.Out} {
			if err := d.acceptArea(v, bytes[area]); err != nil {
				return err
			}
		}
	}
	return nil
}

// measuredMax is how many programs a communicator remembers the needs of.
const measuredMax = 64

// needsOf is how much of its areas this rank needs. A program has thousands of
// steps, and a guest calls the same few again and again.
func (c *comm) needsOf(p *op.Program) [2]int64 {
	if needs, ok := c.measured[p]; ok {
		return needs
	}
	if len(c.measured) >= measuredMax {
		clear(c.measured)
	}
	if c.measured == nil {
		c.measured = make(map[*op.Program][2]int64)
	}
	needs := c.measure(p)
	c.measured[p] = needs
	return needs
}

func (c *comm) measure(p *op.Program) (needs [2]int64) {
	for _, steps := range [...][]op.Step{p.Steps, p.Back} {
		for i := range steps {
			s := &steps[i]
			for _, places := range [...][]op.Place{s.Sources, s.Dests} {
				for _, at := range places {
					if int(at.Rank) == c.rank && at.Area != op.AreaSlot {
						needs[at.Area] = max(needs[at.Area], at.Off+s.Bytes)
					}
				}
			}
		}
	}
	return needs
}

func (d *Device) acceptArea(v op.View, bytes int64) error {
	if v.Buf == nil {
		if bytes > 0 {
			return op.ErrRange
		}
		return nil
	}
	b, err := d.use(v.Buf)
	switch {
	case err != nil:
		return err
	case b.peer >= 0:
		return fmt.Errorf("collective on an imported buffer: %w", device.ErrForeign)
	case bytes > b.Size()-v.Off:
		return op.ErrRange
	}
	return nil
}
