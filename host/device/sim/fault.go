package sim

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// ending says how an operation is to end that has taken so long.
type ending func(kind op.Kind, peer int, nanos int64) device.Ending

// Inject makes operations go wrong, on purpose.
func (d *Device) Inject(as func(kind op.Kind, peer int, nanos int64) device.Ending) { d.ending = as }

// forever is how much longer something takes that never ends.
const forever = -1

// endingOf is how something is to end, and how much longer it is to take than it
// has.
func (d *Device) endingOf(kind op.Kind, peer int, picos int64) (end device.Ending, extra int64) {
	if d.ending == nil {
		return device.Ending{}, 0
	}
	const ages = int64(1) << 52 // nanoseconds
	end = d.ending(kind, peer, picos/picosPerNano)
	if end.LongerNanos >= ages {
		return end, forever
	}
	return end, max(0, end.LongerNanos) * picosPerNano
}

// later plans the end of a job that takes longer, if it ever ends.
func (c *Cluster) later(j job, extra int64) {
	if extra != forever {
		id := c.jobs.take()
		*c.jobs.at(id) = j
		c.plan(c.now+extra, evJob, uint32(id))
	}
}

// corrupt inverts the first byte that an operation has written, if it has any.
func (t *task) corrupt() {
	if t.kind.Writes() && t.bytes > 0 && !t.dst.buf.owner.phantom() {
		t.dst.region(1)[0] ^= 0xff
	}
}

// inject has the operation at the head, which has had its effect, end as it is
// to, and reports whether it does not end now.
func (s *stream) inject(t *task) bool {
	end, extra := s.device.endingOf(t.kind, t.otherEnd(), s.cluster.now-t.start)
	if end.Corrupt {
		t.corrupt()
	}
	switch {
	case end.Fail:
		s.failHead(device.ErrFault)
		return true
	case extra != 0:
		s.busy = true
		s.cluster.later(job{stream: s, letter: -1}, extra)
		return true
	}
	return false
}

// inject is the same for a message that has been copied to its receive: letter
// is that of the pair.
func (to *message) inject(t *task, letter int32) bool {
	s := to.stream
	end, extra := s.device.endingOf(op.Recv, int(t.peer), s.cluster.now-t.start)
	if end.Corrupt {
		t.corrupt()
	}
	switch {
	case end.Fail:
		s.cluster.letters.give(letter)
		s.failMessage(to.at, device.ErrFault)
		to.other.stream.failMessage(to.other.at, device.ErrFaultThere)
		return true
	case extra != 0:
		s.cluster.later(job{stream: s, letter: letter}, extra)
		return true
	}
	return false
}

// injectMove is the same for a step of a call that has taken time.
func (r *callRun) injectMove(s *op.Step) bool {
	d := r.comm.device
	kind, peer := device.MoveOf(s, r.comm.rank)
	if peer >= 0 {
		peer = r.comm.group.ranks[peer]
	}
	end, extra := d.endingOf(kind, peer, d.cluster.now-r.mark)
	if end.Corrupt {
		if to, known, err := r.memory(s.Dests[0], s.Bytes); err == nil && known && s.Bytes > 0 {
			to[0] ^= 0xff
		}
	}
	switch {
	case end.Fail:
		r.fail(device.ErrFault)
		return true
	case extra != 0:
		r.moving = true
		d.cluster.later(job{run: r, letter: -1}, extra)
		return true
	}
	return false
}

// corrupt inverts the first byte that a call has written of the rank's output, if
// that has any.
func (r *callRun) corrupt() {
	for i := range r.steps {
		s := &r.steps[i]
		if s.Kind != op.StepMove || s.Bytes == 0 || int(s.Dests[0].Rank) != r.comm.rank || s.Dests[0].Area != op.AreaOut {
			continue
		}
		if to, known, err := r.memory(s.Dests[0], s.Bytes); err == nil && known {
			to[0] ^= 0xff
		}
		return
	}
}

// inject is the same for a call whose time comes from a model.
func (r *callRun) inject() bool {
	if r.call.Bytes == 0 {
		return false
	}
	kind := op.Get
	if r.call.Collective.Reduces() {
		kind = op.Reduce
	}
	end, extra := r.comm.device.endingOf(kind, -1, r.model)
	if end.Corrupt {
		r.corrupt()
	}
	switch {
	case end.Fail:
		r.fail(device.ErrFault)
		return true
	case extra != 0 && extra != forever:
		r.after(extra)
	}
	return extra != 0
}
