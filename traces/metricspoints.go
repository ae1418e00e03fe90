package traces

import (
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// pointsOf is how many points metrics have.
func pointsOf(data *metricdata.ResourceMetrics) int64 {
	n := 0
	eachMetric(data, func(m *metricdata.Metrics) {
		switch d := m.Data.(type) {
		case metricdata.Gauge[int64]:
			n += len(d.DataPoints)
		case metricdata.Gauge[float64]:
			n += len(d.DataPoints)
		case metricdata.Sum[int64]:
			n += len(d.DataPoints)
		case metricdata.Histogram[int64]:
			n += len(d.DataPoints)
		case metricdata.Histogram[float64]:
			n += len(d.DataPoints)
		case metricdata.ExponentialHistogram[int64]:
			n += len(d.DataPoints)
		case metricdata.ExponentialHistogram[float64]:
			n += len(d.DataPoints)
		}
	})
	return int64(n)
}

// between sets the time of all points, which the SDK takes for the time at
// which it was told.
func between(data *metricdata.ResourceMetrics, start, end time.Time) {
	eachMetric(data, func(m *metricdata.Metrics) {
		switch d := m.Data.(type) {
		case metricdata.Gauge[int64]:
			simpleBetween(d.DataPoints, start, end)
		case metricdata.Gauge[float64]:
			simpleBetween(d.DataPoints, start, end)
		case metricdata.Sum[int64]:
			simpleBetween(d.DataPoints, start, end)
		case metricdata.Histogram[int64]:
			fixedBetween(d.DataPoints, start, end)
		case metricdata.Histogram[float64]:
			fixedBetween(d.DataPoints, start, end)
		case metricdata.ExponentialHistogram[int64]:
			exponentialBetween(d.DataPoints, start, end)
		case metricdata.ExponentialHistogram[float64]:
			exponentialBetween(d.DataPoints, start, end)
		}
	})
}

func eachMetric(data *metricdata.ResourceMetrics, f func(*metricdata.Metrics)) {
	for i := range data.ScopeMetrics {
		for j := range data.ScopeMetrics[i].Metrics {
			f(&data.ScopeMetrics[i].Metrics[j])
		}
	}
}

func simpleBetween[N int64 | float64](points []metricdata.DataPoint[N], start, end time.Time) {
	for i := range points {
		points[i].StartTime, points[i].Time = start, end
	}
}

func fixedBetween[N int64 | float64](points []metricdata.HistogramDataPoint[N], start, end time.Time) {
	for i := range points {
		points[i].StartTime, points[i].Time = start, end
	}
}

func exponentialBetween[N int64 | float64](points []metricdata.ExponentialHistogramDataPoint[N], start, end time.Time) {
	for i := range points {
		points[i].StartTime, points[i].Time = start, end
	}
}
