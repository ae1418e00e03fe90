package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// WaitAny waits until a point has been reached.
func (d *Device) WaitAny(points []device.Point, timeout time.Duration) (int, error) {
	defer d.leave(d.enter())
	if d.closed {
		return -1, device.ErrClosed
	}
	for i := range points {
		if err := d.acceptPoint(&points[i]); err != nil {
			return -1, err
		}
	}
	d.charge()
	d.catchUp()
	if i := d.reached(points); i >= 0 {
		return i, nil
	}
	d.wait = guestWait{kind: op.SyncAny, points: points, found: -1, peer: -1}
	err := d.await(timeout)
	if d.wait.found >= 0 {
		points = points[:d.wait.found+1] // one before it may have come at the same instant
	}
	d.wait.points = nil
	if i := d.reached(points); i >= 0 { // at the last instant perhaps, when the wait was over
		return i, nil
	}
	return -1, err
}

// lookAtEvents finds out whether an event of a stream that has moved on has been
// reached that the rank's own thread waits for. Signals are looked at when they
// come: a rank may wait for those of thousands.
func (d *Device) lookAtEvents(s *stream) {
	for i := range d.wait.points {
		if e, ok := d.wait.points[i].Event.(*streamEvent); ok && e.stream == s && e.reached() {
			d.wait.found = i
			return
		}
	}
}

// lookAtSignal is the same for a signal that has come.
func (d *Device) lookAtSignal(from int, slot uint32, value uint64) {
	for i := range d.wait.points {
		if p := &d.wait.points[i]; p.Event == nil && p.Peer == from && p.Slot == slot && p.Value <= value {
			d.wait.found = i
			d.wake()
			return
		}
	}
}

func (d *Device) acceptPoint(p *device.Point) error {
	if p.Event != nil {
		return d.acceptEvent(p.Event)
	}
	return d.checkSlot(p.Peer, p.Slot)
}

// reached is the first point that has been, -1 if none has.
func (d *Device) reached(points []device.Point) int {
	for i := range points {
		p := &points[i]
		if p.Event == nil && d.slot(p.Peer, p.Slot).value >= p.Value || p.Event != nil && p.Event.(*streamEvent).reached() {
			return i
		}
	}
	return -1
}
