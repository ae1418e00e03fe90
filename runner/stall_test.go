package runner

import (
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// waiting is a rank whose guest waits, after so many looks and so many records.
func waiting(epoch uint32, checks uint64, records int64) sample {
	lane := flight.Lane{State: flight.LaneWaiting, Epoch: epoch, Checks: checks, Wait: flight.Wait{Peer: 1}}
	return sample{known: true, state: flight.StateRunning, records: records, lanes: map[int]flight.Lane{0: lane}}
}

func (s sample) with(lane int, l flight.Lane) sample {
	lanes := map[int]flight.Lane{lane: l}
	for i, other := range s.lanes {
		if i != lane {
			lanes[i] = other
		}
	}
	s.lanes = lanes
	return s
}

var ended = sample{ended: true}

func TestStallWatch(t *testing.T) {
	busy := flight.Lane{State: flight.LaneBusy}
	limited := func(checks uint64) flight.Lane {
		return flight.Lane{State: flight.LaneWaiting, Checks: checks, Wait: flight.Wait{Limited: true}}
	}
	const ms = time.Millisecond
	type step struct {
		at      time.Duration
		samples []sample
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  bool
	}{
		{"all wait and look", []step{
			{0, []sample{waiting(1, 0, 5), waiting(1, 0, 5)}},
			{40 * ms, []sample{waiting(1, 1, 5), waiting(1, 1, 5)}},
			{140 * ms, []sample{waiting(1, 3, 5), waiting(1, 3, 5)}}}, true},
		{"not long enough", []step{
			{0, []sample{waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 1, 5)}}, {139 * ms, []sample{waiting(1, 9, 5)}}}, false},
		{"one has not looked", []step{
			{0, []sample{waiting(1, 0, 5), waiting(1, 0, 5)}},
			{40 * ms, []sample{waiting(1, 1, 5), waiting(1, 1, 5)}},
			{500 * ms, []sample{waiting(1, 9, 5), waiting(1, 2, 5)}}}, false},
		{"looks before the second sample do not count", []step{
			{0, []sample{waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 9, 5)}}, {200 * ms, []sample{waiting(1, 10, 5)}}}, false},
		{"one waits for something else by now", []step{
			{0, []sample{waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 1, 5)}}, {200 * ms, []sample{waiting(3, 9, 5)}}}, false},
		{"one did something", []step{
			{0, []sample{waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 1, 5)}}, {200 * ms, []sample{waiting(1, 9, 6)}}}, false},
		{"something happened between the first samples", []step{
			{0, []sample{waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 1, 6)}}, {200 * ms, []sample{waiting(1, 9, 6)}}}, false},
		{"a stream is busy", []step{
			{0, []sample{waiting(1, 0, 5).with(1, busy)}}, {40 * ms, []sample{waiting(1, 1, 5).with(1, busy)}},
			{200 * ms, []sample{waiting(1, 9, 5).with(1, busy)}}}, false},
		{"the guest computes", []step{
			{0, []sample{waiting(1, 0, 5).with(0, busy)}}, {40 * ms, []sample{waiting(1, 1, 5).with(0, busy)}},
			{200 * ms, []sample{waiting(1, 9, 5).with(0, busy)}}}, false},
		{"a wait ends by itself", []step{
			{0, []sample{waiting(1, 0, 5).with(0, limited(0))}}, {40 * ms, []sample{waiting(1, 1, 5).with(0, limited(1))}},
			{200 * ms, []sample{waiting(1, 9, 5).with(0, limited(9))}}}, false},
		{"a stream's wait ends by itself", []step{
			{0, []sample{waiting(1, 0, 5).with(2, limited(0))}}, {40 * ms, []sample{waiting(1, 1, 5).with(2, limited(1))}},
			{200 * ms, []sample{waiting(1, 9, 5).with(2, limited(9))}}}, false},
		{"one has ended", []step{
			{0, []sample{waiting(1, 0, 5), ended}}, {40 * ms, []sample{waiting(1, 1, 5), ended}}, {200 * ms, []sample{waiting(1, 3, 5), ended}}}, true},
		{"all have ended", []step{
			{0, []sample{ended, ended}}, {40 * ms, []sample{ended, ended}}, {200 * ms, []sample{ended, ended}}}, false},
		{"one has just ended", []step{
			{0, []sample{waiting(1, 0, 5), waiting(1, 0, 5)}}, {40 * ms, []sample{waiting(1, 1, 5), waiting(1, 1, 5)}},
			{200 * ms, []sample{waiting(1, 9, 5), ended}}}, false},
		{"one has not started", []step{
			{0, []sample{waiting(1, 0, 5), {}}}, {40 * ms, []sample{waiting(1, 1, 5), {}}}, {200 * ms, []sample{waiting(1, 9, 5), {}}}}, false},
	} {
		var w stallWatch
		base := time.Unix(1000, 0)
		got := false
		for i, s := range c.steps {
			if got {
				t.Errorf("%s: proven at step %d already", c.name, i)
			}
			got = w.observe(base.Add(s.at), s.samples)
		}
		if got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
