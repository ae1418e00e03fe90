package traces

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// exportInfo sets the environment for one test: the exporters read theirs from
// the process.
func exportInfo(t *testing.T, variables map[string]string) Info {
	t.Helper()
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED",
	} {
		t.Setenv(name, variables[name])
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	return Info{
		RunID: "run-1", Device: "cpu", Host: "node", ServiceVersion: "v0", Env: os.Getenv,
		Labels: map[string]string{"quote\"": "back\\slash, µ, \t"}, TraceParent: testTraceParent,
	}
}

// TestExportEqualsJSON sends a run over both protocols and writes it to a file:
// all three hold the same.
func TestExportEqualsJSON(t *testing.T) {
	run := tracedRun(t)
	options := SpanOptions{Level: flight.LevelMessage}
	overHTTP, overGRPC := newHTTPCollector(t), newGRPCCollector(t)
	var info Info
	for protocol, c := range map[string]*collector{"http/protobuf": overHTTP, "grpc": overGRPC} {
		info = exportInfo(t, map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": c.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
			"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_HEADERS": "x-team=abc",
		})
		stats, err := ExportOTLP(t.Context(), run, info, options)
		if err != nil || stats.Failed != 0 || stats.Spans == 0 {
			t.Fatalf("%s: %v, %v", protocol, stats, err)
		}
	}
	var file bytes.Buffer
	stats, err := WriteJSON(&file, run, info, options)
	if err != nil {
		t.Fatal(err)
	}
	want := canonical(decodeLines(t, file.Bytes()))
	count := 0
	for _, rs := range want {
		count += len(rs.ScopeSpans[0].Spans)
	}
	if int64(count) != stats.Spans || len(want) != 4 {
		t.Fatalf("%d spans of %d resources in the file, %v", count, len(want), stats)
	}
	compare(t, "http", overHTTP.received(), want)
	compare(t, "grpc", overGRPC.received(), want)
	if got := overHTTP.headers[0].Get("X-Team"); got != "abc" {
		t.Errorf("header x-team %q", got)
	}
}

func compare(t *testing.T, how string, got, want []*tracepb.ResourceSpans) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d resources, want %d", how, len(got), len(want))
	}
	for i := range want {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("%s: %s differs:\n%v\nwant\n%v", how, serviceName(want[i]), got[i], want[i])
		}
	}
}

// decodeLines reads OTLP-JSON lines. protojson wants identifiers in base64.
func decodeLines(t *testing.T, text []byte) []*tracepb.ResourceSpans {
	t.Helper()
	var out []*tracepb.ResourceSpans
	for line := range bytes.Lines(text) {
		var tree any
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		inBase64(t, tree)
		again, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		data := &tracepb.TracesData{}
		if err := protojson.Unmarshal(again, data); err != nil {
			t.Fatal(err)
		}
		out = append(out, data.ResourceSpans...)
	}
	return out
}

func inBase64(t *testing.T, tree any) {
	t.Helper()
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			inBase64(t, child)
		}
	case map[string]any:
		for key, child := range node {
			if key != "traceId" && key != "spanId" && key != "parentSpanId" {
				inBase64(t, child)
				continue
			}
			id, err := hex.DecodeString(child.(string))
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			node[key] = base64.StdEncoding.EncodeToString(id)
		}
	}
}

// TestBatches has more spans than one batch holds.
func TestBatches(t *testing.T) {
	rec := newRecording(t, 8, 0)
	ring{ranks: 8, slices: 8, iterations: 10, sliceBytes: 64, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(t)
	c := newGRPCCollector(t)
	info := exportInfo(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
	stats, err := ExportOTLP(t.Context(), run, info, SpanOptions{})
	if want := int64(10*(1+8+56*3+56*8) + 1); err != nil || stats.Spans != want {
		t.Fatalf("%v, %v, want %d spans", stats, err, want)
	}
	if len(c.requests) != 2 {
		t.Errorf("%d requests", len(c.requests))
	}
	var file bytes.Buffer
	if _, err := WriteJSON(&file, run, info, SpanOptions{}); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(file.Bytes(), []byte("\n")); lines != 2 {
		t.Errorf("%d lines", lines)
	}
}

func TestExportPartialSuccess(t *testing.T) {
	for protocol, c := range map[string]*collector{"http/protobuf": newHTTPCollector(t), "grpc": newGRPCCollector(t)} {
		c.rejects = 3
		info := exportInfo(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
		stats, err := ExportOTLP(t.Context(), tracedRun(t), info, SpanOptions{})
		if err == nil || stats.Failed != 3 || stats.Spans == 0 {
			t.Errorf("%s: %v, %v", protocol, stats, err)
		}
	}
}

// TestExportToNobody counts every span as failed, and logs how soon.
func TestExportToNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	listener.Close()
	refusing := newHTTPCollector(t)
	refusing.status = http.StatusUnauthorized
	for name, variables := range map[string]map[string]string{
		"http":    {"OTEL_EXPORTER_OTLP_ENDPOINT": closed},
		"grpc":    {"OTEL_EXPORTER_OTLP_ENDPOINT": closed, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TIMEOUT": "500"},
		"refused": {"OTEL_EXPORTER_OTLP_ENDPOINT": refusing.endpoint},
	} {
		start := time.Now()
		stats, err := ExportOTLP(t.Context(), tracedRun(t), exportInfo(t, variables), SpanOptions{})
		if err == nil || stats.Spans != 0 || stats.Failed == 0 {
			t.Errorf("%s: %v, %v", name, stats, err)
		}
		t.Logf("%s: took %v", name, time.Since(start))
	}
}

func TestExportConfiguration(t *testing.T) {
	run := tracedRun(t)
	for _, c := range []struct{ name, value, disabled, wrong string }{
		{"OTEL_SDK_DISABLED", "true", "OTEL_SDK_DISABLED is true", ""},
		{"OTEL_TRACES_EXPORTER", "none", "OTEL_TRACES_EXPORTER is none", ""},
		{"OTEL_TRACES_EXPORTER", "zipkin", "", `OTEL_TRACES_EXPORTER is "zipkin": the exporters are otlp and none`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "", `export spans: OTEL_EXPORTER_OTLP_PROTOCOL is "http/json": the protocols are grpc and http/protobuf`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317", "", `export spans: endpoint "localhost:4317": it needs a scheme, as in http://localhost:4318`},
	} {
		stats, err := ExportOTLP(t.Context(), run, exportInfo(t, map[string]string{c.name: c.value}), SpanOptions{})
		text := ""
		if err != nil {
			text = err.Error()
		}
		if stats.Disabled != c.disabled || text != c.wrong || stats.Spans != 0 {
			t.Errorf("%s=%s: %v, %v", c.name, c.value, stats, err)
		}
	}
}

func TestWriteJSONFile(t *testing.T) {
	run := tracedRun(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "spans.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	stats, err := WriteJSONFile(path, run, Info{RunID: "a"}, SpanOptions{})
	if err != nil || stats.Spans == 0 {
		t.Fatalf("%v, %v", stats, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), `{"resourceSpans":[`) {
		t.Errorf("%.40s, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v left, %v", entries, err)
	}
	if _, err := WriteJSONFile(filepath.Join(dir, "none", "x"), run, Info{}, SpanOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// TestWriteJSONFileOnFullDisk leaves what was there before.
func TestWriteJSONFileOnFullDisk(t *testing.T) {
	run := tracedRun(t)
	if _, err := WriteJSONFile("/dev/full", run, Info{}, SpanOptions{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full disk: %v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "spans.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, ".spans.jsonl.part")); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteJSONFile(path, run, Info{}, SpanOptions{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full disk: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v left, %v", entries, err)
	}
}

// BenchmarkWriteJSON writes half a million spans.
func BenchmarkWriteJSON(b *testing.B) {
	rec := newRecording(b, 8, 1<<20)
	ring{ranks: 8, slices: 32, iterations: 256, sliceBytes: 1 << 20, sliceNanos: 100, skew: 5, kind: op.Put}.record(rec)
	run := rec.open(b)
	b.ReportAllocs()
	var stats ExportStats
	for b.Loop() {
		var err error
		if stats, err = WriteJSON(io.Discard, run, Info{RunID: "a"}, SpanOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(stats.Spans), "ns/span")
}
