package traces

import (
	"context"
	"encoding/hex"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// metricCollector takes metrics over gRPC and HTTP.
type metricCollector struct {
	colmetricspb.UnimplementedMetricsServiceServer
	endpoint string
	rejects  int64

	mu       sync.Mutex
	requests []*colmetricspb.ExportMetricsServiceRequest
}

func (c *metricCollector) Export(_ context.Context, req *colmetricspb.ExportMetricsServiceRequest) (*colmetricspb.ExportMetricsServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, req)
	answer := &colmetricspb.ExportMetricsServiceResponse{}
	if c.rejects > 0 {
		answer.PartialSuccess = &colmetricspb.ExportMetricsPartialSuccess{RejectedDataPoints: c.rejects, ErrorMessage: "too old"}
	}
	return answer, nil
}

func (c *metricCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req := &colmetricspb.ExportMetricsServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, req)
	}
	if err != nil || r.URL.Path != "/v1/metrics" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	answer, _ := c.Export(r.Context(), req)
	encoded, err := proto.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.Write(encoded)
}

func newMetricCollectors(t *testing.T) map[string]*metricCollector {
	t.Helper()
	overHTTP := &metricCollector{}
	server := httptest.NewServer(overHTTP)
	t.Cleanup(server.Close)
	overHTTP.endpoint = server.URL
	overGRPC := &metricCollector{}
	overGRPC.endpoint = serveGRPC(t, func(s *grpc.Server) { colmetricspb.RegisterMetricsServiceServer(s, overGRPC) })
	return map[string]*metricCollector{"http/protobuf": overHTTP, "grpc": overGRPC}
}

func serveGRPC(t *testing.T, register func(*grpc.Server)) (endpoint string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-stopped; err != nil {
			t.Errorf("collector: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// metricsInfo is exportInfo with the variables of metrics cleared as well.
func metricsInfo(t *testing.T, variables map[string]string) Info {
	t.Helper()
	for _, name := range []string{"OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"} {
		t.Setenv(name, "")
	}
	return exportInfo(t, variables)
}

// TestExportMetrics sends the metrics of a run over both protocols. Counts and
// sums are those of the run's collectives, and exemplars name spans that are
// exported.
func TestExportMetrics(t *testing.T) {
	run := tracedRun(t)
	spans := map[string]bool{}
	for protocol, c := range newMetricCollectors(t) {
		info := metricsInfo(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
		stats, err := ExportMetrics(t.Context(), run, info)
		if err != nil || stats.Points == 0 || stats.Failed != 0 || len(c.requests) != 1 {
			t.Fatalf("%s: %v, %v, %d requests", protocol, stats, err, len(c.requests))
		}
		for s := range Spans(run, info, SpanOptions{}) {
			spans[s.Trace.String()+s.ID.String()] = true
		}
		got := metricsByName(t, c.requests[0])
		checkTotals(t, got, run)
		checkExemplars(t, got, spans)
	}
}

// metricsByName checks what all points have in common.
func metricsByName(t *testing.T, req *colmetricspb.ExportMetricsServiceRequest) map[string]*metricspb.Metric {
	t.Helper()
	resource := req.ResourceMetrics[0].Resource.Attributes
	if got := textOf(resource, "ccl.run.id"); got != "run-1" {
		t.Errorf("ccl.run.id is %q", got)
	}
	out := map[string]*metricspb.Metric{}
	for _, m := range req.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		out[m.Name] = m
		for _, p := range m.GetExponentialHistogram().GetDataPoints() {
			if p.StartTimeUnixNano < wallOffset || p.TimeUnixNano > wallOffset+1e6 || p.TimeUnixNano < p.StartTimeUnixNano {
				t.Errorf("%s is from %d to %d, not within the run", m.Name, p.StartTimeUnixNano, p.TimeUnixNano)
			}
		}
	}
	return out
}

func textOf(attributes []*commonpb.KeyValue, key string) string {
	for _, kv := range attributes {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// total is the count and sum of all points of a histogram.
type total struct {
	count int64
	sum   float64
}

func (t *total) add(value float64) { t.count, t.sum = t.count+1, t.sum+value }

func (t total) equals(other total) bool {
	return t.count == other.count && math.Abs(t.sum-other.sum) <= 1e-9*math.Abs(t.sum)
}

// totalsOf adds up what the histograms of a run must hold.
func totalsOf(run *Run) map[string]*total {
	want := map[string]*total{}
	for q := quantityCCT; q <= quantityMessage; q++ {
		want[instruments[q].name] = &total{}
	}
	add := func(q quantity, value float64) { want[instruments[q].name].add(value) }
	for _, c := range run.Collectives() {
		if !c.Complete || c.Warmup || c.Disagreement != "" {
			continue
		}
		add(quantityCCT, seconds(c.CCT()))
		for _, p := range c.Parts {
			add(quantitySkew, seconds(p.Start-c.Start()))
		}
		for _, l := range c.Local {
			add(quantitySlice, seconds(l.End-l.Start))
		}
		for _, tr := range c.Transfers {
			add(quantityRCCT, seconds(tr.RCCT()))
			for _, s := range append(tr.Slices, tr.Sends...) {
				add(quantitySlice, seconds(s.End-s.Start))
			}
			for _, f := range tr.Flows {
				add(quantityFCT, seconds(f.FCT()))
				for _, m := range f.Messages {
					add(quantityMessage, float64(m.Bytes))
				}
			}
		}
	}
	return want
}

func checkTotals(t *testing.T, got map[string]*metricspb.Metric, run *Run) {
	t.Helper()
	for name, want := range totalsOf(run) {
		var sum total
		for _, p := range got[name].GetExponentialHistogram().GetDataPoints() {
			sum.count += int64(p.Count)
			sum.sum += p.GetSum()
		}
		if want.count == 0 || !sum.equals(*want) {
			t.Errorf("%s: %+v, want %+v", name, sum, *want)
		}
	}
	s := Summarize(run)
	bandwidths := got["ccl.bus.bandwidth"].GetGauge().GetDataPoints()
	if len(bandwidths) != 1 || bandwidths[0].GetAsDouble() != s.Collectives[0].BusBW && bandwidths[0].GetAsDouble() != s.Collectives[1].BusBW {
		t.Errorf("bus bandwidths %v, the summary has %v", bandwidths, s.Collectives)
	}
	records := int64(0)
	for _, p := range got["ccl.trace.records"].GetSum().GetDataPoints() {
		records += p.GetAsInt()
	}
	if records != s.Records.Written {
		t.Errorf("%d records, want %d", records, s.Records.Written)
	}
}

func checkExemplars(t *testing.T, got map[string]*metricspb.Metric, spans map[string]bool) {
	t.Helper()
	for q := quantityCCT; q <= quantityMessage; q++ {
		count := 0
		for _, p := range got[instruments[q].name].GetExponentialHistogram().GetDataPoints() {
			for _, e := range p.Exemplars {
				count++
				if !spans[hex.EncodeToString(e.TraceId)+hex.EncodeToString(e.SpanId)] {
					t.Errorf("%s: no span is %x %x", instruments[q].name, e.TraceId, e.SpanId)
				}
			}
		}
		if count == 0 {
			t.Errorf("%s has no exemplars", instruments[q].name)
		}
	}
}

func TestExportMetricsPartialSuccess(t *testing.T) {
	for protocol, c := range newMetricCollectors(t) {
		c.rejects = 3
		info := metricsInfo(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
		stats, err := ExportMetrics(t.Context(), tracedRun(t), info)
		if err == nil || stats.Failed != 3 || stats.Points == 0 || err.Error() != "export metrics: the collector rejected 3 points" {
			t.Errorf("%s: %v, %v", protocol, stats, err)
		}
	}
}

// TestExportMetricsTurnedOff has the reasons for which nothing is sent, and
// those that are errors.
func TestExportMetricsTurnedOff(t *testing.T) {
	tracesOnly := httptest.NewServer(http.NotFoundHandler())
	defer tracesOnly.Close()
	tracesOnlyGRPC := serveGRPC(t, func(s *grpc.Server) {
		coltracepb.RegisterTraceServiceServer(s, coltracepb.UnimplementedTraceServiceServer{})
	})
	for _, c := range []struct{ variables, disabled, err string }{
		{"OTEL_SDK_DISABLED=TRUE", "OTEL_SDK_DISABLED is true", ""},
		{"OTEL_METRICS_EXPORTER=none", "OTEL_METRICS_EXPORTER is none", ""},
		{"OTEL_METRICS_EXPORTER=console", "", `OTEL_METRICS_EXPORTER is "console"`},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:9", "the endpoint is for traces", ""},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=localhost:9", "", "it needs a scheme"},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:9", "", "no collector at http://127.0.0.1:9"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=" + tracesOnly.URL, "the collector takes none", ""},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_ENDPOINT=" + tracesOnlyGRPC, "the collector takes none", ""},
		{"OTEL_METRICS_EXPORTER=otlp OTEL_EXPORTER_OTLP_ENDPOINT=" + tracesOnly.URL, "", "404 Not Found"},
	} {
		t.Run(c.variables, func(t *testing.T) {
			variables := map[string]string{}
			for _, pair := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(pair, "=")
				variables[name] = value
			}
			stats, err := ExportMetrics(t.Context(), tracedRun(t), metricsInfo(t, variables))
			if stats.Disabled != c.disabled || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, %v, want %q, %q", stats, err, c.disabled, c.err)
			}
		})
	}
}
