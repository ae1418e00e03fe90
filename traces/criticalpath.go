package traces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/analysis"
)

// CriticalPaths are those of two collectives of a row: of the slowest, and of
// the one whose time is the median.
type CriticalPaths struct {
	Slowest *PathStats `json:"slowest"`
	Median  *PathStats `json:"median"`
}

// PathStats say what the time of one collective is made of.
type PathStats struct {
	Sequence uint32  `json:"collective"` // sequence number in its group
	Group    uint16  `json:"group"`
	CCT      float64 `json:"cct_s"`
	// Contributors are the times on the path by rank and kind, the largest
	// first. They add up to CCT.
	Contributors []PathShare `json:"contributors"`
}

// PathShare is how long one rank was on the critical path with one kind of
// doing: copy, reduce, compute, signal, wait, host, start_skew or call.
type PathShare struct {
	Rank  int     `json:"rank"`
	Kind  string  `json:"kind"`
	Nanos int64   `json:"ns"`
	Share float64 `json:"share"`
}

// Text is the path in a line: the contributors that matter.
func (p *PathStats) Text() string {
	const most, least = 4, 0.05
	var words []string
	for i, c := range p.Contributors {
		if i >= most || i > 0 && c.Share < least {
			break
		}
		words = append(words, fmt.Sprintf("%s %% %s", significant(100*c.Share), c.what()))
	}
	return strings.Join(words, ", ")
}

// what says who did what, in the plural.
func (s *PathShare) what() string {
	noun := map[string]string{
		"copy": "copies of", "reduce": "reductions of", "compute": "computing of", "signal": "signals of",
		"wait": "waits of", "host": "pauses of", "start_skew": "late start of", "call": "call of",
	}[s.Kind]
	return fmt.Sprintf("%s rank %d", noun, s.Rank)
}

// kindShare is the share of one kind on all ranks.
func (p *PathStats) kindShare(kind string) float64 {
	sum := 0.0
	for _, c := range p.Contributors {
		if c.Kind == kind {
			sum += c.Share
		}
	}
	return sum
}

// CriticalPath is the chain of operations that the time of a collective is
// made of, in order of time and without gaps: segments add up to CCT.
func (r *Run) CriticalPath(c *Collective) []analysis.Segment {
	d := r.pathDrafts([]*Collective{c})[c]
	return analysis.CriticalPath(d.parts, d.activities)
}

// rankNumber is a rank's own number of a collective.
type rankNumber struct {
	rank   int
	number uint32
}

// pathDraft is what the critical path of a collective is computed from.
type pathDraft struct {
	parts      []analysis.Part
	activities []analysis.Activity
}

// pathDrafts reads the records of some collectives again.
func (r *Run) pathDrafts(collectives []*Collective) map[*Collective]*pathDraft {
	drafts := make(map[*Collective]*pathDraft, len(collectives))
	byNumber := make(map[rankNumber]*pathDraft)
	for _, c := range collectives {
		if drafts[c] != nil {
			continue
		}
		d := &pathDraft{parts: make([]analysis.Part, len(c.Parts))}
		for i := range c.Parts {
			p := &c.Parts[i]
			d.parts[i] = analysis.Part{Rank: p.Rank, Start: p.Start, Finish: p.Finish}
			byNumber[rankNumber{p.Rank, p.number}] = d
		}
		drafts[c] = d
	}
	for _, log := range r.logs {
		computing := addActivities(log, byNumber)
		for _, d := range drafts {
			d.addComputing(log.Rank, computing)
		}
	}
	return drafts
}

// addActivities enters a rank's records, and gives the times in which it
// computed.
func addActivities(log *flight.Log, drafts map[rankNumber]*pathDraft) []analysis.Interval {
	var computing []analysis.Interval
	for rec := range log.Records() {
		if !believable(&rec) {
			continue
		}
		if op.Kind(rec.Kind) == op.Gemm {
			computing = append(computing, analysis.Interval{Start: rec.Start, End: rec.End})
		}
		if rec.Collective == 0 {
			continue
		}
		if d := drafts[rankNumber{log.Rank, rec.Collective}]; d != nil {
			d.add(log, &rec)
		}
	}
	return analysis.Union(computing)
}

func (d *pathDraft) addComputing(rank int, computing []analysis.Interval) {
	for i := range d.parts {
		if p := &d.parts[i]; p.Rank == rank {
			p.Computing = analysis.Within(computing, analysis.Interval{Start: p.Start, End: p.Finish})
		}
	}
}

// activityKind says what an operation is to a path, false if it cannot be on
// one.
func activityKind(kind op.Kind) (analysis.ActivityKind, bool) {
	switch kind {
	case op.Copy, op.CopyBox, op.Put, op.Get, op.GetBox:
		return analysis.Copy, true
	case op.Reduce:
		return analysis.Reduce, true
	case op.Gemm, op.Fill, op.Verify, op.Digest:
		return analysis.Compute, true
	case op.Signal:
		return analysis.Signal, true
	case op.Wait:
		return analysis.Wait, true
	case op.Send:
		return analysis.Send, true
	case op.Recv:
		return analysis.Receive, true
	case op.EventRecord:
		return analysis.EventRecord, true
	case op.EventWait:
		return analysis.EventWait, true
	default:
		return 0, false
	}
}

func (d *pathDraft) add(log *flight.Log, rec *flight.Record) {
	kind := op.Kind(rec.Kind)
	if kind == op.Collective && rec.Stream != 0 {
		for i := range d.parts {
			d.parts[i].Called = d.parts[i].Called || d.parts[i].Rank == log.Rank
		}
	}
	activity, ok := activityKind(kind)
	if !ok {
		return
	}
	a := analysis.Activity{
		Start: rec.Start, End: rec.End, Rank: log.Rank, Stream: rec.Stream, Kind: activity, Peer: int(rec.Peer),
		Slot: rec.Aux, Value: rec.Bytes, Source: log.Rank, Dest: log.Rank, Chunk: rec.Chunk, Slice: rec.Slice,
	}
	if rec.Peer >= 0 {
		switch kind {
		case op.Put:
			a.Dest = int(rec.Peer)
		case op.Get, op.GetBox, op.Reduce:
			a.Source = int(rec.Peer)
		}
	}
	d.activities = append(d.activities, a)
}

// criticalPaths sets those of each row.
func (r *Run) criticalPaths(rows map[rowKey]*row) {
	var wanted []*Collective
	for _, row := range rows {
		wanted = append(wanted, row.slowest(), row.median())
	}
	wanted = slices.DeleteFunc(wanted, func(c *Collective) bool { return c == nil })
	drafts := r.pathDrafts(wanted)
	for _, row := range rows {
		if len(row.counted) == 0 {
			continue
		}
		row.CriticalPaths = &CriticalPaths{pathStats(row.slowest(), drafts), pathStats(row.median(), drafts)}
	}
}

func pathStats(c *Collective, drafts map[*Collective]*pathDraft) *PathStats {
	d := drafts[c]
	type key struct {
		rank int
		kind analysis.SegmentKind
	}
	sums := make(map[key]int64)
	for _, s := range analysis.CriticalPath(d.parts, d.activities) {
		sums[key{s.Rank, s.Kind}] += s.Nanos()
	}
	p := &PathStats{Sequence: c.Sequence, Group: c.Group, CCT: seconds(c.CCT()), Contributors: []PathShare{}}
	for k, nanos := range sums {
		p.Contributors = append(p.Contributors, PathShare{k.rank, k.kind.String(), nanos, float64(nanos) / float64(c.CCT())})
	}
	slices.SortFunc(p.Contributors, func(a, b PathShare) int {
		return cmp.Or(cmp.Compare(b.Nanos, a.Nanos), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Kind, b.Kind))
	})
	return p
}
