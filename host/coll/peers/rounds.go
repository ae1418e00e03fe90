package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// nanosBy is what one run of a contestant measured, under names that say what.
type nanosBy map[string]float64

// contestant is a program that takes part: run measures it once with one size.
type contestant struct {
	name string
	run  func(ctx context.Context, size ccrun.ByteSize) (nanosBy, error)
}

// runLimit is how long one run of a contestant may take; it takes seconds.
const runLimit = time.Minute

// runLimited ends a run that hangs.
func (c contestant) runLimited(ctx context.Context, size ccrun.ByteSize) (nanosBy, error) {
	ctx, stop := context.WithTimeout(ctx, runLimit)
	defer stop()
	measured, err := c.run(ctx, size)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return measured, err
}

// rounds is what was measured with one size, a value for each round.
type rounds map[string][]float64

// play lets all contestants play all rounds.
func play(ctx context.Context, list []contestant, count int, size ccrun.ByteSize) (rounds, error) {
	results := rounds{}
	for round := range count {
		if err := results.play(ctx, list, round, size); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// play lets every contestant run once. Each round begins with another one.
func (r rounds) play(ctx context.Context, list []contestant, round int, size ccrun.ByteSize) error {
	for i := range list {
		c := list[(i+round)%len(list)]
		measured, err := c.runLimited(ctx, size)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for name, nanos := range measured {
			r[name] = append(r[name], nanos)
		}
	}
	return nil
}

// nanos is the median time, or 0 if nothing was measured.
func (r rounds) nanos(name string) float64 { return median(r[name]) }

// ratio is the median over the rounds of one time divided by another of the
// same round.
func (r rounds) ratio(of, by string) float64 {
	var ratios []float64
	for i := range min(len(r[of]), len(r[by])) {
		ratios = append(ratios, r[of][i]/r[by][i])
	}
	return median(ratios)
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
