package guest

import (
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// virtualTime is WASI's clocks on a time of their own. It is for one guest.
type virtualTime struct {
	time Time
	last int64 // what was read last
	same int   // how often in a row
}

// Go's runtime refuses a monotonic clock that reads zero, so virtual time is a
// little later here.
const monotonicNanosMin = 1e9

// A guest may watch a clock until it says what the guest waits for. Where
// computing takes no time it never would, so a clock that is read very often
// begins to move.
const (
	sameReadingsMax = 1000
	watchNanos      = 1000 // that a further reading takes
)

func (v *virtualTime) now() int64 {
	now := v.time.Now()
	switch {
	case now != v.last:
		v.last, v.same = now, 0
	case v.same < sameReadingsMax:
		v.same++
	default:
		v.sleep(watchNanos)
		v.last = v.time.Now()
		return v.last
	}
	return now
}

func (v *virtualTime) nanotime() int64 { return v.now() + monotonicNanosMin }

func (v *virtualTime) walltime() (secs int64, nanos int32) {
	clock := flight.VirtualClock(nil)
	t := time.Unix(0, clock.Wall(v.now()))
	return t.Unix(), int32(t.Nanosecond())
}

// sleep is called by WASI on the guest's goroutine; a panic with an error is
// how a host function unwinds its guest.
func (v *virtualTime) sleep(nanos int64) {
	if err := v.time.Sleep(max(0, nanos)); err != nil {
		panic(err)
	}
}

// yield lets the others go on.
func (v *virtualTime) yield() { v.sleep(0) }
