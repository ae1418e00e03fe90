package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/analysis"
)

// Summary is a run in numbers. Its fields are those of the same name in the
// object that --json prints: times in seconds, sizes in bytes, rates in bytes
// per second.
type Summary struct {
	Collectives []CollectiveStats    `json:"collectives"`
	Shares      Shares               `json:"shares"`
	Memory      Memory               `json:"memory"`
	Records     Records              `json:"records"`
	Marks       map[string]MarkStats `json:"marks"`

	// Stragglers are the ranks that are slow over the collectives of all rows,
	// and Overlap is of the whole run, null if nobody communicated.
	Stragglers []Straggler   `json:"stragglers"`
	Overlap    *OverlapStats `json:"overlap"`

	rankScores []RankScore // over the collectives of all rows

	// Ranks is the size of the run, Missing the ranks whose file could not be
	// read.
	Ranks   int   `json:"-"`
	Missing []int `json:"-"`
	// VerifiedBytes and Mismatches are what the host's verification found on
	// all ranks.
	VerifiedBytes int64 `json:"-"`
	Mismatches    int64 `json:"-"`
}

// CollectiveStats are the collectives of one kind, algorithm and size.
// Warm-ups, collectives that not every rank completed, and those on which ranks
// disagree count in their own fields only.
type CollectiveStats struct {
	Op          string  `json:"op"`
	Algorithm   string  `json:"algorithm"`
	Count       int     `json:"count"`
	Bytes       uint64  `json:"bytes"` // S as nccl-tests counts it
	CCT         *Times  `json:"cct_s"`
	RCCT        *Times  `json:"rcct_s"` // null if no transfers were recorded
	FCT         *Times  `json:"fct_s"`
	AlgBW       float64 `json:"algbw"` // Bytes per median CCT
	BusBW       float64 `json:"busbw"` // AlgBW times nccl-tests' factor
	SlowestRank int     `json:"slowest_rank"`

	Ranks        int `json:"ranks"` // that take part
	SlowestCount int `json:"slowest_count"`
	Warmups      int `json:"warmups"`
	Incomplete   int `json:"incomplete"`

	// What explains the times, as far as it was recorded.
	Flows         *FlowStats     `json:"flows,omitempty"`
	RankScores    []RankScore    `json:"rank_scores,omitempty"`
	Stragglers    []Straggler    `json:"stragglers,omitempty"`
	Overlap       *OverlapStats  `json:"overlap,omitempty"`
	CriticalPaths *CriticalPaths `json:"critical_paths,omitempty"`

	// Broken counts the collectives that break a rule which ties the terms
	// together, and Breach is the first of these (see [Collective.Check]).
	Broken int    `json:"broken,omitempty"`
	Breach string `json:"breach,omitempty"`
	// Disagreeing counts those on which ranks disagree, in the row of what the
	// lowest rank says, and Disagreement is the first of these.
	Disagreeing  int    `json:"disagreeing,omitempty"`
	Disagreement string `json:"disagreement,omitempty"`
}

// Shares counts look-ups of peers' buffers on all ranks.
type Shares struct {
	Hits      int64 `json:"hits"`      // answered from the cache
	Misses    int64 `json:"misses"`    // that had to ask
	Exchanges int64 `json:"exchanges"` // handles asked for at the rendezvous: one per miss
}

// Memory is the highest use of memory in bytes, by rank.
type Memory struct {
	DevicePeak []int64 `json:"device_peak"`
	GuestPeak  []int64 `json:"guest_peak"` // filled in by who ran the guests
}

// Records counts flight records of all ranks.
type Records struct {
	Written  int64 `json:"written"`
	Dropped  int64 `json:"dropped"`            // for want of room
	Damaged  int64 `json:"damaged,omitempty"`  // that make no sense
	Unplaced int64 `json:"unplaced,omitempty"` // of a collective whose group was not recorded, in a run of several groups
}

// MarkStats are the guest's own spans of one name.
type MarkStats struct {
	Count int    `json:"count"`
	Time  *Times `json:"time_s"`
}

// Summarize reduces the records of all ranks to numbers.
func Summarize(r *Run) *Summary {
	s := &Summary{
		Ranks: r.size, Collectives: []CollectiveStats{}, Marks: make(map[string]MarkStats),
		Memory: Memory{DevicePeak: make([]int64, r.size), GuestPeak: []int64{}}, Stragglers: []Straggler{},
	}
	all := r.gather()
	s.Records.Damaged, s.Records.Unplaced = all.damaged, all.unplaced
	rows := rowsOf(all.list)
	s.Overlap = overlapStats(r.overlaps(rows))
	r.criticalPaths(rows)
	s.addRows(rows)
	s.addCounters(r)
	s.addMarks(r)
	return s
}

// row collects the figures of one line of the summary.
type row struct {
	CollectiveStats
	cct, rcct  []int64
	stragglers map[int]int   // rank -> collectives that it delayed
	counted    []*Collective // that make up the statistics
	flows      flowTally
	paces      analysis.Paces
	scores     *analysis.Scores
	overlap    analysis.Overlap
}

type rowKey struct {
	collectiveOp op.CollectiveOp
	algorithm    string
	bytes        uint64
	ranks        int
}

// rowsOf sorts collectives into rows.
func rowsOf(collectives []*Collective) map[rowKey]*row {
	rows := make(map[rowKey]*row)
	for _, c := range collectives {
		if c.Sequence == 0 || len(c.Parts) == 0 {
			continue
		}
		key := rowKey{c.Op, c.Algorithm, c.Bytes, c.Ranks}
		if rows[key] == nil {
			rows[key] = &row{stragglers: make(map[int]int), CollectiveStats: CollectiveStats{
				Op: c.Op.String(), Algorithm: c.Algorithm, Bytes: c.Bytes, Ranks: c.Ranks,
			}}
		}
		rows[key].add(c)
	}
	return rows
}

func (s *Summary) addRows(rows map[rowKey]*row) {
	var scores analysis.Scores
	for key, r := range rows {
		s.Collectives = append(s.Collectives, r.stats(key.collectiveOp))
		scores.Merge(r.scores)
	}
	var stragglers []Straggler
	s.rankScores, stragglers = scoresOf(&scores)
	s.Stragglers = append(s.Stragglers, stragglers...)
	slices.SortFunc(s.Collectives, func(a, b CollectiveStats) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Ranks, b.Ranks))
	})
}

func (r *row) add(c *Collective) {
	if c.Disagreement != "" {
		r.Disagreeing++
		r.Disagreement = cmp.Or(r.Disagreement, c.Disagreement)
		return
	}
	if err := c.Check(); err != nil {
		r.Broken++
		r.Breach = cmp.Or(r.Breach, err.Error())
	}
	switch {
	case !c.Complete:
		r.Incomplete++
		return
	case c.Warmup:
		r.Warmups++
		return
	}
	r.Count++
	r.counted = append(r.counted, c)
	r.cct = append(r.cct, c.CCT())
	r.stragglers[c.Straggler()]++
	for i := range c.Transfers {
		r.rcct = append(r.rcct, c.Transfers[i].RCCT())
	}
	r.flows.add(c)
	r.paces.Add(workOf(c))
}

// slowest is the collective that took longest, the first one if several did,
// nil if there is none.
func (r *row) slowest() *Collective {
	var slowest *Collective
	for _, c := range r.counted {
		if slowest == nil || c.CCT() > slowest.CCT() {
			slowest = c
		}
	}
	return slowest
}

// median is the first collective whose time is the median, nil if there is
// none.
func (r *row) median() *Collective {
	sorted := slices.SortedStableFunc(slices.Values(r.counted), func(a, b *Collective) int { return cmp.Compare(a.CCT(), b.CCT()) })
	if len(sorted) == 0 {
		return nil
	}
	return sorted[(len(sorted)-1)/2]
}

func (r *row) stats(collectiveOp op.CollectiveOp) CollectiveStats {
	out := r.CollectiveStats
	out.CCT, out.RCCT, out.FCT = timesOf(r.cct), timesOf(r.rcct), timesOf(r.flows.all())
	out.Flows, out.Overlap = r.flows.stats(), overlapStats(r.overlap)
	r.scores = r.paces.Scores()
	out.RankScores, out.Stragglers = scoresOf(r.scores)
	if out.CCT != nil {
		out.AlgBW, out.BusBW = bandwidth(collectiveOp, out.Bytes, out.Ranks, out.CCT.P50)
	}
	out.SlowestRank = -1
	for rank, count := range r.stragglers {
		if count > out.SlowestCount || count == out.SlowestCount && rank < out.SlowestRank {
			out.SlowestRank, out.SlowestCount = rank, count
		}
	}
	return out
}

// bandwidth gives nccl-tests' two figures in bytes per second, zeros for a
// time of zero.
func bandwidth(collectiveOp op.CollectiveOp, bytes uint64, ranks int, secs float64) (algBW, busBW float64) {
	if secs <= 0 {
		return 0, 0
	}
	algBW = float64(bytes) / secs
	return algBW, algBW * collectiveOp.BusFactor(ranks)
}

func (s *Summary) addCounters(r *Run) {
	present := make(map[int]bool, len(r.logs))
	for _, log := range r.logs {
		n := log.Counters()
		present[log.Rank] = true
		s.Records.Written += n.Records - n.Dropped
		s.Records.Dropped += n.Dropped
		s.Shares.Hits += n.ShareHits
		s.Shares.Misses += n.ShareMisses
		s.Memory.DevicePeak[log.Rank] = n.BufferPeak
		s.VerifiedBytes += n.Verified
		s.Mismatches += n.Mismatches
	}
	s.Shares.Exchanges = s.Shares.Misses
	for rank := range r.size {
		if !present[rank] {
			s.Missing = append(s.Missing, rank)
		}
	}
}

func (s *Summary) addMarks(r *Run) {
	nanos := make(map[string][]int64)
	for _, log := range r.logs {
		for rec := range log.Records() {
			if op.Kind(rec.Kind) == op.Mark && rec.Status == flight.StatusOK && believable(&rec) {
				name := markName(log, &rec)
				nanos[name] = append(nanos[name], rec.End-rec.Start)
			}
		}
	}
	for name, list := range nanos {
		s.Marks[name] = MarkStats{Count: len(list), Time: timesOf(list)}
	}
}
