package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// describe writes a path as "copy 2 30..70" and so on.
func describe(path []Segment) string {
	var words []string
	for i := range path {
		s := &path[i]
		words = append(words, fmt.Sprintf("%s %d %d..%d", s.Kind, s.Rank, s.Start, s.End))
	}
	return strings.Join(words, ", ")
}

func TestCriticalPaths(t *testing.T) {
	copying := func(start, end int64, rank, source, dest int) Activity {
		return Activity{Start: start, End: end, Rank: rank, Stream: 1, Kind: Copy, Peer: -1, Source: source, Dest: dest}
	}
	on := func(stream uint16, a Activity) Activity {
		a.Stream = stream
		return a
	}
	signal := func(kind ActivityKind, start, end int64, rank, peer int, value uint64) Activity {
		return Activity{Start: start, End: end, Rank: rank, Stream: 1, Kind: kind, Peer: peer, Value: value}
	}
	two := []Part{{Rank: 0, Start: 0, Finish: 50}, {Rank: 1, Start: 10, Finish: 100}}
	for _, c := range []struct {
		name       string
		parts      []Part
		activities []Activity
		want       string
	}{
		{"nobody", nil, nil, ""},
		{"no records", two, nil, "start_skew 1 0..10, call 1 10..100"},
		{"own work", two, []Activity{copying(20, 60, 1, 1, 1), copying(60, 90, 1, 1, 1)},
			"start_skew 1 0..10, host 1 10..20, copy 1 20..60, copy 1 60..90, host 1 90..100"},
		{"wait for a signal", two, []Activity{
			copying(0, 40, 0, 0, 1), signal(Signal, 40, 42, 0, 1, 1), signal(Wait, 10, 45, 1, 0, 1), copying(45, 100, 1, 1, 1),
		}, "copy 0 0..40, signal 0 40..42, wait 1 42..45, copy 1 45..100"},
		{"a signal that was there", two, []Activity{
			copying(0, 5, 0, 0, 1), signal(Signal, 5, 6, 0, 1, 1), signal(Wait, 10, 11, 1, 0, 1), copying(11, 100, 1, 1, 1),
		}, "start_skew 1 0..10, wait 1 10..11, copy 1 11..100"},
		{"the first signal that is enough", two, []Activity{
			signal(Signal, 5, 6, 0, 1, 1), signal(Signal, 39, 40, 0, 1, 3), signal(Signal, 41, 43, 0, 1, 4),
			signal(Wait, 10, 42, 1, 0, 2), copying(42, 100, 1, 1, 1),
		}, "host 0 0..5, signal 0 5..6, host 0 6..39, signal 0 39..40, wait 1 40..42, copy 1 42..100"},
		{"a signal whose record ends after the wait", two, []Activity{
			copying(0, 40, 0, 0, 1), signal(Signal, 40, 48, 0, 1, 1), signal(Wait, 10, 45, 1, 0, 1), copying(45, 100, 1, 1, 1),
		}, "copy 0 0..40, signal 0 40..45, copy 1 45..100"},
		{"waits that are not recorded", two, []Activity{copying(0, 30, 0, 1, 0), copying(30, 70, 0, 1, 0), copying(75, 100, 1, 0, 1)},
			"copy 0 0..30, copy 0 30..70, wait 1 70..75, copy 1 75..100"},
		{"a peer that begins late", []Part{{Rank: 0, Start: 0, Finish: 100}, {Rank: 1, Start: 60, Finish: 70}},
			[]Activity{copying(0, 10, 0, 0, 0), copying(62, 100, 0, 1, 0)},
			"start_skew 1 0..60, wait 0 60..62, copy 0 62..100"},
		{"a put into a rank that does nothing", two, []Activity{copying(0, 95, 0, 0, 1)},
			"copy 0 0..95, wait 1 95..100"},
		{"send and receive", two, []Activity{
			copying(0, 30, 0, 0, 0), signal(Send, 30, 80, 0, 1, 0), signal(Receive, 10, 78, 1, 0, 0), copying(78, 100, 1, 1, 1),
		}, "copy 0 0..30, copy 1 30..78, copy 1 78..100"},
		{"a send that waits for its receiver", []Part{{Rank: 0, Start: 0, Finish: 100}, {Rank: 1, Start: 10, Finish: 95}}, []Activity{
			signal(Send, 0, 100, 0, 1, 0), copying(10, 50, 1, 1, 1), signal(Receive, 50, 95, 1, 0, 0),
		}, "start_skew 1 0..10, copy 1 10..50, copy 1 50..95, wait 0 95..100"},
		{"an event of another stream", two, []Activity{
			on(2, copying(10, 80, 1, 1, 1)), on(2, signal(EventRecord, 80, 81, 1, -1, 0)),
			copying(10, 20, 1, 1, 1), signal(EventWait, 20, 83, 1, -1, 0), copying(83, 100, 1, 1, 1),
		}, "start_skew 1 0..10, copy 1 10..80, signal 1 80..81, wait 1 81..83, copy 1 83..100"},
		{"a call's waits", []Part{{Rank: 0, Start: 0, Finish: 100, Called: true}},
			[]Activity{copying(10, 20, 0, 0, 0), copying(70, 100, 0, 0, 0)},
			"wait 0 0..10, copy 0 10..20, wait 0 20..70, copy 0 70..100"},
		{"computing meanwhile", []Part{{Rank: 0, Start: 0, Finish: 100, Computing: []Interval{{0, 15}, {30, 40}, {50, 75}}}},
			[]Activity{copying(10, 20, 0, 0, 0), copying(70, 100, 0, 0, 0)},
			"compute 0 0..10, copy 0 10..20, host 0 20..30, compute 0 30..40, host 0 40..50, compute 0 50..70, copy 0 70..100"},
		{"a rank that left nothing", two, []Activity{signal(Wait, 10, 90, 1, 7, 1)},
			"start_skew 1 0..10, wait 1 10..90, host 1 90..100"},
	} {
		if got := describe(CriticalPath(c.parts, c.activities)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// checkPath has what must hold of every path, whatever the records say.
func checkPath(t *testing.T, parts []Part, activities []Activity, path []Segment) {
	t.Helper()
	start, end := parts[0].Start, parts[0].Finish
	for _, p := range parts {
		start, end = min(start, p.Start), max(end, p.Finish)
	}
	at, onPath := start, make(map[int]bool)
	for i := range path {
		s := &path[i]
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("segment %d goes from %d to %d, after %d: %s", i, s.Start, s.End, at, describe(path))
		}
		at = s.End
		if s.Activity < 0 {
			continue
		}
		a := &activities[s.Activity]
		if onPath[s.Activity] || a.Rank != s.Rank || s.Start < a.Start || s.End > a.End {
			t.Fatalf("segment %d, %+v, is not of %+v: %s", i, *s, *a, describe(path))
		}
		onPath[s.Activity] = true
	}
	if at != max(end, start) {
		t.Fatalf("the path ends at %d, the collective at %d: %s", at, end, describe(path))
	}
}

// pipeline invents a ring in which each rank waits for its left neighbour's
// signal, gets a slice, and signals its right one, without any delay but its
// own work: so the longest chain of work is the critical path.
func pipeline(r *rand.Rand, ranks, slices int) (parts []Part, activities []Activity) {
	steps := (ranks - 1) * slices
	ends := make([][]int64, ranks) // when rank has signalled step
	now := make([]int64, ranks)
	for rank := range ranks {
		now[rank] = r.Int64N(50)
		parts = append(parts, Part{Rank: rank, Start: now[rank]})
	}
	for step := range steps {
		for rank := range ranks {
			left := (rank + ranks - 1) % ranks
			add := func(kind ActivityKind, nanos int64, peer int) {
				activities = append(activities, Activity{
					Start: now[rank], End: now[rank] + nanos, Rank: rank, Stream: 1, Kind: kind, Peer: peer, Value: uint64(step + 1),
					Source: left, Dest: rank, Chunk: uint32(step / slices), Slice: uint32(step % slices),
				})
				now[rank] += nanos
			}
			if step >= slices {
				before := ends[left][step-slices]
				activities = append(activities, Activity{
					Start: now[rank], End: max(now[rank], before), Rank: rank, Stream: 1, Kind: Wait, Peer: left, Value: uint64(step - slices + 1),
				})
				now[rank] = max(now[rank], before)
			}
			add(Copy, 10+r.Int64N(90), left)
			add(Signal, 1, (rank+1)%ranks)
			ends[rank] = append(ends[rank], now[rank])
		}
	}
	for rank := range ranks {
		parts[rank].Finish = now[rank]
	}
	r.Shuffle(len(activities), func(i, j int) { activities[i], activities[j] = activities[j], activities[i] })
	return parts, activities
}

// TestPathOfPipelines finds a chain of nothing but work and start, which only
// the longest chain of a run without delays is.
func TestPathOfPipelines(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		parts, activities := pipeline(r, 2+r.IntN(6), 1+r.IntN(6))
		path := CriticalPath(parts, activities)
		checkPath(t, parts, activities, path)
		for i := range path {
			if k := path[i].Kind; k != CopySegment && k != SignalSegment && !(k == SkewSegment && i == 0) {
				t.Fatalf("seed %d: segment %d is %s: %s", seed, i, k, describe(path))
			}
		}
		if again := CriticalPath(parts, activities); !slices.Equal(path, again) {
			t.Fatalf("seed %d: the second path is another: %s", seed, describe(again))
		}
	}
}

// TestPathOfLongestChain compares the path's work with the longest chain that
// a naive search over all chains finds.
func TestPathOfLongestChain(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		parts, activities := pipeline(r, 2+r.IntN(4), 1+r.IntN(3))
		longest, end := int64(0), int64(0)
		for i := range activities {
			if activities[i].End > end {
				end, longest = activities[i].End, chain(activities, i)
			}
		}
		work := int64(0)
		for _, s := range CriticalPath(parts, activities) {
			if s.Kind != SkewSegment {
				work += s.Nanos()
			}
		}
		if work != longest {
			t.Fatalf("seed %d: the path has %d of work, the longest chain %d", seed, work, longest)
		}
	}
}

// chain is the naive form: the work of the chain that ends with an activity,
// where each follows one that ends when it starts.
func chain(activities []Activity, i int) int64 {
	a := &activities[i]
	own := a.End - a.Start
	if a.Kind == Wait {
		own = 0
	}
	longest := int64(0)
	for j := range activities {
		b := &activities[j]
		ahead := b.Rank == a.Rank && b.End == a.Start && (b.End > b.Start || b.Kind == Wait && a.Kind == Copy)
		signalled := a.Kind == Wait && b.Kind == Signal && b.Rank == a.Peer && b.Value == a.Value && b.End == a.End && a.End > a.Start
		if i != j && (ahead && !(a.Kind == Wait && a.End > a.Start) || signalled) {
			longest = max(longest, chain(activities, j))
		}
	}
	return own + longest
}

// TestPathOfNonsense takes records that nobody can have written.
func TestPathOfNonsense(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 11))
		ranks := 1 + r.IntN(4)
		var parts []Part
		for rank := range ranks {
			start := r.Int64N(100)
			parts = append(parts, Part{rank, start, start + r.Int64N(200), r.IntN(2) == 0, Union(randomIntervals(r))})
		}
		activities := make([]Activity, r.IntN(40))
		for i := range activities {
			start := r.Int64N(250)
			activities[i] = Activity{
				Start: start, End: start + r.Int64N(50), Rank: r.IntN(ranks), Stream: uint16(r.IntN(3)), Kind: ActivityKind(r.IntN(int(EventWait) + 1)),
				Peer: r.IntN(ranks+2) - 1, Slot: uint32(r.IntN(2)), Value: uint64(r.IntN(5)), Source: r.IntN(ranks), Dest: r.IntN(ranks),
				Chunk: uint32(r.IntN(2)), Slice: uint32(r.IntN(2)),
			}
		}
		checkPath(t, parts, activities, CriticalPath(parts, activities))
	}
}

// BenchmarkCriticalPath is of a long collective.
func BenchmarkCriticalPath(b *testing.B) {
	parts, activities := pipeline(rand.New(rand.NewPCG(1, 1)), 8, 4000)
	b.ReportMetric(float64(len(activities)), "activities")
	for b.Loop() {
		CriticalPath(parts, activities)
	}
}
