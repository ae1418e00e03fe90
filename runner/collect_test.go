package runner

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestCollector holds that garbage is collected when somebody has looked and
// the heap has grown, where it is said to be the time, and never otherwise.
func TestCollector(t *testing.T) {
	before := debug.SetGCPercent(137)
	defer debug.SetGCPercent(before)
	cycles := func() uint32 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.NumGC
	}
	c := newCollector()
	start := cycles()
	c.look()
	c.between()
	held := make([]byte, heapBytesMin+max(c.liveBytes.Load(), heapBytesMin))
	c.between() // nobody has looked since
	if n := cycles() - start; n != 0 {
		t.Fatalf("%d collections before there was anything to collect", n)
	}
	c.look()
	c.between()
	if n := cycles() - start; n != 1 || c.liveBytes.Load() < uint64(len(held)) {
		t.Fatalf("%d collections, %d bytes in use, want 1 and more than %d", n, c.liveBytes.Load(), len(held))
	}
	c.look() // the heap has not doubled
	c.between()
	if n := cycles() - start; n != 1 {
		t.Fatalf("%d collections, want 1", n)
	}
	runtime.KeepAlive(held)
	c.end()
	if set := debug.SetGCPercent(137); set != 137 {
		t.Errorf("the percentage is %d, want the 137 that it was", set)
	}
}
