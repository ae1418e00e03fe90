package runner

import (
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// sample is what a rank's flight file shows at one moment.
type sample struct {
	ended   bool // the guest has ended and left nothing running
	known   bool // there is a flight file
	state   flight.State
	records int64
	calls   int64
	lanes   map[int]flight.Lane
}

func sampleOf(l *flight.Log) sample {
	counters := l.Counters()
	return sample{
		known: true, state: l.State(), records: counters.Records, calls: counters.HostCalls, lanes: l.Lanes(),
	}
}

// Proof that nothing can move. Of three samples in a row the first two only say
// that nobody did anything in between. The third comes at least stallWindow
// later, still nobody did anything, and everybody who waits has looked at least
// stallChecks times since the second: the first look may have begun before
// that, but the last began after all ranks had done what the first sample
// shows, and found nothing.
const (
	stallWindow = 100 * time.Millisecond
	stallChecks = 2
)

// canStall reports whether a rank by itself is in a state in which it could
// stay for ever.
func (s *sample) canStall() bool {
	if s.ended {
		return true
	}
	if !s.known || s.state != flight.StateRunning || s.lanes[0].State != flight.LaneWaiting {
		return false
	}
	for _, lane := range s.lanes {
		if lane.State == flight.LaneBusy || lane.State == flight.LaneWaiting && lane.Wait.Limited {
			return false
		}
	}
	return true
}

// moved reports whether a rank did anything between two samples.
func moved(before, after *sample) bool {
	if before.ended != after.ended || before.known != after.known || before.state != after.state ||
		before.records != after.records || before.calls != after.calls || len(before.lanes) != len(after.lanes) {
		return true
	}
	for i, lane := range before.lanes {
		now, ok := after.lanes[i]
		if !ok || now.State != lane.State || now.Epoch != lane.Epoch {
			return true
		}
	}
	return false
}

// looked reports whether every lane of a rank that waits has looked often
// enough between two samples.
func looked(before, after *sample) bool {
	for i, lane := range after.lanes {
		if lane.State == flight.LaneWaiting && lane.Checks-before.lanes[i].Checks < stallChecks {
			return false
		}
	}
	return true
}

// stallWatch looks for a run in which nothing can move any more.
type stallWatch struct {
	first  []sample // since then nothing has moved
	second []sample // since then looks are counted
	since  time.Time
}

// observe takes a sample of every rank and reports whether they prove a
// deadlock. A run whose ranks have all ended is none.
func (w *stallWatch) observe(now time.Time, samples []sample) bool {
	waiting := false
	for i := range samples {
		if !samples[i].canStall() {
			w.first = nil
			return false
		}
		waiting = waiting || !samples[i].ended
	}
	switch {
	case !waiting:
		return false
	case len(w.first) != len(samples) || anyMoved(w.first, samples):
		w.first, w.second = samples, nil
		return false
	case w.second == nil:
		w.second, w.since = samples, now
		return false
	}
	return now.Sub(w.since) >= stallWindow && allLooked(w.second, samples)
}

func anyMoved(before, after []sample) bool {
	for i := range after {
		if moved(&before[i], &after[i]) {
			return true
		}
	}
	return false
}

func allLooked(before, after []sample) bool {
	for i := range after {
		if !after[i].ended && !looked(&before[i], &after[i]) {
			return false
		}
	}
	return true
}
