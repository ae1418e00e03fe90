package traces

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/analysis"
)

// randomRing is a run of a shape that a seed gives.
func randomRing(t *testing.T, seed uint64) *Run {
	r := rand.New(rand.NewPCG(seed, 21))
	g := ring{
		ranks: 2 + r.IntN(4), slices: 1 + r.IntN(4), iterations: 1 + r.IntN(8), sliceBytes: 1 << (6 + r.IntN(8)),
		sliceNanos: 50 + r.Int64N(4000), skew: r.Int64N(300), kind: []op.Kind{op.Put, op.Get, op.Send}[r.IntN(3)],
		slowRank: 1, slowTimes: r.Int64N(4),
	}
	rec := newRecording(t, g.ranks, 0)
	g.record(rec)
	return rec.open(t)
}

// TestCriticalPathsAddUp holds the promise that segments follow each other
// from the start of a collective to its end.
func TestCriticalPathsAddUp(t *testing.T) {
	for seed := range uint64(60) {
		run := randomRing(t, seed)
		for _, c := range run.Collectives() {
			at := c.Start()
			for _, s := range run.CriticalPath(c) {
				if s.Start != at {
					t.Fatalf("seed %d: a segment begins at %d, after %d", seed, s.Start, at)
				}
				at = s.End
			}
			if at != c.End() {
				t.Fatalf("seed %d: the path ends at %d, the collective at %d", seed, at, c.End())
			}
		}
		for _, row := range Summarize(run).Collectives {
			for _, p := range []*PathStats{row.CriticalPaths.Slowest, row.CriticalPaths.Median} {
				sum := int64(0)
				for _, c := range p.Contributors {
					sum += c.Nanos
				}
				if seconds(sum) != p.CCT {
					t.Fatalf("seed %d: contributors add up to %d ns, CCT is %g s", seed, sum, p.CCT)
				}
			}
			if row.CriticalPaths.Slowest.CCT != row.CCT.Max || row.CriticalPaths.Median.CCT != row.CCT.P50 {
				t.Fatalf("seed %d: paths are of %g and %g, want %g and %g", seed,
					row.CriticalPaths.Slowest.CCT, row.CriticalPaths.Median.CCT, row.CCT.Max, row.CCT.P50)
			}
		}
	}
}

// naiveTimes counts, for each point, how many values do not exceed it.
func naiveTimes(nanos []int64) *Times {
	point := func(percent int) float64 {
		least := int64(math.MaxInt64)
		for _, v := range nanos {
			covered := 0
			for _, other := range nanos {
				if other <= v {
					covered++
				}
			}
			if 100*covered >= percent*len(nanos) {
				least = min(least, v)
			}
		}
		return seconds(least)
	}
	return &Times{Min: seconds(slices.Min(nanos)), P50: point(50), P95: point(95), P99: point(99), Max: seconds(slices.Max(nanos))}
}

// TestFlowsAgainstNaive compares the flows by rank and by pair with what a
// search through all flows finds.
func TestFlowsAgainstNaive(t *testing.T) {
	for seed := range uint64(40) {
		run := randomRing(t, seed)
		row := Summarize(run).Collectives[0]
		find := func(wanted func(tr *Transfer) bool) (nanos []int64, bytes int64) {
			for _, c := range run.Collectives() {
				for i := range c.Transfers {
					if tr := &c.Transfers[i]; wanted(tr) {
						for _, f := range tr.Flows {
							nanos, bytes = append(nanos, f.FCT()), bytes+f.Bytes
						}
					}
				}
			}
			return nanos, bytes
		}
		check := func(what string, got FlowGroup, wanted func(tr *Transfer) bool) {
			nanos, bytes := find(wanted)
			sum := int64(0)
			for _, n := range nanos {
				sum += n
			}
			if got.Count != len(nanos) || got.Bytes != bytes || *got.FCT != *naiveTimes(nanos) ||
				math.Abs(got.Bandwidth*seconds(sum)-float64(bytes)) > 1e-6*float64(bytes) {
				t.Fatalf("seed %d: %s has %+v of %+v, want %d flows, %d bytes, %+v", seed, what, got, *got.FCT, len(nanos), bytes, *naiveTimes(nanos))
			}
		}
		for _, r := range row.Flows.Sources {
			check(fmt.Sprintf("source %d", r.Rank), r.FlowGroup, func(tr *Transfer) bool { return int(tr.Source) == r.Rank })
		}
		for _, r := range row.Flows.Dests {
			check(fmt.Sprintf("destination %d", r.Rank), r.FlowGroup, func(tr *Transfer) bool { return int(tr.Dest) == r.Rank })
		}
		for _, p := range row.Flows.Pairs {
			check(fmt.Sprintf("pair %d to %d", p.Source, p.Dest), p.FlowGroup, func(tr *Transfer) bool {
				return int(tr.Source) == p.Source && int(tr.Dest) == p.Dest
			})
		}
		all, _ := find(func(*Transfer) bool { return true })
		if row.Flows.Slowest.FCT != seconds(slices.Max(all)) || *row.FCT != *naiveTimes(all) {
			t.Fatalf("seed %d: slowest %g s, all %+v", seed, row.Flows.Slowest.FCT, *row.FCT)
		}
	}
}

// TestOverlapAgainstNaive counts nanosecond by nanosecond.
func TestOverlapAgainstNaive(t *testing.T) {
	const end = 400
	kinds := []string{"put", "get", "wait", "reduce", "copy", "signal", "gemm", "gemm", "barrier", "event_wait", "fill"}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 23))
		rec := newRecording(t, 2, 0)
		var want, wantRow analysis.Overlap
		var communication, ofRow, compute [2][end]bool
		for rank := range 2 {
			for range r.IntN(20) {
				kind, start, number := kinds[r.IntN(len(kinds))], r.IntN(300), r.IntN(2)
				stop := start + r.IntN(90)
				if err := rec.line(fmt.Sprintf("%d %s %d %d peer=%d bytes=8 c=%d stream=%d", rank, kind, start, stop, 1-rank, number, 1+r.IntN(3))); err != nil {
					t.Fatal(err)
				}
				for at := start; at < stop; at++ {
					switch kind {
					case "gemm":
						compute[rank][at] = true
					case "put", "get", "wait", "reduce", "barrier", "copy":
						communication[rank][at] = true
						ofRow[rank][at] = ofRow[rank][at] || number == 1
					}
				}
			}
			if err := rec.line(fmt.Sprintf("%d collective 0 %d c=1 op=all_gather bytes=16 ranks=2", rank, end-1)); err != nil {
				t.Fatal(err)
			}
			want.Add(count(communication[rank][:], compute[rank][:]))
		}
		run := rec.open(t)
		rows := rowsOf(run.Collectives())
		if got := run.overlaps(rows); got != want {
			t.Fatalf("seed %d: the run has %+v, want %+v", seed, got, want)
		}
		for _, row := range rows {
			for _, p := range row.counted[0].Parts {
				wantRow.Add(count(ofRow[p.Rank][p.Start:p.Finish], compute[p.Rank][p.Start:p.Finish]))
			}
			if row.overlap != wantRow {
				t.Fatalf("seed %d: the row has %+v, want %+v", seed, row.overlap, wantRow)
			}
		}
	}
}

func count(communication, compute []bool) (o analysis.Overlap) {
	for at := range communication {
		if communication[at] {
			o.Communication++
		}
		if compute[at] {
			o.Compute++
		}
		if communication[at] && compute[at] {
			o.Both++
		}
	}
	return o
}

// TestWorkOfReductions counts a reduction once, however many peers it reads,
// and does not compare it with one that reads another number of them.
func TestWorkOfReductions(t *testing.T) {
	rec := newRecording(t, 3, 0)
	for _, line := range []string{
		"0 reduce 0 100 c=1 peer=1 bytes=64 stream=1",
		"0 reduce 0 100 c=1 peer=2 bytes=64 stream=1",
		"0 reduce 100 150 c=1 peer=1 bytes=64 stream=1",
		"1 get 0 40 c=1 peer=0 bytes=64 stream=1",
		"2 put 0 30 c=1 peer=0 bytes=64 stream=1",
		"2 copy 30 35 c=1 bytes=64 stream=1",
	} {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	work := workOf(rec.open(t).Collectives()[0])
	slices.SortFunc(work, func(a, b analysis.Work) int { return cmp.Or(a.Rank-b.Rank, cmp.Compare(b.Nanos, a.Nanos)) })
	var got []string
	classes := map[uint64]bool{}
	for _, w := range work {
		got = append(got, fmt.Sprintf("%d:%dB/%dns", w.Rank, w.Bytes, w.Nanos))
		classes[w.Class] = true
	}
	want := []string{"0:64B/100ns", "0:64B/50ns", "1:64B/40ns", "2:64B/30ns", "2:64B/5ns"}
	if !slices.Equal(got, want) || len(classes) != len(want) {
		t.Errorf("work %v in %d classes, want %v, each in its own", got, len(classes), want)
	}
}
