package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/traces/analysis"
)

// maxPairs is how many pairs of ranks a row lists: those with the lowest
// bandwidth.
const maxPairs = 256

// FlowGroup is what the flows of one rank or of one pair of ranks have in
// common.
type FlowGroup struct {
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
	FCT   *Times `json:"fct_s"`
	// Bandwidth is bytes per second of flow completion time: what the flows had
	// while they were under way, the mean over all of them.
	Bandwidth float64 `json:"bandwidth"`
}

// RankFlows are the flows that leave or that reach one rank.
type RankFlows struct {
	Rank int `json:"rank"`
	FlowGroup
}

// PairFlows are the flows from one rank to another.
type PairFlows struct {
	Source int `json:"source"`
	Dest   int `json:"dest"`
	FlowGroup
}

// FlowStats say how bytes moved between the ranks of a row.
type FlowStats struct {
	Sources []RankFlows `json:"by_source"`
	Dests   []RankFlows `json:"by_dest"`
	// Pairs are in order of source and destination. Of more than 256 only the
	// ones with the lowest bandwidth are listed, and PairsLeftOut counts the rest.
	Pairs        []PairFlows  `json:"pairs"`
	PairsLeftOut int          `json:"pairs_left_out,omitempty"`
	Slowest      *SlowestFlow `json:"slowest"`
	// Jain is Jain's fairness index over the bandwidths of all pairs that moved
	// bytes, and MaxToMean the highest of them over their mean.
	Jain      float64 `json:"jain"`
	MaxToMean float64 `json:"max_to_mean"`

	// Of all pairs, also of those that are not listed.
	worstPair       Times   // the longest that a pair has at each point
	lowestBandwidth float64 // of a pair that moved bytes, 0 if none did
	outstanding     *outstandingPair
}

// outstandingPair is a pair whose median flow takes much longer than the median
// pair's.
type outstandingPair struct {
	PairFlows
	times float64 // how many times that
}

// SlowestFlow is the flow that took longest, the first one if several did.
type SlowestFlow struct {
	Collective uint32  `json:"collective"` // sequence number in its group
	Group      uint16  `json:"group"`
	Chunk      uint32  `json:"chunk"`
	Step       uint16  `json:"step"`
	Flow       uint16  `json:"flow"`
	Source     int     `json:"source"`
	Dest       int     `json:"dest"`
	Bytes      int64   `json:"bytes"`
	FCT        float64 `json:"fct_s"`
	Share      float64 `json:"share_of_cct"`
}

type ranksPair struct{ source, dest int32 }

// flowTally gathers the flows of a row.
type flowTally struct {
	pairs   map[ranksPair]*flowSamples
	slowest *SlowestFlow
	longest int64
}

// flowSamples are completion times in nanoseconds.
type flowSamples struct {
	nanos []int64
	bytes int64
}

func (s *flowSamples) merge(other *flowSamples) {
	s.nanos = append(s.nanos, other.nanos...)
	s.bytes += other.bytes
}

// add enters the flows of a collective.
func (t *flowTally) add(c *Collective) {
	if t.pairs == nil {
		t.pairs = make(map[ranksPair]*flowSamples)
	}
	for i := range c.Transfers {
		tr := &c.Transfers[i]
		key := ranksPair{tr.Source, tr.Dest}
		samples := t.pairs[key]
		if samples == nil {
			samples = new(flowSamples)
			t.pairs[key] = samples
		}
		for j := range tr.Flows {
			f := &tr.Flows[j]
			samples.nanos = append(samples.nanos, f.FCT())
			samples.bytes += f.Bytes
			if t.slowest == nil || f.FCT() > t.longest {
				t.longest, t.slowest = f.FCT(), slowestFlow(c, tr, f)
			}
		}
	}
}

func slowestFlow(c *Collective, t *Transfer, f *Flow) *SlowestFlow {
	s := &SlowestFlow{
		Collective: c.Sequence, Group: c.Group, Chunk: t.Chunk, Step: t.Step, Flow: f.ID,
		Source: int(t.Source), Dest: int(t.Dest), Bytes: f.Bytes, FCT: seconds(f.FCT()),
	}
	if cct := c.CCT(); cct > 0 {
		s.Share = float64(f.FCT()) / float64(cct)
	}
	return s
}

// all gives the completion times of all flows.
func (t *flowTally) all() []int64 {
	total := 0
	for _, s := range t.pairs {
		total += len(s.nanos)
	}
	nanos := make([]int64, 0, total)
	for _, s := range t.pairs {
		nanos = append(nanos, s.nanos...)
	}
	return nanos
}

// stats is nil if no flows were recorded.
func (t *flowTally) stats() *FlowStats {
	if t.slowest == nil {
		return nil
	}
	out := &FlowStats{Slowest: t.slowest}
	sources, dests := make(map[int32]*flowSamples), make(map[int32]*flowSamples)
	for pair, samples := range t.pairs {
		addTo(sources, pair.source, samples)
		addTo(dests, pair.dest, samples)
		out.Pairs = append(out.Pairs, PairFlows{int(pair.source), int(pair.dest), samples.group()})
	}
	out.Sources, out.Dests = rankFlows(sources), rankFlows(dests)
	slices.SortFunc(out.Pairs, byRanks)
	out.comparePairs()
	out.limitPairs()
	return out
}

// comparePairs sets what is of all pairs. It comes before some are left out of
// the list.
func (f *FlowStats) comparePairs() {
	var bandwidths []float64
	for i := range f.Pairs {
		p := &f.Pairs[i]
		f.worstPair.raise(p.FCT)
		if p.Bandwidth > 0 { // what moved nothing has none
			bandwidths = append(bandwidths, p.Bandwidth)
		}
	}
	if len(bandwidths) > 0 {
		f.lowestBandwidth = slices.Min(bandwidths)
	}
	f.Jain, f.MaxToMean = analysis.Jain(bandwidths), analysis.MaxToMean(bandwidths)
	f.outstanding = findOutstanding(f.Pairs)
}

func addTo(ranks map[int32]*flowSamples, rank int32, samples *flowSamples) {
	if ranks[rank] == nil {
		ranks[rank] = new(flowSamples)
	}
	ranks[rank].merge(samples)
}

func byRanks(a, b PairFlows) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest))
}

// bySlowness puts the lowest bandwidth first, and what moved nothing and so has
// none last.
func bySlowness(a, b PairFlows) int {
	if (a.Bandwidth == 0) != (b.Bandwidth == 0) {
		return cmp.Compare(b.Bandwidth, a.Bandwidth)
	}
	return cmp.Or(cmp.Compare(a.Bandwidth, b.Bandwidth), byRanks(a, b))
}

// limitPairs keeps the pairs with the lowest bandwidth, in order of ranks.
func (f *FlowStats) limitPairs() {
	if len(f.Pairs) <= maxPairs {
		return
	}
	slices.SortFunc(f.Pairs, bySlowness)
	f.PairsLeftOut = len(f.Pairs) - maxPairs
	f.Pairs = slices.Clone(f.Pairs[:maxPairs])
	slices.SortFunc(f.Pairs, byRanks)
}

func rankFlows(ranks map[int32]*flowSamples) []RankFlows {
	out := make([]RankFlows, 0, len(ranks))
	for rank, samples := range ranks {
		out = append(out, RankFlows{int(rank), samples.group()})
	}
	slices.SortFunc(out, func(a, b RankFlows) int { return a.Rank - b.Rank })
	return out
}

func (s *flowSamples) group() FlowGroup {
	sum := int64(0)
	for _, n := range s.nanos {
		sum += n
	}
	g := FlowGroup{Count: len(s.nanos), Bytes: s.bytes, FCT: timesOf(s.nanos)}
	if sum > 0 {
		g.Bandwidth = float64(s.bytes) / seconds(sum)
	}
	return g
}

// Standing-out pairs: enough flows, and the median of them this many times the
// median pair's.
const (
	standsOutCount = 5
	standsOutTimes = 2
)

// findOutstanding gives the pair whose median flow takes longest, if that is
// much longer than the median pair's; nil if none is.
func findOutstanding(pairs []PairFlows) *outstandingPair {
	var pair *PairFlows
	var medians []float64
	for i := range pairs {
		p := &pairs[i]
		medians = append(medians, p.FCT.P50)
		if pair == nil || p.FCT.P50 > pair.FCT.P50 {
			pair = p
		}
	}
	slices.Sort(medians)
	if len(medians) < 3 || pair.Count < standsOutCount {
		return nil
	}
	usual := medians[(len(medians)-1)/2]
	if usual <= 0 || pair.FCT.P50 < standsOutTimes*usual {
		return nil
	}
	return &outstandingPair{*pair, pair.FCT.P50 / usual}
}
