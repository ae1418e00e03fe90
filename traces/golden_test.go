package traces

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestGolden runs the scripts of testdata/golden. Each begins a run with
// "records" (one record a line) or "ring", and then asks for it in one form or
// another. Rewrite with -rewrite and read the difference.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var run *Run
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "records", "ring":
				run = invent(t, d)
				return ""
			default:
				return show(t, d, run)
			}
		})
	})
}

// invent writes the flight files that a script describes.
func invent(t *testing.T, d *datadriven.TestData) *Run {
	ranks := 2
	g := ring{slices: 1, iterations: 1, sliceBytes: 1024, sliceNanos: 100, kind: op.Put, slowRank: 1}
	d.MaybeScanArgs(t, "ranks", &ranks)
	d.MaybeScanArgs(t, "slices", &g.slices)
	d.MaybeScanArgs(t, "iterations", &g.iterations)
	d.MaybeScanArgs(t, "skew", &g.skew)
	d.MaybeScanArgs(t, "nanos", &g.sliceNanos)
	d.MaybeScanArgs(t, "slow", &g.slowTimes)
	kinds := map[string]op.Kind{"put": op.Put, "get": op.Get, "send": op.Send}
	protocol := "put"
	d.MaybeScanArgs(t, "protocol", &protocol)
	g.ranks, g.kind = ranks, kinds[protocol]
	rec := newRecording(t, ranks, 0)
	if d.Cmd == "ring" {
		g.record(rec)
	}
	for line := range strings.Lines(d.Input) {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	return rec.open(t)
}

// show gives the run in the form that the command names.
func show(t *testing.T, d *datadriven.TestData, run *Run) string {
	var b strings.Builder
	switch d.Cmd {
	case "terms":
		for _, c := range run.Collectives() {
			b.WriteString(describe(c))
		}
	case "summary":
		s := Summarize(run)
		text, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		b.WriteString("\n")
	case "table":
		s := Summarize(run)
		if err := s.WriteTable(&b, d.HasArg("color")); err != nil {
			t.Fatal(err)
		}
	case "spans":
		b.WriteString(describeSpans(slices.Collect(Spans(run, testInfo(d), spanOptions(t, d)))))
	case "csv":
		if err := WriteCSV(&b, run); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(b.String(), "\r\n", "\n")
	case "log":
		if err := WriteLog(&b, run); err != nil {
			t.Fatal(err)
		}
	case "perfetto":
		b.WriteString(importPerfetto(t, run, testInfo(d)).String())
	case "threshold":
		for line := range strings.Lines(d.Input) {
			th, err := ParseThreshold(strings.TrimSpace(line))
			if err != nil {
				b.WriteString(err.Error() + "\n")
				continue
			}
			crossed, text := th.Check(Summarize(run))
			b.WriteString(map[bool]string{true: "crossed  ", false: "holds    "}[crossed] + text + "\n")
		}
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	return b.String()
}

const testTraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func testInfo(d *datadriven.TestData) Info {
	info := Info{RunID: "run-1", Device: "cpu", ServiceVersion: "v0", Labels: map[string]string{"team": "x"}}
	if d.HasArg("traceparent") {
		info.TraceParent = testTraceParent
	}
	return info
}

func spanOptions(t *testing.T, d *datadriven.TestData) (o SpanOptions) {
	level := "slice"
	d.MaybeScanArgs(t, "level", &level)
	d.MaybeScanArgs(t, "limit", &o.PerCollective)
	d.MaybeScanArgs(t, "total", &o.Total)
	o.Level, _ = flight.ParseLevel(level)
	return o
}
