package flight_test

import (
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

func TestCounters(t *testing.T) {
	w, path := create(t, 0)
	l := open(t, path)
	const goroutines, each = 4, 1000
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for range each {
				w.CountBadCall()
				w.CountHostCall()
				w.CountShare(true)
				w.CountShare(true)
				w.CountShare(false)
				w.CountVerified(10, 3)
				w.CountBuffer(64)
				w.CountBuffer(-64)
				w.Append(&flight.Record{})
			}
		})
	}
	running.Wait()
	w.CountBuffer(1 << 40)
	w.CountBuffer(100 - 1<<40)
	const n = goroutines * each
	want := flight.Counters{
		Records: n, HostCalls: n, BadCalls: n, ShareHits: 2 * n, ShareMisses: n,
		BufferBytes: 100, BufferPeak: 1 << 40, Verified: 10 * n, Mismatches: 3 * n,
	}
	if got := l.Counters(); got != want {
		t.Errorf("counters\n got %+v\nwant %+v", got, want)
	}
}

func TestLevels(t *testing.T) {
	for _, word := range []string{"off", "collective", "flow", "slice", "message"} {
		level, ok := flight.ParseLevel(word)
		if !ok || level.String() != word {
			t.Errorf("%q is parsed as %v, %v", word, level, ok)
		}
	}
	for _, word := range []string{"", "Off", "unknown", "slices"} {
		if level, ok := flight.ParseLevel(word); ok {
			t.Errorf("%q is parsed as %v", word, level)
		}
	}
	if got := flight.Level(9).String(); got != "unknown" {
		t.Errorf("level 9 is called %q", got)
	}
}
