package sim

import (
	"math"

	"github.com/ccrun/ccrun/host/device/sim/event"
	"github.com/ccrun/ccrun/host/device/sim/network"
)

// step makes something happen: it lets streams go on that can, or else goes to
// the next event. It reports false if there is neither.
func (c *Cluster) step() bool {
	if len(c.ready) > 0 || len(c.readyRuns) > 0 {
		c.advanceReady()
		return true
	}
	if c.dirty {
		// Once for all that happens at this instant: flows often end together.
		if at, ok := c.queue.Peek(); !ok || at > c.now || c.pending == 0 {
			c.settle()
		}
	}
	if c.pending == 0 && c.limited == 0 {
		return false // what is left on the queue has no effect: time ends here
	}
	e, ok := c.queue.Pop()
	if !ok {
		return false
	}
	if e.Kind != evFlow && e.Kind != evTimeout {
		c.pending--
	}
	c.now = max(c.now, e.At)
	c.stats.Events++
	switch e.Kind {
	case evFlow:
		c.flowDue(int32(e.Target), e.At)
	case evJob:
		c.jobDone(int32(e.Target))
	case evStart:
		s := c.streams[e.Target]
		s.starting = false
		c.makeReady(s)
	case evSignal:
		c.deliver(int32(e.Target))
	case evResume:
		c.devices[e.Target].resume(e.At)
	case evTimeout:
		c.devices[e.Target].expire(e.At)
	case evBarrier:
		c.pass()
	case evCall:
		c.callDone(int32(e.Target))
	}
	return true
}

// plan puts an event on the queue that will have an effect. Those that may have
// none, since a wait has ended or a flow is done at another time by then, are
// not to keep a deadlock from being found, nor to move it to when they are due.
func (c *Cluster) plan(at int64, kind, target uint32) {
	c.pending++
	c.queue.Push(event.Event{At: at, Kind: kind, Target: target})
}

// nextAt is when the next event is due, once everything of this instant has
// been settled.
func (c *Cluster) nextAt() int64 {
	if c.dirty {
		c.settle()
	}
	at, ok := c.queue.Peek()
	if !ok {
		return math.MaxInt64
	}
	return at
}

// makeReady puts a stream on the list of those that may go on at this instant.
func (c *Cluster) makeReady(s *stream) {
	if !s.listed {
		s.listed = true
		c.ready = append(c.ready, s)
	}
}

// advanceReady lets the streams on the list go on, and those that come on it
// meanwhile.
func (c *Cluster) advanceReady() {
	for i := 0; i < len(c.ready); i++ {
		s := c.ready[i]
		s.listed = false
		if s.advance(); s.closed {
			s.release()
		}
	}
	c.ready = c.ready[:0]
	for i := 0; i < len(c.readyRuns); i++ {
		r := c.readyRuns[i]
		r.listed = false
		if !r.ended {
			r.advance()
		}
	}
	c.readyRuns = c.readyRuns[:0]
}

// settle shares links anew and plans the ends of flows that have changed.
func (c *Cluster) settle() {
	c.dirty = false
	if c.turns != nil {
		c.turns.settle(c)
	}
	for _, d := range c.net.Settle(c.now) {
		o := &c.owners[d.Flow]
		if o.due >= 0 {
			c.pending-- // that event will find another time
		}
		o.due = -1
		if d.At == network.Never {
			continue // over a link that lets nothing through
		}
		o.due = d.At
		c.plan(d.At, evFlow, uint32(d.Flow))
	}
}
