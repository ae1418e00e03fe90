package module

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// streamCreate writes the handle of a new stream. limit: the device has no
// more.
func streamCreate(c *call) error {
	if err := c.streams.full(); err != nil {
		return err
	}
	s, err := c.config.Device.NewStream()
	if err != nil {
		return err
	}
	put64(c.out[0], c.streams.add(s))
	return nil
}

// streamDestroy waits for the stream and makes the handle stale, also when it
// says that an operation of the stream failed. It waits in Sync, which tells
// the flight recorder what for.
func streamDestroy(c *call) error {
	handle, s := c.stack[0], c.stream
	err := s.Sync(device.Forever)
	if e := c.streams.remove(handle); err == nil {
		err = e
	}
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// streamSync waits until all that was submitted is complete. failed: an
// operation failed, now or earlier; timed_out: the stream goes on as before.
func streamSync(c *call) error { return c.stream.Sync(c.timeout(1)) }

// streamQuery writes 1 if all that was submitted is complete, else 0.
func streamQuery(c *call) error {
	done, err := c.stream.Query()
	if err != nil {
		return err
	}
	put32(c.out[0], word(done))
	return nil
}

// eventCreate writes the handle of a new event.
func eventCreate(c *call) error {
	if err := c.events.full(); err != nil {
		return err
	}
	e, err := c.config.Device.NewEvent()
	if err != nil {
		return err
	}
	put64(c.out[0], c.events.add(e))
	return nil
}

// eventDestroy makes the handle stale; operations that wait for the event
// still see it.
func eventDestroy(c *call) error {
	if err := c.events.remove(c.stack[0]); err != nil {
		return err
	}
	return c.event.Close()
}

// eventRecord submits the record of an event.
func eventRecord(c *call) error { return c.eventOp(op.EventRecord) }

// eventWait submits a wait for the event's latest record as of now.
func eventWait(c *call) error { return c.eventOp(op.EventWait) }

func (c *call) eventOp(kind op.Kind) error {
	o := c.begin(kind)
	o.Event = c.event
	return c.submitOne(o)
}

// eventSync waits in the guest for the event's latest record.
func eventSync(c *call) error { return c.event.Sync(c.timeout(1)) }

// eventQuery writes 1 if the event's latest record is complete, else 0.
func eventQuery(c *call) error {
	put32(c.out[0], word(c.event.Recorded()))
	return nil
}

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
