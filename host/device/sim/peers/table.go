package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

// What ccrun should reach with a ring of 1,024 ranks.
const (
	wantedSeconds = 4
	wantedRatio   = 20
)

// describe says what is compared.
func describe(out io.Writer, o options, list []contestant) {
	fmt.Fprintf(out, "simulating an all-reduce of %s over a ring of %d ranks in %d steps, on %d processors (%s/%s): medians of %d interleaved rounds\n",
		o.bytes, o.ranks, 2*(o.ranks-1), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, o.rounds)
	fmt.Fprintf(out, "ccrun: preset %s, %d nodes of %d, phantom buffers above 1 GiB together, no trace but each rank's time of the collective\n", machine, o.ranks/nodeRanks, nodeRanks)
	fmt.Fprintf(out, "SMPI: the same shape and rates; payload is not copied, adding up takes memory's time, and MPI calls take none\n")
	fmt.Fprintf(out, "wall and CPU: of the whole process, from start to end; tuned/this, default/this: SMPI's wall time by this one's, in the same round\n\n")
	for _, c := range list {
		fmt.Fprintf(out, "  %-14s  %s\n", c.name, c.what)
	}
	fmt.Fprintln(out)
}

// write prints the table.
func (r rounds) write(out io.Writer, list []contestant) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\twall s\tCPU s\ttuned/this\tdefault/this\tsimulated ms\tpeak MiB\tM operations/s\tM events/s\t")
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%s\t%s\t%.2f\t%.0f\t%s\t%s\t\n", c.name, r.median(c.name, wallSeconds), r.median(c.name, cpuSeconds),
			dash(r.ratio(smpiBest, c.name, wallSeconds)), dash(r.ratio(smpiDefault, c.name, wallSeconds)),
			r.median(c.name, simulatedMillis), r.median(c.name, peakMiB),
			dash(r.median(c.name, operationsPerSecond)/1e6), dash(r.median(c.name, eventsPerSecond)/1e6))
	}
	w.Flush()
	fmt.Fprintf(out, "\nwanted of ccrun with 1,024 ranks: under %d s, and %d times as fast as SMPI\n\n", wantedSeconds, wantedRatio)
}

// dash is a figure, or a dash for one that there is not.
func dash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

// alone prints what ccrun takes for other worlds, once each.
func alone(ctx context.Context, o options, us *guest, out, progress io.Writer) error {
	if len(o.worlds) == 0 {
		return nil
	}
	fmt.Fprintf(out, "ccrun alone, live guests that pull, one run each\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ranks\trings of\tsteps\twall s\tCPU s\tsimulated ms\tpeak MiB\tM operations\tM operations/s\tM events/s\tns/event\t")
	var ring measured
	for _, x := range o.worlds {
		fmt.Fprintf(progress, "alone: %s\n", x)
		m, err := us.simulate(ctx, x.ranks, "get", x.group)
		if err != nil {
			return err
		}
		if x.group == 0 && m.operations > ring.operations {
			ring = m
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t%.2f\t%.2f\t%.0f\t\n", x.ranks, x.rings(), x.steps(), m.wall.Seconds(), m.cpu.Seconds(),
			simulatedMillis(m), peakMiB(m), float64(m.operations)/1e6, operationsPerSecond(m)/1e6, eventsPerSecond(m)/1e6, 1e9/eventsPerSecond(m))
	}
	w.Flush()
	if ring.operations >= 10e6 { // of a smaller one, what comes before and after is too large a part
		fmt.Fprintf(out, "\n%s\n", extrapolated(16384, ring))
	}
	return nil
}

// extrapolated says what one ring of so many ranks would take at the rate of a
// measured one, with the three operations of each step.
func extrapolated(ranks int, ring measured) string {
	operations := 3 * 2 * float64(ranks) * float64(ranks-1)
	return fmt.Sprintf("not run: one ring of %d ranks, which takes %.0f million operations, %.0f minutes at the rate of the largest ring above",
		ranks, operations/1e6, operations/operationsPerSecond(ring)/60)
}

// rings is how many ranks a ring has, on each level.
func (w world) rings() string {
	if w.group == 0 {
		return fmt.Sprint(w.ranks)
	}
	return fmt.Sprintf("%d, %d", w.group, w.ranks/w.group)
}

// steps is how many steps each rank takes.
func (w world) steps() int {
	if w.group == 0 {
		return 2 * (w.ranks - 1)
	}
	return 2*(w.group-1) + 2*(w.ranks/w.group-1)
}
