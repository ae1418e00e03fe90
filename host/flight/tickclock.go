package flight

import (
	"math/bits"
	"sync/atomic"
)

// tickClock carries the kernel's clock on for at most a millisecond at a time
// by counting the processor's ticks, at two thirds of the price of asking the
// kernel. The time that it serves differs from the kernel's by some tens of
// nanoseconds at most, so that it stays one clock for all processes.
//
// Readers take no lock: seq is odd while the fields below it change, and a
// reader that finds it odd or moved asks the kernel.
type tickClock struct {
	seq   atomic.Uint32
	ticks atomic.Uint64 // the anchor: a tick count
	nanos atomic.Int64  // and the kernel's time then
	scale atomic.Uint64 // nanoseconds per tick, times 2^32
	reach atomic.Uint64 // how many ticks from the anchor on it serves

	// Only for whoever made seq odd.
	windowNanos   int64  // over how long the next scale is measured
	fromTicks     uint64 // where that began
	fromNanos     int64
	narrowestTick uint64 // width of a good bracket
}

const (
	windowNanosMin = 100e3
	windowNanosMax = 1e9
	reachNanosMax  = 1e6
)

// newTickClock starts to measure; until it has, every reading is the kernel's.
func newTickClock(kernelNow func() int64) *tickClock {
	c := &tickClock{windowNanos: windowNanosMin, narrowestTick: 1 << 62}
	for range 64 {
		before, nanos, after := readTicks(), kernelNow(), readTicks()
		if width := after - before; width < c.narrowestTick {
			c.narrowestTick = width
			c.fromTicks, c.fromNanos = before+width/2, nanos
		}
	}
	return c
}

// at gives the time of a reading of the counter just made, or false if the
// anchor is too old or newer.
func (c *tickClock) at(ticks uint64) (nanos int64, ok bool) {
	seq := c.seq.Load()
	since := ticks - c.ticks.Load()
	nanos = c.nanos.Load() + int64(since*c.scale.Load()>>32)
	return nanos, since < c.reach.Load() && seq%2 == 0 && c.seq.Load() == seq
}

// anchor reads the kernel's time and, if nobody else does so at this moment,
// makes it the new anchor.
func (c *tickClock) anchor(kernelNow func() int64) int64 {
	seq := c.seq.Load()
	if seq%2 == 1 || !c.seq.CompareAndSwap(seq, seq+1) {
		return kernelNow()
	}
	defer c.seq.Store(seq + 2)
	before, nanos, after := readTicks(), kernelNow(), readTicks()
	width := after - before
	if width > c.narrowestTick+c.narrowestTick/2 {
		c.narrowestTick += c.narrowestTick/8 + 1 // interrupted, or the processor has slowed down
		return nanos
	}
	c.narrowestTick = min(c.narrowestTick, width)
	middle := before + width/2
	if nanos-c.fromNanos >= c.windowNanos {
		c.measure(middle, nanos)
	}
	c.ticks.Store(middle)
	c.nanos.Store(nanos)
	return nanos
}

// measure ends a window: how long a tick was in it is how long the next ones
// are taken to be. Windows begin short and grow to a second, in which the
// kernel may adjust its clock.
func (c *tickClock) measure(ticks uint64, nanos int64) {
	elapsedTicks, elapsedNanos := ticks-c.fromTicks, uint64(nanos-c.fromNanos)
	c.fromTicks, c.fromNanos = ticks, nanos
	high, low := bits.Mul64(elapsedNanos, 1<<32)
	if high >= elapsedTicks {
		c.restart()
		return
	}
	scale, _ := bits.Div64(high, low, elapsedTicks)
	old := c.scale.Swap(scale)
	if old != 0 && max(scale, old)-min(scale, old) > old/1024 || scale == 0 {
		c.restart() // the counter has jumped: the machine was suspended or moved
		return
	}
	reachNanos := min(c.windowNanos/2, reachNanosMax)
	c.reach.Store(uint64(reachNanos) << 32 / scale)
	c.windowNanos = min(c.windowNanos*2, windowNanosMax)
}

// restart measures anew. Readings are the kernel's until then.
func (c *tickClock) restart() {
	c.scale.Store(0)
	c.reach.Store(0)
	c.windowNanos = windowNanosMin
}
