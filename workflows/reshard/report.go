package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// table is rows of cells. The first column is words, the others are numbers.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// write aligns the columns. A row may have fewer cells than others.
func (t table) write(out io.Writer) {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 || i == 0 { // what comes last takes what room it needs
				widths[i] = max(widths[i], len(cell))
			}
		}
	}
	for _, row := range t {
		var line strings.Builder
		for i, cell := range row {
			switch {
			case i == 0:
				fmt.Fprintf(&line, "  %-*s", widths[0], cell)
			case i == len(row)-1:
				line.WriteString("  " + cell)
			default:
				fmt.Fprintf(&line, "  %*s", widths[i], cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// compare does the same in several ways and shows how they differ.
func (s *site) compare(plan *reshard.Plan, out, plot io.Writer) error {
	j, err := s.newJob(plan)
	if err != nil {
		return err
	}
	s.introduce(out, j)
	var all []measured
	for _, how := range s.ways() {
		if how.name == "budget" {
			peak := all[len(all)-1].peak
			if peak == 0 && s.budget.all != 0 && s.maxBuckets == 0 {
				continue // a part of nothing would be the same run again
			}
			how = how.budgeted(s.budget.of(peak))
		}
		m, err := j.run(how)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	compareTable(all).write(out)
	s.conclude(out, all)
	if err := s.draw(plot, func() chart { return s.compareChart(all) }, func() table { return compareCSV(all) }); err != nil {
		return err
	}
	return j.close()
}

// ways are those that the mode asks for. A budget that is a part of a peak
// needs the run that has the peak.
func (s *site) ways() []setting {
	serial, pipelined, budget := s.setting.serial(), s.setting.pipelined(), s.setting.budgeted(0)
	switch {
	case s.mode == "serial":
		return []setting{serial}
	case s.mode == "pipelined":
		return []setting{pipelined}
	case s.mode == "budget":
		return []setting{pipelined, budget}
	}
	return []setting{serial, pipelined, budget}
}

// introduce says what is moved.
func (s *site) introduce(out io.Writer, j *job) {
	what := fmt.Sprintf("%d tensors", len(j.plan.Moves))
	if len(j.plan.Moves) == 1 {
		what = "tensor " + j.plan.Moves[0].Tensor.String()
	}
	if s.model != "" {
		what = fmt.Sprintf("%s, %s", s.model, what)
	}
	summary := j.plan.Summary()
	if s.scale > 1 {
		what += fmt.Sprintf(", each dimension a %d-th", s.scale)
	}
	fmt.Fprintf(out, "reshard: %d ranks, %s, %s, %s\n", s.world.Size(), what, shortBytes(j.bytes), s.where())
	fmt.Fprintf(out, "reshard: %d entries: %d stay, %d go to one rank, %d to several, %d are added up; %s between ranks\n",
		len(j.plan.Entries), summary.Entries[0], summary.Entries[1], summary.Entries[2], summary.Entries[3], shortBytes(summary.Wire))
	fmt.Fprintf(out, "reshard: buckets of %s, %d in flight per channel, %d warm-up and %d iterations\n", s.bucket.String(), s.inFlight, s.warmup, s.iters)
}

// compareTable is a row for each way.
func compareTable(all []measured) table {
	t := table{{"mode", "time", "GB/s", "gain", "buckets", "channels", "in flight", "peak", "rank", "mean", "budget", "stalled for"}}
	for i := range all {
		m := &all[i]
		t.add(m.name, fmt.Sprintf("%.3f ms", float64(m.took)/1e6), short(m.rate()/1e9), fmt.Sprintf("%.2f", m.rate()/all[0].rate()),
			fmt.Sprint(m.plan.Buckets), fmt.Sprint(m.plan.Channels), fmt.Sprint(m.peakBuckets),
			shortBytes(m.peak), fmt.Sprint(m.peakRank), shortBytes(m.mean), m.budgetText(), m.stalledFor())
	}
	return t
}

// budgetText is the budget, if there is one.
func (m *measured) budgetText() string {
	var limits []string
	if m.maxBytes > 0 {
		limits = append(limits, shortBytes(m.maxBytes))
	}
	switch {
	case m.maxBuckets == 1:
		limits = append(limits, "1 bucket")
	case m.maxBuckets > 1:
		limits = append(limits, fmt.Sprintf("%d buckets", m.maxBuckets))
	case m.maxBytes == 0:
		return "-"
	}
	return strings.Join(limits, ", ")
}

// stalledFor is what the next bucket of a rank waited for in more than a
// hundredth of the time, most of it first.
func (m *measured) stalledFor() string {
	var causes []int
	for cause, share := range m.stalls {
		if share >= 0.01 {
			causes = append(causes, cause)
		}
	}
	slices.SortStableFunc(causes, func(a, b int) int {
		switch {
		case m.stalls[a] > m.stalls[b]:
			return -1
		case m.stalls[a] < m.stalls[b]:
			return 1
		}
		return 0
	})
	var text []string
	for _, cause := range causes {
		text = append(text, fmt.Sprintf("%s %.0f %%", ccrun.Stall(cause), 100*m.stalls[cause]))
	}
	return strings.Join(text, ", ")
}

// conclude says what was verified, and what to make of it.
func (s *site) conclude(out io.Writer, all []measured) {
	c := &s.checked
	switch {
	case c.bad > 0:
		fmt.Fprintf(out, "reshard: %d elements are WRONG of %s verified\n", c.bad, shortBytes(c.verified))
	case c.phantom > 0:
		fmt.Fprintf(out, "reshard: not verified (phantom): %s have no bytes on this simulated machine, %s were verified; see ccrun --data\n", shortBytes(c.phantom), shortBytes(c.verified))
	case s.verify == "off":
		fmt.Fprintln(out, "reshard: not verified (-verify off)")
	default:
		fmt.Fprintf(out, "reshard: %d bytes verified after %d runs, 0 elements wrong\n", c.verified, c.runs)
	}
	if s.mode != "serial" && !slices.ContainsFunc(all, func(m measured) bool { return m.peak > 0 }) {
		fmt.Fprintln(out, "reshard: "+s.unstaged())
		return
	}
	for i := range all {
		if m := &all[i]; m.maxBytes > 0 && m.largest > m.maxBytes {
			fmt.Fprintf(out, "reshard: the budget of %s is less than the %s of the largest bucket, which runs alone then; a smaller -bucket or -split helps\n",
				shortBytes(m.maxBytes), shortBytes(m.largest))
			return
		}
	}
}

// unstaged says why there is no peak.
func (s *site) unstaged() string {
	if s.packing == "auto" || s.packing == "direct" {
		return "nothing was staged (direct), so there is no peak to bound; try -transport packed"
	}
	return "nothing was staged, so there is no peak to bound"
}

// draw writes the plot that is asked for.
func (s *site) draw(out io.Writer, drawn func() chart, listed func() table) error {
	switch s.plot {
	case "svg":
		return writeSVG(out, drawn())
	case "csv":
		for _, row := range listed() {
			if _, err := fmt.Fprintln(out, strings.Join(row, ",")); err != nil {
				return err
			}
		}
	}
	return nil
}
