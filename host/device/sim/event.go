package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// streamEvent is a point in a stream: the place of the record that was
// submitted last. It is complete when that record has been executed.
type streamEvent struct {
	device *Device
	stream *stream // of the last record, nil if there was none
	target uint64
	closed bool
}

// NewEvent makes an event, complete until it is recorded.
func (d *Device) NewEvent() (device.Event, error) {
	defer d.leave(d.enter())
	if d.closed {
		return nil, device.ErrClosed
	}
	if d.events == maxEvents {
		return nil, device.ErrTooMany
	}
	d.events++
	return &streamEvent{device: d}, nil
}

func (d *Device) acceptEvent(e op.Event) error {
	v, ok := e.(*streamEvent)
	if !ok || v == nil || v.device != d {
		return device.ErrForeign
	}
	if v.closed {
		return device.ErrClosed
	}
	return nil
}

// Recorded reports whether the most recent record has been executed.
func (e *streamEvent) Recorded() bool {
	defer e.device.leave(e.device.enter())
	e.device.charge()
	e.device.catchUp()
	if e.reached() {
		return true
	}
	e.device.looked()
	return false
}

func (e *streamEvent) reached() bool { return e.stream == nil || e.stream.head >= e.target }

func (e *streamEvent) failure() error {
	if e.stream == nil {
		return nil
	}
	return e.stream.failureBefore(e.target)
}

// Sync waits until the event is complete.
func (e *streamEvent) Sync(timeout time.Duration) error {
	d := e.device
	defer d.leave(d.enter())
	if e.closed || d.closed {
		return device.ErrClosed
	}
	d.charge()
	if !e.reached() {
		if err := e.stream.reach(e.target, op.SyncEvent, timeout); err != nil {
			return err
		}
	}
	return e.failure()
}

// Close gives the event back. Operations that wait for it still do.
func (e *streamEvent) Close() error {
	d := e.device
	defer d.leave(d.enter())
	if e.closed || d.closed {
		return device.ErrClosed
	}
	e.closed = true
	d.events--
	return nil
}
