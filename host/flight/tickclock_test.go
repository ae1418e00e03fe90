package flight

import "testing"

// TestTickClockMeasures feeds windows to a clock without reading any counter:
// the scale follows the ticks, windows double, and a counter that jumps makes
// it begin anew.
func TestTickClockMeasures(t *testing.T) {
	c := &tickClock{windowNanos: windowNanosMin}
	var ticks uint64
	var nanos int64
	window := func(what string, ticksPerMicro uint64, windowNanos int64, usable bool) {
		t.Helper()
		ticks += uint64(c.windowNanos) * ticksPerMicro / 1000
		nanos += c.windowNanos
		c.measure(ticks, nanos)
		if c.windowNanos != windowNanos || (c.reach.Load() > 0) != usable || (c.scale.Load() > 0) != usable {
			t.Errorf("%s: window %d ns, reach %d, scale %d; want window %d, usable: %v",
				what, c.windowNanos, c.reach.Load(), c.scale.Load(), windowNanos, usable)
		}
	}
	window("first", 2500, 200e3, true)
	if got, want := c.scale.Load(), uint64(1<<32*2/5); got != want {
		t.Errorf("scale %d of a counter of 2.5 GHz, want %d", got, want)
	}
	if got, want := c.reach.Load(), uint64(125_000); got < want || got > want+1 {
		t.Errorf("reach %d ticks after 100 us, want %d", got, want)
	}
	window("second", 2501, 400e3, true)
	for doubled := int64(800e3); doubled <= 819200e3; doubled *= 2 {
		window("further", 2500, doubled, true)
	}
	window("longest", 2500, windowNanosMax, true)
	window("longest again", 2500, windowNanosMax, true)
	if got, want := c.reach.Load(), uint64(2_500_000); got < want || got > want+1 {
		t.Errorf("reach %d ticks at last, want %d", got, want)
	}
	window("jump", 9000, windowNanosMin, false)
	window("after the jump", 2500, 200e3, true)
	ticks -= 1e6 // backwards
	c.measure(ticks, nanos+1e6)
	if c.reach.Load() != 0 {
		t.Errorf("reach %d after the counter went backwards", c.reach.Load())
	}
}
