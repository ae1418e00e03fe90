package traces

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/traces/analysis"
)

// metric is something that a threshold can name.
type metric struct {
	name   string
	what   string   // for help
	stats  []string // that it comes in, nil if it is one number
	scales []scale  // nil for a plain number
	words  *words   // of what is not a number
	value  func(c *CollectiveStats, stat string) (v float64, measured bool)
	total  func(s *Summary) (v float64, measured bool) // of the run as a whole
}

var (
	statistics  = []string{"min", "p50", "p95", "p99", "max"}
	pathKinds   = []string{"copy", "reduce", "compute", "signal", "wait", "host", "start_skew", "call"}
	shareScales = []scale{{"%", 0.01}}
)

// metrics lists what a threshold can name, in the order in which help shows
// them.
var metrics = []metric{
	{name: "cct", what: "collective completion time", stats: statistics, scales: timeScales, value: timesValue(func(c *CollectiveStats) *Times { return c.CCT })},
	{name: "rcct", what: "rank-chunk completion time", stats: statistics, scales: timeScales, value: timesValue(func(c *CollectiveStats) *Times { return c.RCCT })},
	{name: "fct", what: "flow completion time", stats: statistics, scales: timeScales, value: timesValue(func(c *CollectiveStats) *Times { return c.FCT })},
	{name: "source_fct", what: "FCT of the worst source", stats: statistics, scales: timeScales, value: worstOf(func(f *FlowStats) (groups []*FlowGroup) {
		return rankGroups(f.Sources)
	})},
	{name: "dest_fct", what: "FCT of the worst destination", stats: statistics, scales: timeScales, value: worstOf(func(f *FlowStats) (groups []*FlowGroup) {
		return rankGroups(f.Dests)
	})},
	{name: "pair_fct", what: "FCT of the worst pair", stats: statistics, scales: timeScales, value: worstPair},
	{name: "algbw", what: "S by the median CCT", scales: rateScales, value: always(func(c *CollectiveStats) float64 { return c.AlgBW })},
	{name: "busbw", what: "algbw times nccl-tests' factor", scales: rateScales, value: always(func(c *CollectiveStats) float64 { return c.BusBW })},
	{name: "pair_bw", what: "bandwidth of the slowest pair", scales: rateScales, value: slowestPair},
	{name: "slowest_flow", what: "the slowest flow's share of its CCT", scales: shareScales, value: ofFlows(func(f *FlowStats) float64 { return f.Slowest.Share })},
	{name: "jain", what: "fairness of pairs, up to 1", value: ofFlows(func(f *FlowStats) float64 { return f.Jain })},
	{name: "max_mean", what: "bandwidth of the fastest pair over the mean", value: ofFlows(func(f *FlowStats) float64 { return f.MaxToMean })},
	{name: "straggler", what: "a rank that is slow in all it does", words: stragglerWords, total: (*Summary).straggler, value: func(c *CollectiveStats, _ string) (float64, bool) {
		return slowestOf(c.Stragglers), judged(c.RankScores)
	}},
	{name: "relative", what: "the slowest rank's pace against the others', up to 1", value: lowestScore(func(s *RankScore) float64 { return s.Relative })},
	{name: "individual", what: "against the rank's own best, up to 1", value: lowestScore(func(s *RankScore) float64 { return s.Individual })},
	{name: "exposed", what: "communication that no computation hides", scales: shareScales, value: ofOverlap(func(o *OverlapStats) float64 { return o.ExposedShare })},
	{name: "overlap", what: "how much of what could overlap does", scales: shareScales, value: ofOverlap(func(o *OverlapStats) float64 { return o.Fraction })},
	{name: "path", what: "share of the critical path of the slowest", stats: pathKinds, scales: shareScales, value: ofPath},
	{name: "count", what: "collectives in the statistics", value: always(func(c *CollectiveStats) float64 { return float64(c.Count) })},
	{name: "dropped", what: "records for which there was no room", total: func(s *Summary) (float64, bool) { return float64(s.Records.Dropped), true }},
	{name: "verified", what: "the host verified something, and all was right", words: verifiedWords, total: verified},
}

// words are the values of a metric that is not a number.
type words struct {
	choice string // of values, for people
	parse  func(word string) (float64, bool)
	print  func(float64) string
}

var verifiedWords = &words{
	"true or false",
	func(word string) (float64, bool) {
		return map[string]float64{"true": 1}[word], word == "true" || word == "false"
	},
	func(v float64) string { return strconv.FormatBool(v == 1) },
}

// nobody stands for no rank.
const nobody = -1

var stragglerWords = &words{
	"none or a rank",
	func(word string) (float64, bool) {
		if word == "none" {
			return nobody, true
		}
		rank, err := strconv.ParseUint(word, 10, 31)
		return float64(rank), err == nil
	},
	func(v float64) string {
		if v == nobody {
			return "none"
		}
		return fmt.Sprintf("rank %.0f", v)
	},
}

// ThresholdHint says in one line how a threshold is written.
func ThresholdHint() string {
	var names []string
	for i := range metrics {
		names = append(names, metrics[i].name)
	}
	return "write [COLLECTIVE.]METRIC[.STAT] COMPARISON VALUE, as in 'all_gather.cct.p99<5ms' or 'straggler==none': METRIC is " +
		strings.Join(names, ", ") + " (see ccrun report --help)"
}

// ThresholdMetrics lists what a threshold can name, with statistics, units and
// meaning, in a line each.
func ThresholdMetrics() string {
	var b strings.Builder
	for i := range metrics {
		b.WriteString(metrics[i].describe())
		b.WriteByte('\n')
	}
	return b.String()
}

// ThresholdStats names the statistics that metrics come in.
func ThresholdStats() string {
	return strings.Join(statistics, ", ") + "; of path " + strings.Join(pathKinds, ", ")
}

func (m *metric) describe() string {
	name := m.name
	if len(m.stats) > 0 {
		name += ".STAT"
	}
	var units []string
	for _, s := range m.scales {
		units = append(units, s.unit)
	}
	values := strings.Join(units, " ")
	if m.words != nil {
		values = m.words.choice
	}
	text := fmt.Sprintf("   %-16s %-24s %s", name, values, m.what)
	return strings.TrimRight(text, " ")
}

func findMetric(name string) *metric {
	for i := range metrics {
		if metrics[i].name == name {
			return &metrics[i]
		}
	}
	return nil
}

// verified is 1 if the host verified something and found no difference.
func verified(s *Summary) (float64, bool) {
	if s.VerifiedBytes > 0 && s.Mismatches == 0 {
		return 1, true
	}
	return 0, true
}

// The functions below make the value of a metric of what a row holds.

func always(of func(c *CollectiveStats) float64) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, _ string) (float64, bool) { return of(c), true }
}

func timesValue(of func(c *CollectiveStats) *Times) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, stat string) (float64, bool) {
		times := of(c)
		if times == nil {
			return 0, false
		}
		return times.stat(stat), true
	}
}

func (t *Times) stat(name string) float64 {
	switch name {
	case "min":
		return t.Min
	case "p50":
		return t.P50
	case "p95":
		return t.P95
	case "p99":
		return t.P99
	default:
		return t.Max
	}
}

func ofFlows(of func(f *FlowStats) float64) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, _ string) (float64, bool) {
		if c.Flows == nil {
			return 0, false
		}
		return of(c.Flows), true
	}
}

// worstOf is the longest time of all groups.
func worstOf(groups func(f *FlowStats) []*FlowGroup) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, stat string) (worst float64, measured bool) {
		if c.Flows == nil {
			return 0, false
		}
		for _, g := range groups(c.Flows) {
			worst = max(worst, g.FCT.stat(stat))
		}
		return worst, true
	}
}

func rankGroups(ranks []RankFlows) (groups []*FlowGroup) {
	for i := range ranks {
		groups = append(groups, &ranks[i].FlowGroup)
	}
	return groups
}

func worstPair(c *CollectiveStats, stat string) (worst float64, measured bool) {
	if c.Flows == nil {
		return 0, false
	}
	return c.Flows.worstPair.stat(stat), true
}

// slowestPair is the lowest bandwidth of a pair that moved bytes.
func slowestPair(c *CollectiveStats, _ string) (lowest float64, measured bool) {
	if c.Flows == nil || c.Flows.lowestBandwidth == 0 {
		return 0, false
	}
	return c.Flows.lowestBandwidth, true
}

// straggler is the slowest straggler of the run: of all its collectives
// together, or else of the first row that has one.
func (s *Summary) straggler() (float64, bool) {
	rank, measured := slowestOf(s.Stragglers), judged(s.rankScores)
	for i := range s.Collectives {
		if rank == nobody {
			rank = slowestOf(s.Collectives[i].Stragglers)
		}
	}
	return rank, measured
}

// slowestOf is nobody if there are none.
func slowestOf(stragglers []Straggler) float64 {
	rank, slowest := nobody, 1.0
	for i := range stragglers {
		if s := &stragglers[i]; s.Relative < slowest {
			rank, slowest = s.Rank, s.Relative
		}
	}
	return float64(rank)
}

// judged reports whether there was enough to find a straggler by.
func judged(scores []RankScore) bool {
	return slices.ContainsFunc(scores, func(s RankScore) bool { return s.Collectives >= analysis.MinCollectives })
}

func lowestScore(of func(s *RankScore) float64) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, _ string) (lowest float64, measured bool) {
		lowest = 1
		for i := range c.RankScores {
			lowest = min(lowest, of(&c.RankScores[i]))
		}
		return lowest, len(c.RankScores) > 0
	}
}

func ofOverlap(of func(o *OverlapStats) float64) func(*CollectiveStats, string) (float64, bool) {
	return func(c *CollectiveStats, _ string) (float64, bool) {
		if c.Overlap == nil {
			return 0, false
		}
		return of(c.Overlap), true
	}
}

func ofPath(c *CollectiveStats, kind string) (float64, bool) {
	if c.CriticalPaths == nil {
		return 0, false
	}
	return c.CriticalPaths.Slowest.kindShare(kind), true
}
