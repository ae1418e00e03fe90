package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/op"
)

// writeComparison prints the table of one collective.
func writeComparison(out io.Writer, s sweep, results map[int64]rounds, names []string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "peer\top\tranks\tbytes\tmicroseconds\talgbw GB/s\tbusbw GB/s\tratio\tcopy/this\t")
	factor := busFactor(s.collective, s.ranks)
	for _, size := range s.sizes {
		r := results[size.bytes]
		for _, name := range names {
			nanos := r.nanos(name)
			if nanos == 0 {
				continue
			}
			algbw := float64(size.bytes) / nanos
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t\n", name, s.collective, s.ranks, ccrun.ByteSize(size.bytes),
				nanos/1e3, algbw, algbw*factor, r.ratioToBest(name, names), r.ratioText(plainCopy, name))
		}
	}
	w.Flush()
	fmt.Fprintln(out)
}

func busFactor(collective string, ranks int) float64 {
	for _, c := range compared {
		if c.name == collective {
			return c.op.BusFactor(ranks)
		}
	}
	return op.Custom.BusFactor(ranks)
}

// ratioToBest is how many times faster than the best of the other peers this
// one is: the median of the rounds.
func (r rounds) ratioToBest(name string, names []string) string {
	if name == plainCopy {
		return "-"
	}
	var ratios []float64
	for round, nanos := range r[name] {
		var others []float64
		for _, other := range names {
			if other != name && other != plainCopy && other != ourName && round < len(r[other]) {
				others = append(others, r[other][round])
			}
		}
		if len(others) > 0 {
			ratios = append(ratios, slices.Min(others)/nanos)
		}
	}
	if len(ratios) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", median(ratios))
}
