package traces

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/ccrun/ccrun/host/op"
)

func serve(t *testing.T, dir string, ranks int) *MetricsServer {
	t.Helper()
	s, err := ServeMetrics("127.0.0.1:0", dir, ranks, Info{RunID: "run-1", Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/openmetrics-text")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %s", url, err, answer.Status)
	}
	return string(body)
}

// histograms adds up what the server has, by name.
func histograms(t *testing.T, s *MetricsServer) map[string]total {
	t.Helper()
	families, err := s.cache.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]total{}
	for _, family := range families {
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		var sum total
		for _, m := range family.Metric {
			sum.count += int64(m.Histogram.GetSampleCount())
			sum.sum += m.Histogram.GetSampleSum()
		}
		out[family.GetName()] = sum
	}
	return out
}

// prometheusNames are the histograms' names there.
var prometheusNames = map[quantity]string{
	quantityCCT: "ccl_collective_duration_seconds", quantityRCCT: "ccl_chunk_duration_seconds", quantityFCT: "ccl_flow_duration_seconds",
	quantitySlice: "ccl_slice_duration_seconds", quantitySkew: "ccl_rank_start_skew_seconds", quantityMessage: "ccl_message_size_bytes",
}

// TestServeMetrics scrapes while records come, and at the end finds what a
// reader of the whole run finds.
func TestServeMetrics(t *testing.T) {
	rec := newRecording(t, 4, 0)
	s := serve(t, rec.dir, 4)
	if text := scrape(t, s.URL()); !strings.Contains(text, `ccl_size="4"`) || strings.Contains(text, "ccl_collective_duration") {
		t.Errorf("before the first collective:\n%s", text)
	}
	g := ring{ranks: 4, slices: 3, iterations: 30, sliceBytes: 1 << 10, sliceNanos: 3000, skew: 40, kind: op.Send, slowRank: -1}
	g.record(rec)
	s.cache.at = time.Time{} // as if a second had passed
	text := scrape(t, s.URL())
	for _, want := range []string{
		`ccl_collective_duration_seconds_count{ccl_algorithm="ring",ccl_data_bytes="12288",ccl_operation="all_gather",ccl_size="4"} 30`,
		`ccl_collectives_total{ccl_algorithm="ring",ccl_data_bytes="12288",ccl_operation="all_gather",ccl_outcome="measured",ccl_size="4"} 30`,
		`ccl_slice_duration_seconds_count{ccl_algorithm="ring",ccl_data_bytes="12288",ccl_operation="all_gather",ccl_size="4",ccl_slice_stage="recv"} 1080`,
		`ccl_io_bytes_total{ccl_direction="send",ccl_rank="3"} 276480`,
		`ccl_trace_records_total{ccl_rank="0"} 570`,
		`le="5e-05"} 30 # {`, // an exemplar
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if err := rec.line("2 collective 900000 900100 c=31 op=all_reduce ranks=4"); err != nil { // the others were lost
		t.Fatal(err)
	}
	run := rec.open(t)
	s.Finish()
	got := histograms(t, s)
	for q, want := range totalsOf(run) {
		for number, name := range prometheusNames {
			if instruments[number].name == q && !got[name].equals(*want) {
				t.Errorf("%s: %+v, want %+v", name, got[name], *want)
			}
		}
	}
}

// TestServeMetricsSeldom asks often, and from several sides, and is answered
// with metrics that are at most a second old.
func TestServeMetricsSeldom(t *testing.T) {
	rec := newRecording(t, 1, 0)
	s := serve(t, rec.dir, 1)
	scrape(t, s.URL())
	first := s.cache.at
	ring{ranks: 1, slices: 1, iterations: 3, sliceBytes: 8, sliceNanos: 10, kind: op.Put}.record(rec)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for range 50 {
				if _, err := s.cache.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	asking.Wait()
	if elapsed := time.Since(first); elapsed < metricsInterval && s.cache.at != first {
		t.Errorf("gathered again within %v", elapsed)
	}
}

// TestServeMetricsAtTheEnd has a run that is over before anybody asks: nothing
// is read until then, and all of it then, once.
func TestServeMetricsAtTheEnd(t *testing.T) {
	rec := newRecording(t, 1, 0)
	s := serve(t, rec.dir, 1)
	ring{ranks: 1, slices: 1, iterations: 3, sliceBytes: 8, sliceNanos: 10, kind: op.Put}.record(rec)
	s.Finish()
	if n := len(s.cache.follower.feeds); n != 0 || s.cache.finished {
		t.Errorf("%d files were read although nobody asked, finished %v", n, s.cache.finished)
	}
	const want = `ccl_collectives_total{ccl_algorithm="ring",ccl_data_bytes="8",ccl_operation="all_gather",ccl_outcome="measured",ccl_size="1"} 3.0`
	for range 2 {
		if got := samplesOf(scrape(t, s.URL()), "ccl_collectives_total"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestServeMetricsRefuses(t *testing.T) {
	s := serve(t, t.TempDir(), 1)
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/metrics")
	if second, err := ServeMetrics(address, t.TempDir(), 1, Info{}); err == nil {
		second.Close()
		t.Error("two servers at one address")
	}
	answer, err := http.Get("http://" + address + "/") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("/ is %s", answer.Status)
	}
}

// TestServeCollectivesInFlight tells how many collectives are open only where
// all ends are known: of three ranks one has recorded nothing, and the file of
// another is full.
func TestServeCollectivesInFlight(t *testing.T) {
	rec := newRecording(t, 3, 0)
	for _, w := range rec.writers {
		w.BeginCollective(3, uint8(op.AllGather))
	}
	for _, line := range []string{"0 collective 0 9 c=1 op=all_gather ranks=1", "0 collective 9 19 c=2 op=all_gather ranks=1"} {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	for rec.writers[2].Counters().Dropped == 0 {
		if err := rec.line("2 mark 1 2 name=step"); err != nil {
			t.Fatal(err)
		}
	}
	const want = `ccl_collectives_in_flight{ccl_rank="0"} 1.0`
	if got := samplesOf(scrape(t, serve(t, rec.dir, 3).URL()), "ccl_collectives_in_flight"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	data, err := collectMetrics(rec.open(t), &Info{}, sdkmetric.DefaultTemporalitySelector)
	if err != nil {
		t.Fatal(err)
	}
	var points []metricdata.DataPoint[int64]
	for _, m := range data.ScopeMetrics[0].Metrics {
		if m.Name == "ccl.collectives.in_flight" {
			points = m.Data.(metricdata.Gauge[int64]).DataPoints
		}
	}
	if rank := attribute.NewSet(attribute.Int("ccl.rank", 0)); len(points) != 1 || points[0].Value != 1 || !points[0].Attributes.Equals(&rank) {
		t.Errorf("of the whole run: %v", points)
	}
}

// samplesOf is the lines of a metric.
func samplesOf(text, name string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+"{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}
