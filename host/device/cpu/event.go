package cpu

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// event is a point in a stream: the place of the record that was submitted
// last. It is complete when that record has been executed.
type event struct {
	device *Device
	stream *stream // of the last record, nil if there was none
	target uint64  // how much of it has to be done
	closed bool
}

// NewEvent makes an event, complete until it is recorded.
func (d *Device) NewEvent() (device.Event, error) {
	if d.closed {
		return nil, device.ErrClosed
	}
	if d.events == maxEvents {
		return nil, device.ErrTooMany
	}
	d.events++
	return &event{device: d}, nil
}

func (d *Device) acceptEvent(e op.Event) error {
	v, ok := e.(*event)
	if !ok || v == nil || v.device != d {
		return device.ErrForeign
	}
	if v.closed {
		return device.ErrClosed
	}
	return nil
}

// record notes that the guest has submitted a record.
func (e *event) record(s *stream, target uint64) { e.stream, e.target = s, target }

// last is where the most recent record is.
func (e *event) last() (*stream, uint64) { return e.stream, e.target }

// Recorded reports whether the most recent record has been executed.
func (e *event) Recorded() bool {
	return e.stream == nil || e.stream.done.value.Load() >= e.target
}

// failure is why the most recent record was not executed but passed over.
func (e *event) failure() error {
	if e.stream == nil {
		return nil
	}
	return e.stream.failureBefore(e.target)
}

// Sync waits until the event is complete.
func (e *event) Sync(timeout time.Duration) error {
	if e.closed || e.device.closed {
		return device.ErrClosed
	}
	if e.Recorded() {
		return e.failure()
	}
	g := e.device.guestWaitFor(op.SyncEvent, timeout)
	g.slot = uint32(e.stream.number)
	if err := e.stream.reach(e.target, g); err != nil {
		return err
	}
	return e.failure()
}

// Close gives the event back. Operations that wait for it still do.
func (e *event) Close() error {
	if e.closed || e.device.closed {
		return device.ErrClosed
	}
	e.closed = true
	e.device.events--
	return nil
}
