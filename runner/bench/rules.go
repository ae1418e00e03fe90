package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/coll"
)

// Calibrations are those of several numbers of ranks, in ascending order.
type Calibrations []*Calibration

// Rules are what the measurements add to the default table: for each collective
// with a better algorithm somewhere, all that was chosen for it.
func (all Calibrations) Rules() coll.Table {
	var table coll.Table
	for _, collective := range collectives {
		var rules coll.Table
		differs := false
		for _, c := range all {
			segments, changed := c.segments(collective)
			rules = append(rules, rulesOf(collective, c.Ranks, segments)...)
			differs = differs || changed
		}
		if differs {
			table = append(table, rules...)
		}
	}
	return table
}

// segment is a range of sizes with one choice. The last has no limit.
type segment struct {
	bytesMax int64
	choice   choice
	row      Row // of the first call
}

// segments cuts the sizes of a collective where the choice changes: in the
// middle, by factors, between two sizes that were measured. Beyond the largest
// the default holds. False means that it does everywhere.
func (c *Calibration) segments(collective Collective) (list []segment, differs bool) {
	var last *contest
	for i := range c.contests {
		k := &c.contests[i]
		if k.row.Collective.Op != collective.Op {
			continue
		}
		chosen := k.choose()
		differs = differs || chosen != k.choiceOf(-1)
		if n := len(list); n > 0 && list[n-1].choice != chosen {
			list[n-1].bytesMax = int64(math.Sqrt(float64(last.row.Bytes()) * float64(k.row.Bytes())))
			list = append(list, segment{choice: chosen, row: k.row})
		} else if n == 0 {
			list = append(list, segment{choice: chosen, row: k.row})
		}
		last = k
	}
	if n := len(list); n > 0 {
		if beyond := standardBeyond(last.row); list[n-1].choice != beyond {
			list[n-1].bytesMax = last.row.Bytes()
			list = append(list, segment{choice: beyond, row: last.row})
		}
	}
	return list, differs
}

// standardBeyond is what the default table chooses for larger calls.
func standardBeyond(row Row) (c choice) {
	row.Count *= 2
	table := coll.DefaultTable()
	for l := range c {
		c[l] = table.Select(row.shape(layout(l)))
	}
	return c
}

// rulesOf writes segments as rules: two where one algorithm cannot carry out
// both layouts, that algorithm's first.
func rulesOf(collective Collective, ranks int, segments []segment) (rules coll.Table) {
	for _, s := range segments {
		algorithms := slices.Compact(slices.Clone(s.choice[:]))
		if s.row.carriedOut(algorithms[0], together) {
			slices.Reverse(algorithms)
		}
		for _, a := range algorithms {
			rules = append(rules, coll.Rule{Collective: collective.Op, RanksMax: ranks, BytesMax: s.bytesMax, Algorithm: a})
		}
	}
	return rules
}

// Write prints the table that [coll.ParseTable] reads, below what the lines of
// about say of it, and what was measured, both as comments.
func (all Calibrations) Write(w io.Writer, about []string) error {
	var b strings.Builder
	for _, line := range about {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	fmt.Fprintf(&b, "# Rules replace the default where another algorithm was more than %.0f %% faster. The first that applies counts.\n", (advantageMin-1)*100)
	rules := all.Rules()
	if len(rules) == 0 {
		b.WriteString("# There was none: the default holds everywhere.\n")
	}
	b.WriteString(rules.String())
	b.WriteString("#\n# Measured: medians of a call in microseconds, out of place / in place, of 4-byte floats, sum, root 0; * is selected.\n")
	for _, c := range all {
		c.describe(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe prints what was measured.
func (c *Calibration) describe(b *strings.Builder) {
	for i := range c.contests {
		k := &c.contests[i]
		chosen := k.choose()
		fmt.Fprintf(b, "# %d ranks %-14s %9d B ", c.Ranks, k.row.Collective.Op, k.row.Bytes())
		for _, e := range k.entries {
			mark := ""
			if slices.Contains(chosen[:], e.algorithm) {
				mark = "*"
			}
			fmt.Fprintf(b, "  %s%s %s/%s", e.algorithm, mark, medianText(e.secs[outOfPlace]), medianText(e.secs[together]))
		}
		b.WriteByte('\n')
	}
}

// medianText is the median in microseconds, or a dash for what was not measured.
func medianText(secs []float64) string {
	if len(secs) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", median(slices.Sorted(slices.Values(secs)))*1e6)
}

// Rounds is how many rounds were measured.
func (c *Calibration) Rounds() int {
	rounds := math.MaxInt
	for i := range c.contests {
		for _, e := range c.contests[i].entries {
			rounds = min(rounds, max(len(e.secs[outOfPlace]), len(e.secs[together])))
		}
	}
	if rounds == math.MaxInt {
		return 0
	}
	return rounds
}
