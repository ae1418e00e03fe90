package check

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestRefusals shows schedules that make no sense.
func TestRefusals(t *testing.T) {
	bytes := func(r Range) Action { return Action{Kind: Work, Name: "fill", Stream: 1, Writes: []Range{r}} }
	for _, c := range []struct {
		action Action
		want   string
	}{
		{Action{Kind: Collective + 1}, "unknown kind"},
		{Action{Kind: Join + 1}, "unknown kind"},
		{Action{Kind: Work, Stream: -1}, "negative stream"},
		{Action{Kind: Signal}, "only streams do that"},
		{Action{Kind: Wait, Stream: 1, Peer: 2}, "there is no rank 2"},
		{Action{Kind: Lookup, Peer: -1}, "there is no rank -1"},
		{bytes(Range{Owner: 2, Bytes: 1}), "no such bytes"},
		{bytes(Range{Off: -1, Bytes: 1}), "no such bytes"},
		{bytes(Range{Off: math.MaxInt64, Bytes: 1}), "no such bytes"},
		{Action{Kind: Join, Comm: "other"}, `not in communicator "other"`},
		{Action{Kind: Join, Comm: "far"}, "there is no rank 7"},
		{Action{Kind: Collective, Stream: 1, Calls: []Call{{Counts: &Counts{Sends: []int64{1, 1}, Recvs: []int64{1}}}}}, "2 and 1 counts for 2 ranks"},
		{Action{Kind: Join, Comm: "twice"}, `rank 0 is twice in communicator "twice"`},
	} {
		s := &Schedule{
			Ranks: []Rank{{Actions: []Action{{Kind: Barrier}, c.action}}, {}},
			Comms: map[string][]int{"other": {1}, "far": {0, 7}, "twice": {0, 0}},
		}
		_, err := Check(s, 100)
		if want := "rank 0, action 1: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", c.action, err, want)
		}
		if f := Explain(s); f != nil {
			t.Errorf("%+v: explained as %s", c.action, f.Text())
		}
	}
}

// TestManyRanks holds that what many ranks do together costs each of them little
// as long as nobody asks for more: looking at a rank's place among all for every
// rank takes minutes.
func TestManyRanks(t *testing.T) {
	const size = 1 << 17
	s := &Schedule{Ranks: make([]Rank, size), Comms: map[string][]int{}}
	for rank := range size {
		s.Comms["all"] = append(s.Comms["all"], rank)
		s.Ranks[rank].Actions = []Action{{Kind: Join, Comm: "all"}, {Kind: Barrier}}
	}
	start := time.Now()
	result, err := Check(s, 10)
	if err != nil || result.States != 10 || len(result.Findings) > 0 {
		t.Errorf("%v, %+v", err, result)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestExplain holds that a record that stops is explained, and one that goes
// through is not, races or none.
func TestExplain(t *testing.T) {
	fill := Action{Kind: Work, Name: "fill", Stream: 1, Bytes: 8, Writes: []Range{{Owner: 1, Allocation: 1, Bytes: 8}}}
	s := &Schedule{Ranks: []Rank{{Actions: []Action{fill}}, {Actions: []Action{fill}}}}
	if f := Explain(s); f != nil {
		t.Errorf("a race is explained as %s", f.Text())
	}
	s.Ranks[0].Actions = append(s.Ranks[0].Actions, Action{Kind: Barrier, Function: "main.end"})
	f := Explain(s)
	if f == nil || f.Class != Deadlock || f.Cause != CauseMissingCall || !strings.Contains(f.Text(), "rank 0 in main.end: barrier") {
		t.Errorf("a barrier that rank 1 does not come to: %+v", f)
	}
	for rank := range s.Ranks { // several streams that compete are no hindrance
		for stream := 1; stream < 4; stream++ {
			s.Ranks[rank].Actions = append(s.Ranks[rank].Actions, Action{Kind: Send, Stream: stream, Peer: 1 - rank, Bytes: 8})
			s.Ranks[rank].Actions = append(s.Ranks[rank].Actions, Action{Kind: Recv, Stream: stream, Peer: 1 - rank, Bytes: 8})
		}
	}
	s.Ranks[0].Actions = s.Ranks[0].Actions[2:]
	s.Ranks[1].Actions = s.Ranks[1].Actions[1:]
	if f := Explain(s); f != nil {
		t.Errorf("messages that all arrive are explained as %s", f.Text())
	}
}

// TestBound holds that no more states are gone through than asked for, whatever
// the bound, and that a search is complete from some bound on, for good.
func TestBound(t *testing.T) {
	var s Schedule
	for rank := range 2 {
		var actions []Action
		for stream := 1; stream < 4; stream++ {
			actions = append(actions, Action{Kind: Signal, Stream: stream, Peer: 1 - rank, Value: 1})
		}
		actions = append(actions, Action{Kind: Wait, Stream: 4, Peer: 1 - rank, Value: 1})
		s.Ranks = append(s.Ranks, Rank{Actions: actions})
	}
	complete := 0
	for most := 1; most < 1000; most++ {
		result, err := Check(&s, most)
		if err != nil || result.States > most || len(result.Findings) > 0 {
			t.Fatalf("bound %d: %v, %+v", most, err, result)
		}
		switch {
		case result.Complete && complete == 0:
			complete = most
			// Each rank's first signal ends its wait: three by three orders.
			if result.Orders != 9 || result.States != most {
				t.Errorf("complete with %d: %+v", most, result)
			}
		case !result.Complete && complete > 0:
			t.Errorf("complete with %d and not with %d", complete, most)
		}
	}
	if complete == 0 {
		t.Error("never complete")
	}
}

// TestMemoryBound holds that a search ends with what it may take, and says so.
func TestMemoryBound(t *testing.T) {
	s := ring(8, 2)
	whole := search(s, 100_000, clockBytesMax)
	if !whole.Complete || whole.Full {
		t.Fatalf("%+v", whole)
	}
	last := 0
	for bytes := int64(1000); bytes < 1<<20; bytes *= 2 {
		r := search(s, 100_000, bytes)
		if r.Full == r.Complete || r.States < last || len(r.Findings) > 0 || r.Complete && r.States != whole.States {
			t.Errorf("%d bytes: %+v", bytes, r)
		}
		last = r.States
	}
	if last != whole.States {
		t.Errorf("%d states in the end, want %d", last, whole.States)
	}
}
