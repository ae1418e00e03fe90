package main

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// contestant is a simulator that takes part.
type contestant struct {
	name, what string
	run        func(ctx context.Context) (measured, error)
}

// rounds is what was measured, a run of each contestant for each round.
type rounds map[string][]measured

// play lets all contestants play all rounds. Each round begins with another one.
func play(ctx context.Context, list []contestant, count int, progress io.Writer) (rounds, error) {
	r := rounds{}
	for round := range count {
		for i := range list {
			c := list[(i+round)%len(list)]
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, count, c.name)
			m, err := c.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			r[c.name] = append(r[c.name], m)
		}
	}
	return r, nil
}

// median is that of a figure of all rounds.
func (r rounds) median(name string, figure func(measured) float64) float64 {
	var values []float64
	for _, m := range r[name] {
		values = append(values, figure(m))
	}
	return median(values)
}

// ratio is the median over the rounds of a figure divided by that of another
// contestant in the same round.
func (r rounds) ratio(of, by string, figure func(measured) float64) float64 {
	var values []float64
	for i := range min(len(r[of]), len(r[by])) {
		values = append(values, figure(r[of][i])/figure(r[by][i]))
	}
	return median(values)
}

// median is the middle value, the mean of both if there are two, and 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// The figures of a run.

func wallSeconds(m measured) float64 { return m.wall.Seconds() }
func cpuSeconds(m measured) float64  { return m.cpu.Seconds() }
func simulatedMillis(m measured) float64 {
	return m.simulated.Seconds() * 1e3
}
func peakMiB(m measured) float64             { return float64(m.peakBytes) / (1 << 20) }
func operationsPerSecond(m measured) float64 { return float64(m.operations) / m.wall.Seconds() }
func eventsPerSecond(m measured) float64     { return float64(m.events) / m.wall.Seconds() }
