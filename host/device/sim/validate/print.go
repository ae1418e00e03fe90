package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// printTable writes the results for people, a line for each and the sources
// below, once each.
func printTable(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "what\tpreset\tpublished\tsimulated\terror\tpromised\tfitted or held out\tsource")
	var sources, settings []string
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%+.1f %%\t%s\t%s\t[%d]\n",
			r.What, machineName(&r, &settings), figure(r.Published, r.Unit), figure(r.Simulated, r.Unit), 100*r.Error, promise(&r), standing(&r), 1+index(&sources, r.Source))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i, text := range settings {
		fmt.Fprintf(w, "%s with %s\n", strings.Repeat("*", i+1), text)
	}
	for i, text := range sources {
		fmt.Fprintf(w, "[%d] %s\n", i+1, text)
	}
	_, err := fmt.Fprintln(w, summary(results))
	return err
}

// machineName is the preset, with stars for its changes.
func machineName(r *result, settings *[]string) string {
	if len(r.Set) == 0 {
		return r.Preset
	}
	return r.Preset + strings.Repeat("*", 1+index(settings, strings.Join(r.Set, ", ")))
}

// index is the place of a text in a list, which gets it if it is new.
func index(list *[]string, text string) int {
	for i, known := range *list {
		if known == text {
			return i
		}
	}
	*list = append(*list, text)
	return len(*list) - 1
}

// figure prints three digits or more.
func figure(value float64, unit string) string {
	switch {
	case math.Abs(value) >= 100:
		return fmt.Sprintf("%.0f %s", value, unit)
	case math.Abs(value) >= 10:
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.2f %s", value, unit)
}

func promise(r *result) string {
	switch {
	case r.Bound == 0:
		return "none"
	case !r.Within:
		return fmt.Sprintf("%.0f %% MISSED", 100*r.Bound)
	}
	return fmt.Sprintf("%.0f %%", 100*r.Bound)
}

func standing(r *result) string {
	if r.HeldOut {
		return "held out"
	}
	return "fitted: " + r.Fitted
}

// summary counts the rows.
func summary(results []result) string {
	promised, missed, heldOut, heldOutMissed := 0, 0, 0, 0
	for _, r := range results {
		if r.Bound == 0 {
			continue
		}
		promised++
		if r.HeldOut {
			heldOut++
		}
		if !r.Within {
			missed++
			if r.HeldOut {
				heldOutMissed++
			}
		}
	}
	return fmt.Sprintf("%d of %d rows are as close as promised; of those held out, %d of %d", promised-missed, promised, heldOut-heldOutMissed, heldOut)
}

// printJSON writes the results for programs: an object for each.
func printJSON(w io.Writer, results []result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Rows []result `json:"rows"`
	}{results})
}

// rounded is the error in whole thousandths, upwards, and never none.
func (b *band) rounded() float64 { return max(1, math.Ceil(b.Error*1000)) / 1000 }

// printBands writes presets' validation lists.
func printBands(w io.Writer, results []result) error {
	last := ""
	for _, b := range bands(results) {
		if b.Preset != last {
			fmt.Fprintf(w, "# %s.yaml\nvalidation:\n", b.Preset)
			last = b.Preset
		}
		_, err := fmt.Fprintf(w, "  - {what: %q, error: %.3f, held_out: %v, source: %q}\n", b.What, b.rounded(), b.HeldOut, b.Source)
		if err != nil {
			return err
		}
	}
	return nil
}
