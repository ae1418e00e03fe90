package cpu

import "sync/atomic"

// counter is a number that only grows, in memory that several processes may
// share, and the number of threads that sleep until it does: on itself, and on
// the bell of its arena, because they wait for something else too.
type counter struct {
	value     atomic.Uint64
	waiters   atomic.Uint32
	elsewhere atomic.Uint32
}

// raise makes the counter at least v and wakes who sleeps on it. The counter is
// mostly in the cache of a rank that polls it: adding nothing fetches it for
// writing at once, where a load would fetch it twice.
func (c *counter) raise(v uint64) {
	for old := c.value.Add(0); old < v; old = c.value.Load() {
		if c.value.CompareAndSwap(old, v) {
			c.wake()
			return
		}
	}
}

// wakeElsewhere wakes who sleeps on an arena's bell until the counter changes:
// hardly ever anybody.
func (c *counter) wakeElsewhere(a *arena) {
	if c.elsewhere.Load() != 0 {
		a.header().bell.ring()
	}
}

// set is raise for a counter that only the caller writes.
func (c *counter) set(v uint64) {
	c.value.Store(v)
	c.wake()
}

// ring changes the counter only if someone sleeps on it: for a counter that
// has no meaning of its own, and tells that something else has changed.
func (c *counter) ring() {
	if c.waiters.Load() != 0 {
		c.value.Add(1)
		futexWake(&c.value)
	}
}

func (c *counter) wake() {
	if c.waiters.Load() != 0 {
		futexWake(&c.value)
	}
}
