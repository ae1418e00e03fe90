package runner

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// collector has garbage collected only where no guest runs. The Go runtime
// cannot stop a thread that is in a guest's code, so a collection that begins
// while a guest computes without end would stop everybody else in this process
// for ever, those too that are to notice it. A rank's process may come to that
// and be killed; a simulated run has no other process.
type collector struct {
	before    int // the percentage that was set
	wanted    atomic.Bool
	liveBytes atomic.Uint64 // after the last collection
}

// heapBytesMin is how large the heap becomes before it is looked through, as
// long as little of it is in use.
const heapBytesMin = 64 << 20

func newCollector() *collector {
	c := &collector{before: debug.SetGCPercent(-1)}
	c.collect() // none is under way from here on
	return c
}

// look asks for a collection if the heap has doubled. Any goroutine may call it.
func (c *collector) look() {
	if heapBytes() > max(heapBytesMin, 2*c.liveBytes.Load()) {
		c.wanted.Store(true)
	}
}

// between is called where no guest runs.
func (c *collector) between() {
	if c.wanted.Load() {
		c.wanted.Store(false)
		c.collect()
	}
}

func (c *collector) collect() {
	runtime.GC()
	c.liveBytes.Store(heapBytes())
}

// end lets garbage be collected at any time again. It is not to be called while
// a guest runs.
func (c *collector) end() { debug.SetGCPercent(c.before) }

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
