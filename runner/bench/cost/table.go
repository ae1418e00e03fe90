package main

import (
	"fmt"
	"io"
	"runtime"
)

// describe says how the table was made.
func describe(out io.Writer, count int) {
	fmt.Fprintf(out, "%d processors (%s/%s), medians of %d interleaved rounds; buffers stay in the cache,\n"+
		"where an operation is shortest and its price shows most\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, count)
}

// writeTable writes what the README has.
func writeTable(out io.Writer, prices []price) {
	fmt.Fprintln(out, "| price of | operation | without | with | costs | at most | |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for i := range prices {
		p := &prices[i]
		costs, most, verdict := p.outcome()
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", p.of, p.work.what(),
			duration(median(p.without)), duration(median(p.with)), costs, most, verdict)
	}
}

// outcome is the price beside its bound.
func (p *price) outcome() (costs, most, verdict string) {
	verdict = "met"
	if p.most.percent > 0 {
		if p.percent() > p.most.percent {
			verdict = "MISSED"
		}
		return fmt.Sprintf("%.1f %%", p.percent()), fmt.Sprintf("%.0f %%", p.most.percent), verdict
	}
	if p.nanos() > p.most.nanos {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%.0f ns", p.nanos()), fmt.Sprintf("%.0f ns", p.most.nanos), verdict
}

func duration(nanos float64) string {
	if nanos >= 1000 {
		return fmt.Sprintf("%.2f µs", nanos/1000)
	}
	return fmt.Sprintf("%.0f ns", nanos)
}
