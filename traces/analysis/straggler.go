package analysis

import (
	"maps"
	"math"
	"slices"
)

// What it takes to call a rank a straggler. A slow rank is slow in every
// operation; a rank that the scheduler took off its core, or whose neighbour's
// cache was warm, is slow in some. So a rank's fast operations are compared
// with the usual ones of the others, and it takes a large effect in nearly
// every collective, beyond what the others' own values vary.
const (
	// MinCollectives is how many collectives a verdict needs.
	MinCollectives = 5
	// SlowScore is the relative score below which a rank may be a straggler.
	SlowScore = 0.6
	// oftenScore and oftenShare: the rank is that slow in this part of them.
	oftenScore, oftenShare = 2. / 3, 0.8
	// minExcessNanos is what an operation must take longer. Below that, it is
	// whose cache a few bytes lay in that is measured.
	minExcessNanos = 1000
	// minDeviations is how many standard deviations of the others' scores the
	// rank is away.
	minDeviations = 3
)

// Scores are how the ranks did in a number of collectives.
type Scores struct {
	byRank map[int]*history
}

// history is one rank's collectives.
type history struct {
	collectives []collectiveScore
}

// collectiveScore is how fast one rank was in one collective.
type collectiveScore struct {
	relative   float64 // the others' time for the same bytes over the rank's own
	individual float64 // the time of the rank's best collective over this one's
	pace       float64 // nanoseconds a byte
	excess     float64 // nanoseconds that an operation took longer than the others'
}

// Score is how one rank did, over all collectives.
type Score struct {
	Rank int
	// Relative is 1 if the rank is as fast as the others, 0.5 if it takes twice
	// their time for the same bytes. It is the median over collectives, and at
	// most 1.
	Relative float64
	// Individual is the same against the rank's own best collectives.
	Individual float64
	// BytesPerSec is what the rank moved and reduced while it did nothing else,
	// and OthersBytesPerSec what the median one of the others would have.
	BytesPerSec, OthersBytesPerSec float64
	// Slow counts the collectives in which the rank was clearly slower than the
	// others, of Collectives in all.
	Slow, Collectives int
	// Straggler is the verdict.
	Straggler bool
}

// add enters one collective.
func (s *Scores) add(ranks map[int]*rankSums) {
	for rank, sum := range ranks {
		if sum.own <= 0 || sum.others <= 0 {
			continue
		}
		h := s.history(rank)
		h.collectives = append(h.collectives, collectiveScore{
			relative: min(1, sum.others/sum.own), pace: sum.own / sum.bytes,
			excess: (sum.own - sum.others) / sum.operations,
		})
	}
}

func (s *Scores) history(rank int) *history {
	h := s.byRank[rank]
	if h == nil {
		h = new(history)
		s.byRank[rank] = h
	}
	return h
}

// Merge adds the collectives of other scores.
func (s *Scores) Merge(other *Scores) {
	if s.byRank == nil {
		s.byRank = make(map[int]*history)
	}
	for rank, h := range other.byRank {
		mine := s.history(rank)
		mine.collectives = append(mine.collectives, h.collectives...)
	}
}

// compareToBest sets the individual scores. The best is the tenth percentile,
// so that one lucky collective does not make all others slow.
func (s *Scores) compareToBest() {
	for _, h := range s.byRank {
		paces := make([]float64, 0, len(h.collectives))
		for _, c := range h.collectives {
			paces = append(paces, c.pace)
		}
		slices.Sort(paces)
		best := paces[(len(paces)-1)/10]
		for i := range h.collectives {
			c := &h.collectives[i]
			c.individual = min(1, best/c.pace)
		}
	}
}

// Ranks gives the scores of all ranks that could be compared with others, in
// order.
func (s *Scores) Ranks() []Score {
	scores := make([]Score, 0, len(s.byRank))
	for _, rank := range slices.Sorted(maps.Keys(s.byRank)) {
		scores = append(scores, s.score(rank))
	}
	return scores
}

func (s *Scores) score(rank int) Score {
	h := s.byRank[rank]
	rate, excess := h.median(collectiveScore.rate), h.median(collectiveScore.getExcess)
	score := Score{
		Rank: rank, Collectives: len(h.collectives),
		Relative: h.median(collectiveScore.getRelative), Individual: h.median(collectiveScore.getIndividual),
		BytesPerSec: rate,
	}
	score.OthersBytesPerSec = score.BytesPerSec / score.Relative
	for _, c := range h.collectives {
		if c.relative < oftenScore {
			score.Slow++
		}
	}
	often := float64(score.Slow) >= oftenShare*float64(score.Collectives)
	score.Straggler = score.Collectives >= MinCollectives && score.Relative < SlowScore && often &&
		excess >= minExcessNanos && s.farFromOthers(rank, score.Relative)
	return score
}

func (c collectiveScore) rate() float64          { return 1e9 / c.pace }
func (c collectiveScore) getExcess() float64     { return c.excess }
func (c collectiveScore) getRelative() float64   { return c.relative }
func (c collectiveScore) getIndividual() float64 { return c.individual }

func (h *history) median(of func(collectiveScore) float64) float64 {
	values := make([]float64, len(h.collectives))
	for i, c := range h.collectives {
		values[i] = of(c)
	}
	return median(values)
}

// median sorts the values and gives the lower middle one.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// farFromOthers reports whether the score is away from those of the other
// ranks by more than these vary from collective to collective, judged by the
// median absolute deviation.
func (s *Scores) farFromOthers(rank int, relative float64) bool {
	var others []float64
	for other, h := range s.byRank {
		if other == rank {
			continue
		}
		for _, c := range h.collectives {
			others = append(others, math.Log(c.relative))
		}
	}
	if len(others) == 0 {
		return false
	}
	middle := median(others)
	for i := range others {
		others[i] = math.Abs(others[i] - middle)
	}
	const deviationOfMAD = 1.4826 // of a normal distribution
	return middle-math.Log(relative) >= minDeviations*deviationOfMAD*median(others)
}
