package machine

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/bench/script"
)

// Check compares what rings take with what the simulator says that they take.
// Run each of Scripts for real, several times, and each of Simulated, which are
// the same but for fewer rounds, on the simulator: those do not differ there.
type Check struct {
	Scripts   []*script.Script
	Simulated []*script.Script

	rows   []Row
	places [][]int // by script: the row of each piece
	times  [][]float64
}

// Row is a ring of a check.
type Row struct {
	Collective op.CollectiveOp
	Ranks      int
	Bytes      int64
	Measured   float64 // seconds, the median
	Predicted  float64
}

// Error is how far off the prediction is, 0.1 for a time that is 10 % too long.
func (r *Row) Error() float64 { return r.Predicted/r.Measured - 1 }

// ErrorMax is the median error, of either sign, that a check passes.
const ErrorMax = 0.2

// Sizes of a check are powers of two, of which a plan measures none.
const (
	checkMin      = 64 << 10
	checkMax      = 64 << 20
	quickCheckMax = 4 << 20
)

// NewCheck plans a check of both rings, for the given numbers of ranks; quick
// leaves sizes out.
func NewCheck(ranks []int, quick bool) *Check {
	c := &Check{}
	most, factor := int64(checkMax), int64(2)
	if quick {
		most, factor = quickCheckMax, 8
	}
	for _, n := range ranks {
		s, places := &script.Script{Ranks: n}, []int(nil)
		for _, collective := range [...]op.CollectiveOp{op.AllReduce, op.AllGather} {
			for bytes := int64(checkMin); bytes <= most; bytes *= factor {
				places = append(places, len(c.rows))
				c.rows = append(c.rows, Row{Collective: collective, Ranks: n, Bytes: bytes})
				s.Pieces = append(s.Pieces, script.Piece{
					Bytes: bytes, Samples: 3, Rounds: rounds(bytes), Lists: script.Ring(collective, n, bytes, SliceBytes),
				})
			}
		}
		c.Simulated = append(c.Simulated, short(s))
		c.Scripts, c.places = append(c.Scripts, s), append(c.places, places)
	}
	c.times = make([][]float64, len(c.rows))
	return c
}

// short is a script with as few rounds as will do, and some to warm up.
func short(s *script.Script) *script.Script {
	out := &script.Script{Ranks: s.Ranks, Pieces: slices.Clone(s.Pieces)}
	for i := range out.Pieces {
		out.Pieces[i].Samples, out.Pieces[i].Rounds = 2, 2
	}
	return out
}

// Add takes what one real run of a script measured.
func (c *Check) Add(number int, r *script.Results) {
	for i, row := range c.places[number] {
		c.times[row] = append(c.times[row], r.Secs(i)...)
		c.rows[row].Measured = script.Median(c.times[row])
	}
}

// Predict takes what a simulated run of a script measured.
func (c *Check) Predict(number int, r *script.Results) {
	for i, row := range c.places[number] {
		c.rows[row].Predicted = script.Median(r.Secs(i))
	}
}

// Rows are what was compared.
func (c *Check) Rows() []Row { return c.rows }

// MedianError is the middle of all errors, without their signs.
func (c *Check) MedianError() float64 {
	errors := make([]float64, len(c.rows))
	for i := range c.rows {
		errors[i] = math.Abs(c.rows[i].Error())
	}
	return script.Median(errors)
}

// WorstError is the largest of all errors, without its sign.
func (c *Check) WorstError() float64 {
	worst := 0.0
	for i := range c.rows {
		worst = max(worst, math.Abs(c.rows[i].Error()))
	}
	return worst
}

// Band is what a preset says of the check.
func (c *Check) Band() preset.Band {
	what := fmt.Sprintf("%d rings of 64 KiB to %d MiB on this machine, half of them within %.1f %%", len(c.rows), c.rows[len(c.rows)-1].Bytes>>20, c.MedianError()*100)
	return preset.Band{What: what, Error: significant(c.WorstError()), HeldOut: true, Source: "ccrun calibrate"}
}

// Write prints the table, and the errors below it.
func (c *Check) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "collective\tranks\tKiB\tmeasured us\tpredicted us\terror %\t")
	for i := range c.rows {
		r := &c.rows[i]
		fmt.Fprintf(t, "%v\t%d\t%d\t%.2f\t%.2f\t%+.1f\t\n", r.Collective, r.Ranks, r.Bytes>>10, r.Measured*1e6, r.Predicted*1e6, r.Error()*100)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "median error %.1f %%, largest %.1f %%, of %d rings\n", c.MedianError()*100, c.WorstError()*100, len(c.rows))
	return err
}
