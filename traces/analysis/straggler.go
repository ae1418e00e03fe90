package analysis

import (
	"cmp"
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
	SlowScore = 0.5
	// oftenScore and oftenShare: the rank is that slow in this part of them.
	oftenScore, oftenShare = 2. / 3, 0.8
	// minExcessNanos is what an operation must take longer. Below that, it is
	// whose cache a few bytes lay in that is measured.
	minExcessNanos = 1000
	// minDeviations is how many standard deviations of the others' scores the
	// rank is away.
	minDeviations = 3
)

// Work is an operation that a rank carried out itself, waiting for nobody.
// Only those of one class are compared.
type Work struct {
	Rank  int
	Class uint64
	Bytes int64
	Nanos int64
}

// pace is nanoseconds a byte.
func (w *Work) pace() float64 { return float64(w.Nanos) / float64(w.Bytes) }

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

// Add enters what all ranks did in one collective. It sorts the list.
func (s *Scores) Add(work []Work) {
	if s.byRank == nil {
		s.byRank = make(map[int]*history)
	}
	for rank, sum := range sumsOf(work) {
		if sum.own <= 0 || sum.others <= 0 {
			continue
		}
		h := s.byRank[rank]
		if h == nil {
			h = new(history)
			s.byRank[rank] = h
		}
		h.collectives = append(h.collectives, collectiveScore{
			relative: min(1, sum.others/sum.own), pace: sum.own / sum.bytes,
			excess: (sum.own - sum.others) / sum.operations,
		})
	}
}

// Merge adds the collectives of other scores, whose individual scores are set.
func (s *Scores) Merge(other *Scores) {
	if s.byRank == nil {
		s.byRank = make(map[int]*history)
	}
	other.compareToBest()
	for rank, h := range other.byRank {
		if s.byRank[rank] == nil {
			s.byRank[rank] = new(history)
		}
		s.byRank[rank].collectives = append(s.byRank[rank].collectives, h.collectives...)
	}
}

// rankSums is one rank's time in one collective, and what the same bytes would
// have taken the others.
type rankSums struct{ own, others, bytes, operations float64 }

// sumsOf adds up over classes. A class that only one rank has tells nothing.
func sumsOf(work []Work) map[int]*rankSums {
	slices.SortFunc(work, func(a, b Work) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.pace(), b.pace()))
	})
	sums := make(map[int]*rankSums)
	for rest := work; len(rest) > 0; {
		n := runLength(rest, func(w *Work) bool { return w.Class == rest[0].Class })
		addClass(sums, rest[:n])
		rest = rest[n:]
	}
	return sums
}

func runLength(work []Work, same func(*Work) bool) int {
	n := 1
	for n < len(work) && same(&work[n]) {
		n++
	}
	return n
}

// addClass enters operations of one class, in order of rank and pace.
func addClass(sums map[int]*rankSums, work []Work) {
	type rankPace struct {
		rank              int
		fast, usual       float64
		bytes, operations float64
	}
	var ranks []rankPace
	for rest := work; len(rest) > 0; {
		n := runLength(rest, func(w *Work) bool { return w.Rank == rest[0].Rank })
		p := rankPace{rank: rest[0].Rank, fast: rest[(n-1)/4].pace(), usual: rest[(n-1)/2].pace(), operations: float64(n)}
		for i := range rest[:n] {
			p.bytes += float64(rest[i].Bytes)
		}
		ranks = append(ranks, p)
		rest = rest[n:]
	}
	if len(ranks) < 2 {
		return
	}
	usual := make([]float64, len(ranks))
	for i := range ranks {
		usual[i] = ranks[i].usual
	}
	slices.Sort(usual)
	for i := range ranks {
		p := &ranks[i]
		sum := sums[p.rank]
		if sum == nil {
			sum = new(rankSums)
			sums[p.rank] = sum
		}
		sum.own += p.fast * p.bytes
		sum.others += medianWithout(usual, p.usual) * p.bytes
		sum.bytes += p.bytes
		sum.operations += p.operations
	}
}

// medianWithout is the median of sorted values without one of them: of an even
// number the upper one of the two, since a rank is to be called slow with care.
func medianWithout(sorted []float64, one float64) float64 {
	middle := (len(sorted) - 1) / 2
	if at, _ := slices.BinarySearch(sorted, one); at <= middle {
		middle++
	}
	return sorted[middle]
}

// compareToBest sets the individual scores, once. The best is the tenth
// percentile, so that one lucky collective does not make all others slow.
func (s *Scores) compareToBest() {
	for _, h := range s.byRank {
		paces := make([]float64, 0, len(h.collectives))
		for _, c := range h.collectives {
			paces = append(paces, c.pace)
		}
		slices.Sort(paces)
		best := paces[(len(paces)-1)/10]
		for i := range h.collectives {
			if c := &h.collectives[i]; c.individual == 0 {
				c.individual = min(1, best/c.pace)
			}
		}
	}
}

// Ranks gives the scores of all ranks that could be compared with others, in
// order.
func (s *Scores) Ranks() []Score {
	s.compareToBest()
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
