package sim

import (
	"math"

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
		if at, ok := c.queue.Peek(); !ok || at > c.now {
			c.settle()
		}
	}
	e, ok := c.queue.Pop()
	if !ok {
		return false
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
		c.pass(uint64(e.Target))
	case evCall:
		c.callDone(int32(e.Target))
	}
	return true
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
		s.advance()
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
	for _, d := range c.net.Settle(c.now) {
		if d.At == network.Never {
			continue // over a link that lets nothing through
		}
		c.queue.Push(newEvent(d.At, evFlow, uint32(d.Flow)))
	}
}
