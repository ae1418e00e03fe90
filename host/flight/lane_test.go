package flight_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

func TestLanes(t *testing.T) {
	w, path := create(t, 0)
	l := open(t, path)
	expect := func(what string, want map[int]flight.Lane) {
		t.Helper()
		if got := l.Lanes(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
	}
	expect("at the start", map[int]flight.Lane{0: {}})

	wait := flight.Wait{Kind: 5, Peer: -1, Slot: 3, Value: 1 << 40, Seen: 7, Since: 99, Name: "weights", Limited: true}
	w.SetLane(3, flight.LaneBusy)
	w.BeginWait(0, wait)
	expect("waiting", map[int]flight.Lane{
		0: {State: flight.LaneWaiting, Epoch: 2, Wait: wait},
		3: {State: flight.LaneBusy},
	})

	w.CheckWait(0, 8)
	w.CheckWait(0, 9)
	w.SetLane(3, flight.LaneIdle)
	wait.Seen = 9
	expect("looked twice", map[int]flight.Lane{0: {State: flight.LaneWaiting, Epoch: 2, Checks: 2, Wait: wait}})

	w.EndWait(0)
	expect("busy again", map[int]flight.Lane{0: {State: flight.LaneBusy, Epoch: 4, Checks: 2}})

	w.EndWait(3)
	w.Finished(3, 0)
	pending := func(want int64) {
		t.Helper()
		if got := l.Pending(); got != want {
			t.Errorf("%d operations are pending, want %d", got, want)
		}
	}
	busy := flight.Lane{State: flight.LaneBusy, Epoch: 4, Checks: 2}
	pending(0)
	expect("finished what it never got", map[int]flight.Lane{0: busy})
	w.Submitted(3, 1<<32+1)
	expect("nobody has taken it up", map[int]flight.Lane{0: busy, 3: {State: flight.LaneBusy, Epoch: 2}})
	w.Submitted(3, 1<<32+2)
	w.Submitted(5, 1<<32-1)
	w.Finished(5, 1<<32-2)
	pending(3)
	w.Finished(5, 1<<32-1)
	w.Finished(3, 1<<32+1)
	pending(1)
	expect("one is left", map[int]flight.Lane{0: busy, 3: {State: flight.LaneBusy, Epoch: 2}})
	w.Finished(3, 1<<32+2)
	expect("all is done", map[int]flight.Lane{0: busy})

	second := flight.Wait{Kind: 6, Peer: 1, Name: strings.Repeat("n", 80)}
	w.BeginWait(200, second)
	second.Name = second.Name[:63]
	expect("beyond the last lane", map[int]flight.Lane{
		0:                   {State: flight.LaneBusy, Epoch: 4, Checks: 2},
		flight.MaxLanes - 1: {State: flight.LaneWaiting, Epoch: 2, Wait: second},
	})
}

// TestLanesConcurrent takes snapshots while every lane's owner begins and ends
// waits as fast as it can: a snapshot is of one wait, never of two.
func TestLanesConcurrent(t *testing.T) {
	const lanes = 4
	w, path := create(t, 0)
	l := open(t, path)
	var stop atomic.Bool
	var running sync.WaitGroup
	for lane := range lanes {
		running.Go(func() {
			for i := 1; !stop.Load(); i++ {
				w.BeginWait(lane, consistentWait(i))
				w.CheckWait(lane, uint64(i))
				w.EndWait(lane)
			}
		})
	}
	for waiting := 0; waiting < 2000; {
		for lane, s := range l.Lanes() {
			if s.State != flight.LaneWaiting {
				continue
			}
			waiting++
			want := consistentWait(int(s.Wait.Since))
			want.Seen = s.Wait.Seen
			if s.Wait != want {
				stop.Store(true)
				t.Fatalf("lane %d: torn snapshot %+v", lane, s)
			}
		}
	}
	stop.Store(true)
	running.Wait()
}

// consistentWait is a wait all of whose fields follow from i.
func consistentWait(i int) flight.Wait {
	return flight.Wait{
		Kind: uint8(i), Peer: i % 1000, Slot: uint32(i * 3), Value: uint64(i * 5), Since: int64(i),
		Name: fmt.Sprintf("%050d", i), Limited: i%2 == 0,
	}
}

func TestState(t *testing.T) {
	w, path := create(t, 0)
	l := open(t, path)
	var seen []string
	for _, s := range []flight.State{flight.StateStarting, flight.StateRunning, flight.StateDone, flight.StateAborted, 99} {
		w.SetState(s)
		seen = append(seen, l.State().String())
	}
	if got, want := strings.Join(seen, " "), "starting running done aborted unknown"; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
}
