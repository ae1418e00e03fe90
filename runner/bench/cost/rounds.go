package main

import (
	"context"
	"slices"
	"time"
)

// rounds is what was measured, a value for each round: times without and with
// what is priced, in nanoseconds.
type rounds struct{ without, with []float64 }

// warmupRounds come before those that count.
const warmupRounds = 3

// play times both sides in turns. Each begins every other round, because it
// may matter who comes second.
func play(ctx context.Context, count int, without, with func() error) (rounds, error) {
	var r rounds
	for round := range warmupRounds + count {
		first, second := without, with
		if round%2 == 1 {
			first, second = with, without
		}
		a, err := timed(first)
		if err != nil {
			return r, err
		}
		b, err := timed(second)
		if err != nil {
			return r, err
		}
		if round%2 == 1 {
			a, b = b, a
		}
		if round >= warmupRounds {
			r.without, r.with = append(r.without, a), append(r.with, b)
		}
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
	}
	return r, nil
}

func timed(side func() error) (nanos float64, err error) {
	start := time.Now()
	err = side()
	return float64(time.Since(start)), err
}

// perOperation divides the times by so many operations.
func (r rounds) perOperation(count int) rounds {
	return rounds{scaled(r.without, count), scaled(r.with, count)}
}

func scaled(values []float64, divisor int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / float64(divisor)
	}
	return out
}

// nanos is the median of what the second side took longer.
func (r rounds) nanos() float64 {
	return r.median(func(without, with float64) float64 { return with - without })
}

// percent is the median of what the second side took longer, in parts of the
// first one's time.
func (r rounds) percent() float64 {
	return r.median(func(without, with float64) float64 { return 100 * (with - without) / without })
}

// median is that of a value of each round.
func (r rounds) median(of func(without, with float64) float64) float64 {
	values := make([]float64, len(r.with))
	for i := range values {
		values[i] = of(r.without[i], r.with[i])
	}
	return median(values)
}

// median is the middle value, the mean of both if there are two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
