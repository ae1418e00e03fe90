package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// advance carries operations out until one takes time or has to wait.
func (s *stream) advance() {
	if s.talking {
		s.converse()
		return
	}
	for s.head < s.tail && !s.busy && !s.blocked && !s.starting {
		if s.failed != nil {
			s.passOver()
			return
		}
		t := s.at(s.head)
		t.start = max(s.cluster.now, t.handed, s.free)
		if t.start > s.cluster.now && !s.early(t) {
			s.startAt(t.start)
			return
		}
		if !s.carryOut(t) {
			s.glance()
			return
		}
	}
}

// early reports whether an operation can be carried out before its time has
// come, because nobody can tell: a wait, whose slot only grows, and a signal,
// which leaves at its time whenever that is known. That is not so where it takes
// its rank's turn on a core, nor if the rank waits for it. Only what follows them
// must keep to the time, so something has to follow.
//
// A signal leaves at its time even if its device is closed, or its stream fails,
// before that.
func (s *stream) early(t *task) bool {
	d := s.device
	switch {
	case t.kind != op.Wait && t.kind != op.Signal, s.head+1 >= s.tail, d.ending != nil:
		return false
	case t.kind == op.Signal && d.shares:
		return false
	}
	return !(d.waiting && d.wait.stream == s && s.head+1 >= d.wait.target)
}

// glance reads a little of the operations behind the head. With thousands of
// streams they have left the near caches since they were submitted, and come
// back while others have their turns.
func (s *stream) glance() {
	next := s.at(s.head + 1)
	s.glanced += uint8(next.kind) + next.src.seen() + uint8(s.at(s.head+2).kind)
}

func (s *stream) startAt(at int64) {
	s.starting = true
	s.cluster.plan(at, evStart, uint32(s.index))
}

// carryOut begins the operation at the head, and reports whether it is done.
func (s *stream) carryOut(t *task) (done bool) {
	switch t.kind {
	case op.Wait:
		return s.awaitSlot(t)
	case op.Signal:
		return s.raise(t)
	case op.EventRecord:
		s.finish(t, flight.StatusOK)
		return true
	case op.EventWait:
		return s.awaitEvent(t)
	case op.Send, op.Recv:
		s.talking = true
		s.converse()
		return false
	case op.CollectiveCall:
		return s.beginCalls(t)
	}
	if err := s.stale(t); err != nil {
		s.failHead(err)
		return false
	}
	s.work(t)
	return false
}

// work starts what takes time.
func (s *stream) work(t *task) {
	c := s.cluster
	s.busy = true
	id := c.jobs.take()
	*c.jobs.at(id) = job{stream: s, letter: -1}
	dm := &c.machineDemand
	dm.reset()
	c.machine.demand(dm, s.device.rank, t)
	if dm.copies && !s.device.takeEngine(s, id) {
		return
	}
	c.begin(id, dm)
}

// takeEngine gives a copy engine to a job, or queues its stream for one.
func (d *Device) takeEngine(s *stream, id int32) bool {
	if most := d.cluster.preset.Launch.Engines; most > 0 && d.engines >= most {
		d.cluster.jobs.give(id)
		d.queued = append(d.queued, s)
		return false
	}
	d.engines++
	d.cluster.jobs.at(id).engine = d
	return true
}

// releaseEngine gives it to the stream that has waited longest.
func (d *Device) releaseEngine() {
	d.engines--
	for len(d.queued) > 0 {
		s := d.queued[0]
		d.queued = append(d.queued[:0], d.queued[1:]...)
		if s.failed == nil && s.head < s.tail {
			s.work(s.at(s.head))
			return
		}
		s.busy = false
		s.cluster.makeReady(s) // which gives its number back if it is closed
	}
}

// completed is the end of the time that the head has taken.
func (s *stream) completed() {
	s.busy = false
	if s.failed != nil {
		s.cluster.makeReady(s)
		return
	}
	t := s.at(s.head)
	if !t.engaged {
		s.device.apply(t)
		t.engaged = true
		if s.inject(t) {
			return
		}
	}
	s.finish(t, flight.StatusOK)
	s.cluster.makeReady(s)
}

// finish counts the head as done and records it.
func (s *stream) finish(t *task, status uint8) {
	s.device.record(s, t, status)
	t.extra, t.dst, t.src, t.second = nil, place{}, place{}, place{}
	s.head++
	s.moved()
}

// moved tells those that wait for the stream's progress.
func (s *stream) moved() {
	for i := 0; i < len(s.followers); {
		f := s.followers[i]
		if s.head < f.target {
			i++
			continue
		}
		s.followers = append(s.followers[:i], s.followers[i+1:]...)
		f.stream.eventReached(s)
	}
	s.device.pokeFor(s)
}

// block says that the head waits for somebody.
func (s *stream) block() {
	s.blocked = true
	if !s.cluster.scheduled {
		s.blockedSince = time.Now()
	}
}

// failHead fails the operation at the head, and with it the stream.
func (s *stream) failHead(err error) {
	t := s.at(s.head)
	if s.talking {
		t = s.unfinishedMessage()
	}
	seen := uint64(0)
	if t.kind == op.Wait {
		slot := s.device.slot(int(t.peer), t.slot)
		seen = slot.value
		slot.drop(s)
	}
	if t.start == 0 {
		t.start = s.cluster.now
	}
	if t.kind == op.CollectiveCall {
		if err == device.ErrTimeout {
			err = s.callTimeout(t)
		}
		s.busy = false // its jobs find that it has ended
	}
	s.failed = &failure{at: s.head, err: &device.OpError{Op: s.device.opOf(t), Stream: s.number, Seen: seen, Err: err}}
	s.device.record(s, t, device.StatusOf(err))
	s.blocked, s.talking = false, false
	s.passOver()
}

// passOver counts everything in the queue of a failed stream as done.
func (s *stream) passOver() {
	for s.head < s.tail {
		t := s.at(s.head)
		switch t.kind {
		case op.Send, op.Recv:
			s.withdraw(t)
		case op.CollectiveCall:
			t.extra.comm.failCalls(t, s.failed.err)
		}
		*t = task{}
		s.head++
	}
	s.moved()
}

// awaitEvent begins a wait for another stream's record.
func (s *stream) awaitEvent(t *task) (done bool) {
	x := t.extra
	switch {
	case x == nil || x.after == nil:
	case x.after.head < x.target:
		s.block()
		x.after.followers = append(x.after.followers, follower{s, x.target})
		return false
	default:
		if err := x.after.failureBefore(x.target); err != nil {
			s.failHead(err)
			return false
		}
	}
	s.finish(t, flight.StatusOK)
	return true
}

// eventReached ends a wait for another stream's record.
func (s *stream) eventReached(after *stream) {
	if !s.blocked || s.failed != nil {
		return
	}
	s.blocked = false
	t := s.at(s.head)
	if err := after.failureBefore(t.extra.target); err != nil {
		s.failHead(err)
		return
	}
	s.finish(t, flight.StatusOK)
	s.cluster.makeReady(s)
}

// failureBefore is why the stream never executed the operation before target.
func (s *stream) failureBefore(target uint64) error {
	if s.failed != nil && s.failed.at < target {
		return s.failed.err
	}
	return nil
}
