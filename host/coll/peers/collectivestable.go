package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/op"
)

// line is one line of a table, of one peer and size.
type line struct {
	Peer         string  `json:"peer"`
	Op           string  `json:"op"`
	Ranks        int     `json:"ranks"`
	Bytes        int64   `json:"bytes"`
	Microseconds float64 `json:"us"`
	Algbw        float64 `json:"algbw_gb_s"`
	Busbw        float64 `json:"busbw_gb_s"`
	Ratio        float64 `json:"ratio,omitempty"` // to the best of the others
	CopyRatio    float64 `json:"copy_ratio,omitempty"`
	goals
}

// goals are what ccrun's lines are measured by beside the peers'.
type goals struct {
	RatioWanted   float64 `json:"ratio_wanted,omitempty"`
	RatioMet      *bool   `json:"ratio_met,omitempty"`
	Algorithm     string  `json:"algorithm,omitempty"`
	TrafficBytes  int64   `json:"traffic_bytes,omitempty"` // that all ranks load and store
	BoundPercent  float64 `json:"bound_percent,omitempty"`
	PercentWanted float64 `json:"bound_percent_wanted,omitempty"`
	PercentMet    *bool   `json:"bound_percent_met,omitempty"`
}

// linesOf are the lines of one collective.
func linesOf(s sweep, results map[int64]rounds, names []string) ([]line, error) {
	var lines []line
	factor := busFactor(s.collective, s.ranks)
	for _, size := range s.sizes {
		r := results[size.bytes]
		for _, name := range names {
			nanos := r.nanos(name)
			if nanos == 0 {
				continue
			}
			algbw := float64(size.bytes) / nanos
			l := line{Peer: name, Op: s.collective, Ranks: s.ranks, Bytes: size.bytes, Microseconds: nanos / 1e3, Algbw: algbw, Busbw: algbw * factor}
			if isPeer(name) || name == ourName {
				l.Ratio, l.CopyRatio = r.ratioToBest(name, names), r.ratio(plainCopy, name)
			}
			if name == ourName {
				if err := l.judge(s, r); err != nil {
					return nil, err
				}
			}
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// judge compares one of ccrun's lines with what is wanted of it.
func (l *line) judge(s sweep, r rounds) (err error) {
	if l.RatioWanted = wantedRatio(l.Op, l.Ranks, l.Bytes); l.RatioWanted > 0 && l.Ratio > 0 {
		l.RatioMet = new(l.Ratio >= l.RatioWanted)
	}
	if l.Bytes < boundedMinBytes {
		return nil
	}
	if l.TrafficBytes, l.Algorithm, err = trafficOf(s, l.Bytes); err != nil {
		return fmt.Errorf("traffic: %w", err)
	}
	if l.BoundPercent = r.percentOfBound(l.Peer); l.BoundPercent > 0 {
		l.PercentWanted, l.PercentMet = wantedPercent, new(l.BoundPercent >= wantedPercent)
	}
	return nil
}

// writeLines prints the table of one collective.
func writeLines(out io.Writer, lines []line) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "peer\top\tranks\tbytes\tmicroseconds\talgbw GB/s\tbusbw GB/s\tcopy/this\tratio\twanted\t\tof bound\twanted\t\t")
	for i := range lines {
		l := &lines[i]
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", l.Peer, l.Op, l.Ranks, ccrun.ByteSize(l.Bytes),
			l.Microseconds, l.Algbw, l.Busbw, unlessZero("%.2f", l.CopyRatio),
			unlessZero("%.2f", l.Ratio), unlessZero("%.1f", l.RatioWanted), verdict(l.RatioMet),
			unlessZero("%.0f %%", l.BoundPercent), unlessZero("%.0f %%", l.PercentWanted), verdict(l.PercentMet))
	}
	w.Flush()
	fmt.Fprintln(out)
}

func unlessZero(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

func verdict(met *bool) string {
	switch {
	case met == nil:
		return "-"
	case *met:
		return "met"
	}
	return "MISSED"
}

// writeJSON keeps the lines of all tables.
func writeJSON(path string, lines []line) error {
	text, err := json.MarshalIndent(lines, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o666)
}

func busFactor(collective string, ranks int) float64 {
	for _, c := range compared {
		if c.name == collective {
			return c.op.BusFactor(ranks)
		}
	}
	return op.Custom.BusFactor(ranks)
}

// isPeer tells other implementations from what is measured beside them.
func isPeer(name string) bool { return name != plainCopy && name != memoryBound && name != ourName }

// ratioToBest is how many times faster than the best of the other peers this
// one is: the median of the rounds, or 0 if there is no other.
func (r rounds) ratioToBest(name string, names []string) float64 {
	var ratios []float64
	for round, nanos := range r[name] {
		var others []float64
		for _, other := range names {
			if other != name && isPeer(other) && round < len(r[other]) {
				others = append(others, r[other][round])
			}
		}
		if len(others) > 0 {
			ratios = append(ratios, slices.Min(others)/nanos)
		}
	}
	return median(ratios)
}
