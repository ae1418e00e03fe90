package traces

import (
	"os"
	"slices"
	"strings"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/ccrun/ccrun/host/op"
)

// TestMetricsTable compares the table of metrics with README.md.
func TestMetricsTable(t *testing.T) {
	var table strings.Builder
	if err := WriteMetrics(&table); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), table.String()) {
		t.Errorf("README.md has another table of metrics than metrics.go:\n%s", &table)
	}
}

// TestSeriesOverflow has more sizes than get figures of their own.
func TestSeriesOverflow(t *testing.T) {
	m, err := newMeters(sdkmetric.NewManualReader(), true, (*wholeRun)(&Run{}), &Info{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Collective{Sequence: 1, Op: op.AllGather, Ranks: 1, Complete: true, Parts: []Part{{Finish: 10, Marked: true}}}
	for size := range uint64(2 * seriesMax) {
		c.Bytes = size
		m.collective(&c, 0)
	}
	if len(m.series) != seriesMax+1 {
		t.Errorf("%d series, want %d", len(m.series), seriesMax+1)
	}
	if s := m.seriesOf(&c); s.own || len(s.recent) != seriesMax {
		t.Errorf("the series of the rest has %d collectives, own %v, want %d", len(s.recent), s.own, seriesMax)
	}
}

// TestBandwidthWindow gives more collectives than the median is of.
func TestBandwidthWindow(t *testing.T) {
	s := newSeries(rowKey{ranks: 2, bytes: 1}, true)
	for nanos := range int64(bandwidthWindow + 10) {
		s.add(nanos)
	}
	if got := slices.Min(s.recent); got != 10 || len(s.recent) != bandwidthWindow {
		t.Errorf("%d collectives from %d ns on, want %d from 10", len(s.recent), got, bandwidthWindow)
	}
}

// BenchmarkMetrics enters the collectives of a run of a million records: the
// time of one record.
func BenchmarkMetrics(b *testing.B) {
	rec := newRecording(b, 4, 1<<20)
	ring{ranks: 4, slices: 64, iterations: 1300, sliceBytes: 1 << 16, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(b)
	collectives := run.Collectives()
	m, err := newMeters(sdkmetric.NewManualReader(), false, (*wholeRun)(run), &Info{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range collectives {
			m.collective(c, 0)
		}
	}
	records := float64(Summarize(run).Records.Written)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
