package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
)

// Outside Run ranks are whatever goroutines call their devices: a lock lets one
// in at a time, each call first drives the events to their end, and one that
// waits does so until another call changes something. Timeouts are of wall time
// there: in virtual time they would all be over before another goroutine came.

// enter begins a call of a device. Its result goes to leave.
func (d *Device) enter() *Cluster {
	c := d.cluster
	d.looksBefore, d.looks = d.looks, 0
	switch {
	case !c.scheduled:
		c.mu.Lock()
		c.drive()
	case c.told:
		d.heard()
	}
	return c
}

// leave ends a call.
func (d *Device) leave(c *Cluster) {
	if !c.scheduled {
		c.drive()
		c.mu.Unlock()
	}
}

func (c *Cluster) drive() {
	for c.step() {
	}
}

// awaitFree waits for what d.wait says.
func (d *Device) awaitFree(timeout time.Duration) error {
	c := d.cluster
	began := time.Now()
	d.waiting = true
	defer func() { d.waiting = false }()
	for {
		c.drive()
		if d.satisfied() {
			return nil
		}
		if err := d.abortError(); err != nil {
			return err
		}
		next := c.expireOps()
		if d.satisfied() {
			return nil
		}
		if timeout >= 0 {
			left := timeout - time.Since(began)
			if left <= 0 {
				return device.ErrTimeout
			}
			if next < 0 || left < next {
				next = left
			}
		}
		c.sleepUntilChange(next)
	}
}

// sleepUntilChange waits for another call, or for as long as the limit if that
// is not negative.
func (c *Cluster) sleepUntilChange(limit time.Duration) {
	if limit >= 0 {
		timer := time.AfterFunc(limit, c.announce)
		defer timer.Stop()
	}
	c.changed.Wait()
}

// announce wakes all that wait. With the lock, it cannot come between somebody's
// last look and its wait.
func (c *Cluster) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// expireOps fails operations that have waited for longer than they may, and
// gives the time until the next will have, negative if none waits with a limit.
func (c *Cluster) expireOps() (next time.Duration) {
	next = -1
	for _, s := range c.streams {
		if s == nil || !s.blocked && !s.inCall() || s.device.opTimeout <= 0 || s.failed != nil {
			continue
		}
		left := s.device.opTimeout - time.Since(s.blockedSince)
		if left > 0 {
			if next < 0 || left < next {
				next = left
			}
			continue
		}
		s.failHead(device.ErrTimeout)
		c.drive()
	}
	return next
}
