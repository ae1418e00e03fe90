package traces

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/traces/jaegertest"
)

// millionSlices is the directory of a run of 8 ranks with 1,003,520 slices in
// 280 collectives, and how many spans it has.
func millionSlices(b *testing.B) (dir string, spans int64) {
	b.Helper()
	const ranks, slices, iterations = 8, 64, 280
	rec := newRecording(b, ranks, 1<<20)
	ring{ranks: ranks, slices: slices, iterations: iterations, sliceBytes: 1 << 20, sliceNanos: 100, skew: 5, kind: op.Put}.record(rec)
	rec.open(b)
	const transfers = ranks * (ranks - 1)
	return rec.dir, iterations*(1+ranks+3*transfers+transfers*slices) + 1
}

// noLimit is for runs larger than what is exported unasked.
var noLimit = SpanOptions{Total: 10_000_000}

// BenchmarkMillionToJSON reads the flight files of a run with a million slices
// and writes its spans to a file.
func BenchmarkMillionToJSON(b *testing.B) {
	dir, spans := millionSlices(b)
	path := filepath.Join(b.TempDir(), "spans.json")
	for b.Loop() {
		run, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		stats, err := WriteJSONFile(path, run, Info{RunID: "million"}, noLimit)
		if err != nil || stats != (ExportStats{Spans: spans}) {
			b.Errorf("%v, %v, want %d spans", stats, err, spans)
		}
		run.Close()
	}
	b.ReportMetric(float64(spans), "spans")
	b.ReportMetric(peakMemory(b), "peak-MiB")
}

// BenchmarkMillionToJaeger exports a million slices to a real Jaeger, of which
// none may be lost by its own counters.
func BenchmarkMillionToJaeger(b *testing.B) {
	dir, spans := millionSlices(b)
	for b.Loop() {
		b.StopTimer()
		server := jaegertest.Start(b)
		b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.GRPC)
		b.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
		b.StartTimer()
		run, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		stats, err := ExportOTLP(b.Context(), run, Info{RunID: "million", Env: os.Getenv}, noLimit)
		if err != nil || stats != (ExportStats{Spans: spans}) {
			b.Errorf("%v, %v, want %d spans", stats, err, spans)
		}
		run.Close()
		b.StopTimer()
		if accepted, refused, stored := server.Counts(b); accepted != spans || stored != spans || refused != 0 {
			b.Errorf("Jaeger took %d spans, stored %d and refused %d of %d", accepted, stored, refused, spans)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(spans), "spans")
	b.ReportMetric(peakMemory(b), "peak-MiB")
}

// peakMemory is the largest resident memory of this process so far, in MiB.
// Other benchmarks of the same process count, so it is worth reading when one
// runs alone.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	file, err := os.Open("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}
