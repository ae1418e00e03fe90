package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Event is a point in a stream that other streams and the guest can wait for.
// It counts as complete until it is recorded.
type Event struct {
	world  *World
	handle uint64
}

// NewEvent makes an event. It fails with [ErrLimit] if there are too many.
func (w *World) NewEvent() (*Event, error) {
	e := &Event{world: w}
	if err := w.check("event_create", w.host.EventCreate(&e.handle)); err != nil {
		return nil, err
	}
	return e, nil
}

// Close gives the event back.
func (e *Event) Close() error {
	return e.world.check("event_destroy", e.world.host.EventDestroy(e.handle))
}

// Sync waits in the guest until the event's latest record is complete.
func (e *Event) Sync(timeout time.Duration) error {
	return e.world.check("event_sync", e.world.host.EventSync(e.handle, int64(timeout)))
}

// Query reports, without waiting, whether the event's latest record is
// complete.
func (e *Event) Query() (bool, error) {
	var done uint32
	err := e.world.check("event_query", e.world.host.EventQuery(e.handle, &done))
	return done != 0, err
}

// Record marks e complete when all earlier operations of the stream are.
func (s *Stream) Record(e *Event) {
	s.next(raw.KindEventRecord).Event = e.handle
	s.push()
}

// WaitEvent holds the stream until e's latest record is complete. That record
// must have been submitted: a stream that holds it back is to be flushed first.
func (s *Stream) WaitEvent(e *Event) {
	s.next(raw.KindEventWait).Event = e.handle
	s.push()
}
