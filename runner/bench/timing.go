package bench

import (
	"math"
	"slices"
)

// Timing is one half of a row, measured: what the ranks say of one placement.
type Timing struct {
	Secs         float64     // of a call, averaged over ranks as the options ask
	AlgBW, BusBW float64     // GB/s
	Checked      bool        // Wrong means something
	Wrong        int64       // elements, of all ranks and checks
	PerIteration []float64   // seconds of each iteration, the slowest rank's; nil unless asked for
	PerRank      [][]float64 // the same of each rank
}

// RankTiming is what one rank measured of a placement.
type RankTiming struct {
	IssueNanos int64 // to issue all calls
	TotalNanos int64 // to complete them
	Wrong      int64
	EndNanos   []int64 // of each iteration, since the first one's start; nil unless asked for
}

// Combine makes one timing of what the ranks have measured.
func (o *Options) Combine(row *Row, ranks []RankTiming) *Timing {
	t := &Timing{Checked: o.Checks > 0}
	secs := make([]float64, len(ranks))
	for i, r := range ranks {
		nanos := r.TotalNanos
		if o.ProcessorTime {
			nanos = r.IssueNanos
		}
		secs[i] = float64(nanos) / 1e9 / float64(row.Iterations*o.Aggregated)
		t.Wrong += r.Wrong
		if o.PerIteration {
			t.PerRank = append(t.PerRank, o.iterationSecs(r.EndNanos))
		}
	}
	t.Secs = o.Average.of(secs)
	t.AlgBW, t.BusBW = row.bandwidth(t.Secs)
	t.PerIteration = slowest(t.PerRank)
	return t
}

// iterationSecs are the times of the iterations that are not skipped.
func (o *Options) iterationSecs(endNanos []int64) []float64 {
	var secs []float64
	before := int64(0)
	for i, end := range endNanos {
		if i >= o.PerIterationSkip {
			secs = append(secs, float64(end-before)/1e9/float64(o.Aggregated))
		}
		before = end
	}
	return secs
}

// slowest is the time of the slowest rank in each iteration.
func slowest(ranks [][]float64) []float64 {
	if len(ranks) == 0 {
		return nil
	}
	most := slices.Clone(ranks[0])
	for _, secs := range ranks[1:] {
		for i, s := range secs {
			most[i] = max(most[i], s)
		}
	}
	return most
}

func (a Average) of(secs []float64) float64 {
	switch a {
	case AverageMin:
		return slices.Min(secs)
	case AverageMax:
		return slices.Max(secs)
	case AverageMean:
		return mean(secs)
	default:
		return secs[0]
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// spread describes the times of a number of iterations.
type spread struct{ min, max, mean, p50, p95, p99, deviation float64 }

// spreadOf takes percentiles by nearest rank; the deviation is that of the
// iterations themselves, not of more that they stand for.
func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return spread{}
	}
	nearest := func(percent int) float64 { return sorted[max((n*percent+99)/100, 1)-1] }
	s := spread{min: sorted[0], max: sorted[n-1], mean: mean(sorted), p50: sorted[n/2], p95: nearest(95), p99: nearest(99)}
	squares := 0.0
	for _, v := range sorted {
		squares += (v - s.mean) * (v - s.mean)
	}
	s.deviation = math.Sqrt(squares / float64(n))
	return s
}

// variation is the deviation in percent of the mean.
func (s spread) variation() float64 {
	if s.mean <= 0 {
		return 0
	}
	return s.deviation / s.mean * 100
}
