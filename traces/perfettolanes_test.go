package traces

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTrackLanes draws random spans, many of which overlap, and checks what a
// track may hold: edges in order of time, ends of what was begun last, every
// span once and no later than it must be.
func TestTrackLanes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for round := range 300 {
		spans := make([]span, random.IntN(60))
		for i := range spans {
			start := random.Int64N(100)
			spans[i] = span{start, start + random.Int64N(1+int64(round%40)), int32(i)}
		}
		given := slices.Clone(spans)
		lanes := lanesOfSpans(spans)
		if len(lanes) > maxTrackLanes {
			t.Fatalf("%d lanes", len(lanes))
		}
		drawn := make([]int, len(given))
		for _, l := range lanes {
			checkLane(t, l, given, drawn, len(lanes) < maxTrackLanes)
		}
		for i, n := range drawn {
			if n != 1 {
				t.Fatalf("span %d is drawn %d times", i, n)
			}
		}
		last := int64(0)
		for _, e := range inOrder(lanes) {
			if e.at < last {
				t.Fatalf("edge at %d after %d", e.at, last)
			}
			last = e.at
		}
	}
}

func checkLane(t *testing.T, l *lane, given []span, drawn []int, room bool) {
	t.Helper()
	var open []int32
	last := int64(0)
	for _, e := range l.edges {
		s := given[e.item]
		if e.at < last {
			t.Fatalf("edge at %d after %d", e.at, last)
		}
		last = e.at
		if e.begin {
			if e.at != s.start+e.late || e.late < 0 || e.late > 0 && room {
				t.Fatalf("span %v is drawn from %d, %d late", s, e.at, e.late)
			}
			open = append(open, e.item)
			drawn[e.item]++
			continue
		}
		if len(open) == 0 || open[len(open)-1] != e.item || e.at < s.end {
			t.Fatalf("span %v ends at %d, open are %v", s, e.at, open)
		}
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		t.Fatalf("%v do not end", open)
	}
}
