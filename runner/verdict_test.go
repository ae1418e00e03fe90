package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// The cases describe ranks one a line, followed by what their lanes wait for:
//
//	rank 0 running collective=3 in=main.ring last="put to rank 1, 8 bytes"
//	  lane 1 wait peer=1 slot=3 value=5 seen=4
//
// and show the text of the verdict.
func TestVerdict(t *testing.T) {
	datadriven.Walk(t, "testdata/verdict", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			states := parseStates(t, d)
			switch d.Cmd {
			case "deadlock":
				return deadlockText(states) + "\n"
			case "lines":
				return strings.Join(rankLines(states), "\n") + "\n"
			default:
				d.Fatalf(t, "unknown command")
				return ""
			}
		})
	})
}

func parseStates(t *testing.T, d *datadriven.TestData) []rankState {
	t.Helper()
	var states []rankState
	for text := range strings.Lines(d.Input) {
		words := strings.Fields(text)
		if len(words) < 3 {
			d.Fatalf(t, "line %q", text)
		}
		n, err := strconv.Atoi(words[1])
		if err != nil {
			d.Fatalf(t, "line %q: %v", text, err)
		}
		fields := make(map[string]string)
		for _, w := range words[3:] {
			name, value, _ := strings.Cut(w, "=")
			fields[name] = strings.ReplaceAll(value, "_", " ")
		}
		switch words[0] {
		case "rank":
			collective, _ := strconv.Atoi(fields["collective"])
			states = append(states, rankState{
				rank: n, phase: phase(words[2]), collective: uint32(collective),
				function: fields["in"], ending: fields["ending"], last: fields["last"], lanes: map[int]flight.Lane{},
			})
		case "lane":
			states[len(states)-1].lanes[n] = parseLane(t, d, words[2], fields)
		default:
			d.Fatalf(t, "line %q", text)
		}
	}
	return states
}

func parseLane(t *testing.T, d *datadriven.TestData, kind string, fields map[string]string) flight.Lane {
	t.Helper()
	if kind == "busy" {
		return flight.Lane{State: flight.LaneBusy}
	}
	w := flight.Wait{Peer: -1, Name: fields["name"]}
	for k := range 256 {
		if op.Kind(k).String() == kind {
			w.Kind = uint8(k)
			break
		}
	}
	if w.Kind == 0 {
		d.Fatalf(t, "no such kind: %s", kind)
	}
	for name, into := range map[string]func(int){
		"peer": func(n int) { w.Peer = n }, "slot": func(n int) { w.Slot = uint32(n) },
		"value": func(n int) { w.Value = uint64(n) }, "seen": func(n int) { w.Seen = uint64(n) },
	} {
		if text, ok := fields[name]; ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				d.Fatalf(t, "%s=%s: %v", name, text, err)
			}
			into(n)
		}
	}
	return flight.Lane{State: flight.LaneWaiting, Wait: w}
}

// Every kind that a lane can wait for has words of its own.
func TestWaitsAreDescribed(t *testing.T) {
	var seen []string
	for _, kind := range []op.Kind{op.Wait, op.Send, op.Recv, op.Barrier, op.ShareLookup, op.SyncStream, op.SyncEvent, op.SyncAny, op.EventWait, op.CollectiveCall} {
		text := describeWait(flight.Wait{Kind: uint8(kind), Peer: 3, Slot: 4, Value: 5, Seen: 6, Name: "x"})
		if slices.Contains(seen, text) || strings.Contains(text, "unknown") {
			t.Errorf("%s: %q", kind, text)
		}
		seen = append(seen, text)
	}
}

func TestRecordsAreDescribed(t *testing.T) {
	for _, c := range []struct {
		record flight.Record
		want   string
	}{
		{flight.Record{Kind: uint8(op.Put), Peer: 2, Bytes: 65536, Collective: 3, Chunk: 1, Slice: 4}, "put to rank 2, 65536 bytes, collective 3 chunk 1 slice 4"},
		{flight.Record{Kind: uint8(op.Get), Peer: 1, Bytes: 8, Status: flight.StatusFailed}, "get from rank 1, 8 bytes, failed"},
		{flight.Record{Kind: uint8(op.Signal), Peer: 1, Aux: 7, Bytes: 9}, "signal rank 1, slot 7 to 9"},
		{flight.Record{Kind: uint8(op.Wait), Peer: 0, Aux: 7, Bytes: 9}, "wait for rank 0, slot 7 at least 9"},
		{flight.Record{Kind: uint8(op.Reduce), Peer: -1, Bytes: 64}, "reduce, 64 bytes"},
		{flight.Record{Kind: uint8(op.Barrier), Peer: -1}, "barrier"},
		{flight.Record{Kind: uint8(op.Collective), Red: uint8(op.AllGather), Bytes: 64, Collective: 2}, "collective all_gather, 64 bytes, collective 2"},
	} {
		if got := describeRecord(&c.record); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The cycle that is found agrees with a naive search on all graphs of three
// ranks, with one of them ended or none.
func TestCyclesOfSmallGraphs(t *testing.T) {
	for bits := range 1 << 9 {
		for ended := range 4 {
			edges := make(map[int][]int)
			states := make([]rankState, 3)
			for i := range states {
				states[i] = rankState{rank: i, phase: phaseRunning, lanes: map[int]flight.Lane{}}
				if i == ended {
					states[i].phase = phaseDone
				}
			}
			for i := range 9 {
				if bits>>i&1 == 0 {
					continue
				}
				states[i/3].lanes[1+i%3] = flight.Lane{State: flight.LaneWaiting, Wait: flight.Wait{Kind: uint8(op.Wait), Peer: i % 3}}
				if i/3 != ended {
					edges[i/3] = append(edges[i/3], i%3)
				}
			}
			checkCycle(t, edges, newWaitGraph(states).cycle())
		}
	}
}

// checkCycle expects the shortest cycle from the lowest rank that is on any.
func checkCycle(t *testing.T, edges map[int][]int, path []int) {
	t.Helper()
	want, lowest := 0, 0
	for lowest = range 3 {
		if want = naiveLoop(edges, lowest); want > 0 {
			break
		}
	}
	if len(path) != want || want > 0 && path[0] != lowest {
		t.Fatalf("graph %v: path %v, want %d ranks from %d", edges, path, want, lowest)
	}
	for i := 1; i < len(path); i++ {
		if !slices.Contains(edges[path[i-1]], path[i]) {
			t.Fatalf("graph %v: path %v uses no edge at %d", edges, path, i)
		}
	}
}

// Verdicts of thousands of ranks are found soon and can be read.
func TestVerdictOfThousands(t *testing.T) {
	const ranks = 16_384
	states := make([]rankState, ranks)
	for i := range states {
		wait := flight.Wait{Kind: uint8(op.Wait), Peer: (i + 1) % ranks, Slot: 3, Value: 7}
		states[i] = rankState{rank: i, phase: phaseRunning, lanes: map[int]flight.Lane{1: {State: flight.LaneWaiting, Wait: wait}}}
	}
	ring := strings.Split(deadlockText(states), "\n")
	if len(ring) != linesMax+3 || !strings.HasSuffix(ring[len(ring)-1], " waits for rank 0") || !strings.Contains(ring[len(ring)-1], "waits for 16085 more waits for") {
		t.Errorf("%d lines, the last %.200s", len(ring), ring[len(ring)-1])
	}
	states[ranks-1].phase, states[ranks-1].ending = phaseDone, "its guest returned"
	states[ranks-1].lanes = nil
	chain := strings.Split(deadlockText(states), "\n")
	want := "behind: rank 16383 has ended (its guest returned) and rank 16382 waits for it"
	if last := chain[len(chain)-1]; last != want || len(chain) != linesMax+3 {
		t.Errorf("%d lines, the last %.200s", len(chain), last)
	}
	if got := subject(make([]int, namedMax+1), "is", "are"); got != "301 ranks, 0 to 0, are" {
		t.Error(got)
	}
}

// naiveLoop is the number of ranks in the shortest way back, ends counted
// twice, 0 if there is none: it tries all ways by their length.
func naiveLoop(edges map[int][]int, start int) int {
	reach := []int{start}
	for length := 2; length <= 4; length++ {
		var next []int
		for _, r := range reach {
			next = append(next, edges[r]...)
		}
		if slices.Contains(next, start) {
			return length
		}
		reach = next
	}
	return 0
}

func TestSubject(t *testing.T) {
	got := fmt.Sprint(subject([]int{4}, "is", "are"), "; ", subject([]int{1, 2}, "is", "are"), "; ", subject([]int{1, 2, 3}, "is", "are"))
	if want := "rank 4 is; ranks 1 and 2 are; ranks 1, 2 and 3 are"; got != want {
		t.Errorf("got %s", got)
	}
}
