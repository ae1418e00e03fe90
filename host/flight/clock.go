package flight

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock reads the machine's monotonic clock, whose zero all processes of a
// node share. Where the kernel itself trusts the processor's tick counter, so
// does Clock, see [tickClock]; elsewhere a reading costs as much as time.Since
// (one vDSO read; a direct clock_gettime from Go is a system call). It may be
// copied and read by any goroutine.
type Clock struct {
	base      time.Time
	baseNanos int64 // CLOCK_MONOTONIC at base
	ticks     *tickClock
	virtual   func() int64 // of simulated ranks, nil for the machine's time
}

// NewClock finds where base lies on the shared clock: of many brackets of one
// reading between two of the other, the tightest.
func NewClock() Clock {
	c := Clock{base: time.Now()}
	best := int64(1) << 62
	for range 64 {
		before := int64(time.Since(c.base))
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			break
		}
		after := int64(time.Since(c.base))
		if width := after - before; width < best {
			best = width
			c.baseNanos = ts.Nano() - before - width/2
		}
	}
	if ticksTrusted() {
		c.ticks = newTickClock(c.kernelNow)
	}
	return c
}

// Now is the time in nanoseconds.
func (c *Clock) Now() int64 {
	if c.ticks == nil {
		return c.kernelNow()
	}
	if nanos, ok := c.ticks.at(readTicks()); ok {
		return nanos
	}
	return c.ticks.anchor(c.kernelNow)
}

// Start is Now for the beginning of something, at a lower price: it does not
// wait for instructions before it that are still under way, so it may be some
// nanoseconds early.
func (c *Clock) Start() int64 {
	if c.ticks == nil {
		return c.kernelNow()
	}
	if nanos, ok := c.ticks.at(readTicksEarly()); ok {
		return nanos
	}
	return c.ticks.anchor(c.kernelNow)
}

func (c *Clock) kernelNow() int64 {
	if c.virtual != nil {
		return c.virtual()
	}
	return c.baseNanos + int64(time.Since(c.base))
}

// Wall converts a time of this clock to nanoseconds since the Unix epoch.
func (c *Clock) Wall(nanos int64) int64 {
	return c.base.UnixNano() + nanos - c.baseNanos
}
