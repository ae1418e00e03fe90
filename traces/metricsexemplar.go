package traces

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/trace"
)

// exemplarTime is the key of the time at which what is measured happened: the
// SDK itself would take the time at which it is told.
type exemplarTime struct{}

// largest is a reservoir that keeps the largest value of each bucket. So the
// examples are those that one looks for, and the same ones every time.
type largest struct {
	bounds  []float64
	buckets []exemplar.Exemplar // Value of type UnknownValueType where there is none
}

// largestOfEach makes such reservoirs.
func largestOfEach(bounds []float64) sdkmetric.ExemplarReservoirProviderSelector {
	return func(sdkmetric.Aggregation) exemplar.ReservoirProvider {
		return func(attribute.Set) exemplar.Reservoir {
			return &largest{bounds: bounds, buckets: make([]exemplar.Exemplar, len(bounds)+1)}
		}
	}
}

// Offer keeps a measurement if it is the largest of its bucket so far.
func (s *largest) Offer(ctx context.Context, _ time.Time, v exemplar.Value, _ []attribute.KeyValue) {
	value := number(v)
	i, _ := slices.BinarySearch(s.bounds, value)
	kept := &s.buckets[i]
	if kept.Value.Type() != exemplar.UnknownValueType && value <= number(kept.Value) {
		return
	}
	at, _ := ctx.Value(exemplarTime{}).(time.Time)
	span := trace.SpanContextFromContext(ctx)
	traceID, spanID := span.TraceID(), span.SpanID()
	*kept = exemplar.Exemplar{Time: at, Value: v, TraceID: traceID[:], SpanID: spanID[:]}
}

// Collect gives what is kept, in order of size.
func (s *largest) Collect(dest *[]exemplar.Exemplar) {
	*dest = (*dest)[:0]
	for i := range s.buckets {
		if s.buckets[i].Value.Type() != exemplar.UnknownValueType {
			*dest = append(*dest, s.buckets[i])
		}
	}
}

func number(v exemplar.Value) float64 {
	if v.Type() == exemplar.Int64ValueType {
		return float64(v.Int64())
	}
	return v.Float64()
}
