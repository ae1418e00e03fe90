package cpu

import (
	"errors"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// anyWait is the guest's wait for one of several points. Its thread goes round
// the streams of the events and takes each as far as it goes without a wait.
//
// Where the rank has one processor, the thread keeps what it has taken until the
// wait is over: a worker for each stream would only take turns with it, and all
// of them would wake up for each letter. What waits for anything but a letter
// goes to its worker before the thread sleeps, and so does everything where
// there are processors for the workers.
type anyWait struct {
	waiting
	glance  guestWait
	streams [maxStreams]*stream // of events that are not complete
	count   int
	first   int  // whose turn it is to be looked at first
	counted bool // in what may change elsewhere
}

// anyOf is what such a wait knows of a stream.
type anyOf struct {
	target uint64 // how much is to be done, 0 if the stream is not waited for
	held   bool   // the guest's thread owns it for the wait
	handed bool   // its worker has it
	shown  uint64 // one more than the operation whose wait stands in its lane, 0 if none
}

// WaitAny waits until a point has been reached.
func (d *Device) WaitAny(points []device.Point, timeout time.Duration) (int, error) {
	if d.closed {
		return -1, device.ErrClosed
	}
	for i := range points {
		if err := d.acceptPoint(&points[i]); err != nil {
			return -1, err
		}
	}
	if i := d.reached(points); i >= 0 {
		return i, nil
	}
	a := &d.any
	a.begin(d, points, timeout)
	defer a.end(points)
	i, err := a.wait(points)
	if err != nil {
		return -1, unwrapTimeout(err)
	}
	return i, nil
}

func (d *Device) acceptPoint(p *device.Point) error {
	if p.Event != nil {
		return d.acceptEvent(p.Event)
	}
	return d.checkPad(p.Peer, p.Slot)
}

// reached is the first point that has been, and not by an abort; -1 if none has.
func (d *Device) reached(points []device.Point) int {
	for i := range points {
		p := &points[i]
		if p.Event == nil && d.own.pad(p.Peer, p.Slot).value.Load() >= p.Value || p.Event != nil && p.Event.(*event).reached() {
			return i
		}
	}
	return -1
}

// reached reports whether the event is complete, and not by an abort.
func (e *event) reached() bool {
	return e.Recorded() && (e.device.abortError() == nil || !errors.Is(e.failure(), device.ErrAborted))
}

// begin finds out which streams have to move.
func (a *anyWait) begin(d *Device, points []device.Point, timeout time.Duration) {
	g := d.guestWaitFor(op.SyncAny, timeout)
	a.waiting = waiting{device: d, bell: &d.own.header().bell, guest: g, limit: never}
	a.glance = guestWait{kind: op.SyncAny, peer: -1, glance: true}
	a.count, a.counted = 0, false
	if p, alone := device.FirstSignal(points); p != nil {
		a.guest.peer, a.guest.slot, a.guest.value, a.guest.others = p.Peer, p.Slot, p.Value, !alone
		a.shows = d.own.pad(p.Peer, p.Slot)
	}
	for i := range points {
		p := &points[i]
		if p.Event == nil {
			continue
		}
		s, target := p.Event.(*event).last()
		switch {
		case s == nil || s.done.value.Load() >= target: // it has come since it was looked at
		case s.any.target == 0:
			s.any, s.attended = anyOf{target: target}, d.oneProcessor
			a.streams[a.count] = s
			a.count++
		default:
			s.any.target = min(s.any.target, target)
		}
	}
}

// wait goes round until a point has been reached.
func (a *anyWait) wait(points []device.Point) (int, error) {
	for {
		if a.parked && !a.counted {
			a.enlist(points, 1)
		}
		seen := a.bell.value.Load()
		err := a.device.abortError()
		if err == nil && a.goRound() {
			a.rounds, a.since = 0, 0
		}
		if i := a.device.reached(points); i >= 0 {
			return i, nil // what came before an abort counts
		}
		if err != nil {
			return -1, err
		}
		if a.parked {
			a.settle(seen)
		}
		if err := a.once(seen); err != nil {
			if i := a.device.reached(points); i >= 0 {
				return i, nil // it came since
			}
			return -1, err
		}
	}
}

// goRound carries the streams on, until one is where it should be, and reports
// whether any has moved.
func (a *anyWait) goRound() (moved bool) {
	if !a.device.oneProcessor && a.since != 0 {
		return false // the workers have been told of them
	}
	if a.rounds >= a.device.spins {
		a.glance.now = a.device.Now()
	}
	for i := range a.count {
		s := a.streams[(a.first+i)%a.count]
		before := s.done.value.Load()
		a.carryOn(s)
		after := s.done.value.Load()
		moved = moved || after != before
		if after >= s.any.target {
			a.first = (a.first + i + 1) % a.count
			return true
		}
	}
	return moved
}

// carryOn takes a stream as far as it goes now, if nobody else does.
func (a *anyWait) carryOn(s *stream) {
	if s.any.handed {
		return
	}
	if a.device.ending != nil && !s.any.held {
		s.any.handed = true // an operation that is made to take long would hold the thread
		s.wake()
		return
	}
	if !s.any.held {
		if !s.owner.CompareAndSwap(unowned, ownedByGuest) {
			s.wanted.Store(a.device.oneProcessor && !a.parked)
			return
		}
		s.any.held = true
		s.wanted.Store(false)
	}
	err := s.drain(s.any.target, a.glance)
	if err == nil || !a.device.oneProcessor {
		a.release(s)
	}
	if err == nil && !a.device.oneProcessor && !s.empty() {
		s.wake()
	}
}

// release gives a stream back. If the guest does not wait for it soon, progress
// finds out.
func (a *anyWait) release(s *stream) {
	s.hide()
	s.any.held = false
	s.release()
	if !s.empty() {
		a.device.progress.expect(a.device)
	}
}

// settle makes the streams ready for the thread to sleep: what waits for a
// letter says so in its lane, what waits for something else goes to its worker.
func (a *anyWait) settle(seen uint64) {
	for _, s := range a.streams[:a.count] {
		if !s.any.held {
			continue
		}
		if k := s.at(s.done.value.Load()).op.Kind; k == op.Send || k == op.Recv {
			s.show(seen, a.glance.now)
			continue
		}
		s.hide()
		s.any.held, s.any.handed = false, true
		s.release()
		s.wake()
	}
}

// show tells the flight recorder what the head of a queue waits for.
func (s *stream) show(seen uint64, now int64) {
	r := s.device.recorder
	if r == nil {
		return
	}
	head := s.done.value.Load()
	if s.any.shown == head+1 {
		r.CheckWait(s.number, seen)
		return
	}
	s.hide()
	o := &s.at(head).op
	r.BeginWait(s.number, flight.Wait{Kind: uint8(o.Kind), Peer: int(o.Peer), Slot: o.Slot, Value: o.Value, Seen: seen, Since: now})
	s.any.shown = head + 1
}

// hide takes back what show told.
func (s *stream) hide() {
	if s.any.shown != 0 {
		s.any.shown = 0
		s.device.recorder.EndWait(s.number)
	}
}

// enlist counts the thread in, or out again, where it is to be told of changes.
func (a *anyWait) enlist(points []device.Point, by uint32) {
	a.counted = !a.counted
	for _, s := range a.streams[:a.count] {
		s.done.elsewhere.Add(by)
	}
	for i := range points {
		if p := &points[i]; p.Event == nil {
			a.device.own.pad(p.Peer, p.Slot).elsewhere.Add(by)
		}
	}
}

// end lets go of everything.
func (a *anyWait) end(points []device.Point) {
	if a.counted {
		a.enlist(points, ^uint32(0))
	}
	for i, s := range a.streams[:a.count] {
		if s.any.held {
			a.release(s)
		}
		s.wanted.Store(false)
		s.any = anyOf{}
		a.streams[i] = nil
	}
	a.waiting.end()
}
