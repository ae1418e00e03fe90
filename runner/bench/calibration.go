package bench

import (
	"math"
	"slices"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// Calibration measures collectives by every algorithm that can carry them out,
// for a number of ranks, to see where another one than the default's would be
// faster. Run the guest of [Calibration.Rows] once a round, give what it
// measures to [Calibration.Add], and ask [Calibrations.Rules] in the end.
//
// What a call costs changes from one moment to the next by more than algorithms
// differ. So all are measured in turn, in several rounds, and compared within a
// round.
type Calibration struct {
	Ranks    int
	contests []contest
}

// contest is one call that algorithms compete for.
type contest struct {
	row      Row // without an algorithm
	entries  []entry
	standard [2]int // entry that the default table selects, by layout
}

// entry is an algorithm and what was measured of it, a time a round for each
// layout that it can carry out.
type entry struct {
	algorithm coll.Algorithm
	secs      [2][]float64
}

// NewCalibration lists the calls of the collectives that have a choice. Sizes
// are those of whole arrays, in ascending order.
func NewCalibration(ranks int, sizes []Size) *Calibration {
	c := &Calibration{Ranks: ranks}
	for _, collective := range collectives {
		if len(collective.algorithms()) < 2 {
			continue
		}
		last := int64(0)
		for _, size := range sizes {
			row := Row{
				Collective: collective, Type: op.F32, Red: op.Sum, Root: -1, Ranks: ranks,
				Count: collective.count(size.Bytes, ranks, op.F32.Size()), Iterations: size.Iterations,
			}
			if collective.rooted {
				row.Root = 0
			}
			if row.Count > last { // small shares are none, and alike
				c.contests = append(c.contests, newContest(row))
			}
			last = row.Count
		}
	}
	return c
}

func newContest(row Row) contest {
	c := contest{row: row}
	for _, v := range row.Collective.algorithms() {
		if row.carriedOut(v.Algorithm, outOfPlace) || row.carriedOut(v.Algorithm, together) {
			c.entries = append(c.entries, entry{algorithm: v.Algorithm})
		}
	}
	table := coll.DefaultTable()
	for _, l := range []layout{outOfPlace, together} {
		selected := table.Select(row.shape(l))
		c.standard[l] = slices.IndexFunc(c.entries, func(e entry) bool { return e.algorithm == selected })
	}
	return c
}

// Options are those of the benchmark that measures: nothing is checked, and
// the slowest rank counts.
func (c *Calibration) Options() *Options {
	return &Options{
		Collective: collectives[0], Threads: 1, GPUs: c.Ranks, StepFactor: 1, Types: []op.Dtype{op.F32}, Reds: []op.RedOp{op.Sum},
		Iterations: 1, Warmup: 1, Aggregated: 1, Average: AverageMax,
	}
}

// Rows are what one round measures: the algorithms of a call right after each
// other, in every other round the other way round.
func (c *Calibration) Rows(round int) []Row {
	var rows []Row
	for i := range c.contests {
		first := len(rows)
		for _, e := range c.contests[i].entries {
			row := c.contests[i].row
			row.Algorithm = e.algorithm.String()
			rows = append(rows, row)
		}
		if round%2 == 1 {
			slices.Reverse(rows[first:])
		}
	}
	return rows
}

// Add takes what was measured of a row; what could not be carried out is nil.
func (c *Calibration) Add(row *Row, outOfPlaceTiming, inPlaceTiming *Timing) {
	for i := range c.contests {
		k := &c.contests[i]
		if k.row.Collective.Op != row.Collective.Op || k.row.Count != row.Count {
			continue
		}
		for j := range k.entries {
			e := &k.entries[j]
			if e.algorithm.String() != row.Algorithm {
				continue
			}
			for l, t := range [...]*Timing{outOfPlaceTiming, inPlaceTiming} {
				if t != nil {
					e.secs[l] = append(e.secs[l], t.Secs)
				}
			}
		}
	}
}

// advantageMin is how many times faster than the default an algorithm must be
// to take its place, in the median of the rounds. In three of four rounds it
// must at least be as fast.
const advantageMin = 1.1

// choice is what carries a call out, by layout.
type choice [2]coll.Algorithm

// choose finds the algorithm for a call: the default's unless another is
// measurably faster.
func (k *contest) choose() choice {
	best, most := k.choiceOf(-1), advantageMin
	for i := range k.entries {
		ratios := slices.Sorted(slices.Values(k.advantages(i)))
		if len(ratios) == 0 {
			continue
		}
		if m := median(ratios); m > most && ratios[len(ratios)/4] > 1 {
			best, most = k.choiceOf(i), m
		}
	}
	return best
}

// choiceOf is what carries a call out if entry i does where it can, and the
// default elsewhere. -1 is the default.
func (k *contest) choiceOf(i int) (c choice) {
	for l := range c {
		c[l] = k.entries[k.at(i, layout(l))].algorithm
	}
	return c
}

// at is entry i, or the default's where that cannot carry out the call.
func (k *contest) at(i int, l layout) int {
	if i >= 0 && k.row.carriedOut(k.entries[i].algorithm, l) {
		return i
	}
	return k.standard[l]
}

// advantages is how many times faster than the default entry i was, round by
// round: the geometric mean of both layouts, of which a rule cannot tell one
// from the other.
func (k *contest) advantages(i int) []float64 {
	var ratios []float64
	for round := 0; ; round++ {
		product := 1.0
		for _, l := range []layout{outOfPlace, together} {
			standard, other := k.entries[k.standard[l]].secs[l], k.entries[k.at(i, l)].secs[l]
			if round >= len(standard) || round >= len(other) {
				return ratios
			}
			product *= standard[round] / max(other[round], 1e-9)
		}
		ratios = append(ratios, math.Sqrt(product))
	}
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
