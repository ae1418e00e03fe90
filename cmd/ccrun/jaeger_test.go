package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/traces"
	"github.com/ccrun/ccrun/traces/jaegertest"
)

// TestRingInJaeger runs a ring all-gather on four ranks as a user does, lets
// ccrun export it to a real Jaeger, and asks that for it: what ccrun says it
// has exported is there, it is what the run directory holds, and Jaeger has
// nothing to complain of.
func TestRingInJaeger(t *testing.T) {
	server := jaegertest.Start(t)
	wasm, err := newGuestBuilder(t.TempDir()).build("ring_allgather")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for protocol, endpoint := range map[string]string{"grpc": server.GRPC, "http/protobuf": server.HTTP} {
		dir := filepath.Join(t.TempDir(), "run")
		r := runToJaeger(t, dir, wasm, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
		run, err := traces.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		want := map[string]*traces.Span{}
		for s := range traces.Spans(run, traces.Info{RunID: r.RunID}, traces.SpanOptions{Level: flight.LevelMessage}) {
			want[s.Trace.String()+"/"+s.ID.String()] = s
		}
		got := spansInJaeger(t, server, want)
		if exported := r.Spans[0].Exported; exported != int64(len(want)) || len(got) != len(want) {
			t.Errorf("%s: ccrun says that it exported %d spans, Jaeger has %d, the run directory %d", protocol, exported, len(got), len(want))
		}
		for id, s := range got {
			checkShown(t, s, want[id], r.RunID)
		}
		checkRing(t, got)
		total += int64(len(got))
	}
	if services, want := server.Services(t), []string{"ccrun", "rank-00", "rank-01", "rank-02", "rank-03"}; !slices.Equal(services, want) {
		t.Errorf("services %q, want %q", services, want)
	}
	if accepted, refused, stored := server.Counts(t); accepted != total || stored != total || refused != 0 {
		t.Errorf("Jaeger took %d spans, stored %d and refused %d of %d", accepted, stored, refused, total)
	}
}

// runToJaeger is one run and its report.
func runToJaeger(t *testing.T, dir, wasm string, variables ...string) *report {
	t.Helper()
	cmd := exec.Command("ccrun", "--json", "--run-dir", dir, "--trace", "message", "-o", "otlp", "-n", "4", wasm, "-bytes", "64KiB", "-slice", "16KiB", "-iters", "3")
	cmd.Env = append(append(os.Environ(), variables...), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "warning") {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	r := &report{}
	if err := json.Unmarshal(stdout, r); err != nil {
		t.Fatal(err)
	}
	if line := fmt.Sprintf("ccrun: %d spans exported to http://127.0.0.1:", r.Spans[0].Exported); !strings.Contains(stderr.String(), line) {
		t.Errorf("no %q in\n%s", line, stderr.String())
	}
	return r
}

// spansInJaeger is what Jaeger has of the traces of these spans.
func spansInJaeger(t *testing.T, server *jaegertest.Server, want map[string]*traces.Span) map[string]jaegertest.Span {
	t.Helper()
	got := map[string]jaegertest.Span{}
	asked := map[string]bool{}
	for _, s := range want {
		id := s.Trace.String()
		if asked[id] {
			continue
		}
		asked[id] = true
		for _, shown := range server.Trace(t, id) {
			if _, twice := got[id+"/"+shown.ID]; twice {
				t.Errorf("identifier %s is there twice", shown.ID)
			}
			got[id+"/"+shown.ID] = shown
		}
	}
	return got
}

// checkShown compares a span in Jaeger with that of the run directory.
func checkShown(t *testing.T, shown jaegertest.Span, want *traces.Span, runID string) {
	t.Helper()
	if want == nil {
		t.Errorf("%s %s: the run directory has no such span", shown.Name, shown.ID)
		return
	}
	if shown.Name != want.Name || shown.Kind != want.Kind.String() || shown.Service != want.Resource.Service ||
		shown.Start != want.Start/1000 || len(shown.Links) != len(want.Links) || len(shown.Tags) != len(want.Attributes) {
		t.Errorf("Jaeger shows %+v, the run directory has %+v", shown, want)
	}
	if want.Parent != (traces.SpanID{}) && shown.Parent != want.Parent.String() {
		t.Errorf("%s: parent %s, want %s", shown.Name, shown.Parent, want.Parent)
	}
	if shown.Process["ccl.run.id"] != runID || shown.Process["host.name"] == "" {
		t.Errorf("%s: resource %v", shown.Name, shown.Process)
	}
	if len(shown.Warnings) > 0 {
		t.Errorf("%s: Jaeger warns: %q", shown.Name, shown.Warnings)
	}
}

// checkRing counts the terms of four rings, a warm-up and three iterations: in
// each, every rank's chunk moves three times, in one flow of four slices.
func checkRing(t *testing.T, got map[string]jaegertest.Span) {
	t.Helper()
	counts := map[string]int{}
	for _, s := range got {
		counts[s.Name]++
	}
	const rings, ranks, steps, slicesOfChunk = 4, 4, 3, 4
	const transfers = rings * ranks * steps
	for name, want := range map[string]int{
		"run": 1, "all_gather": rings, "all_gather rank": rings * ranks, "chunk send": transfers, "chunk recv": transfers,
		"flow": transfers, "slice recv": transfers * slicesOfChunk, "message": transfers * slicesOfChunk,
	} {
		if counts[name] != want {
			t.Errorf("%d spans %q, want %d", counts[name], name, want)
		}
	}
}
