package traces

import (
	"io"
	"testing"
)

func BenchmarkPerfetto(b *testing.B) {
	run := millionRecords(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := WritePerfetto(io.Discard, run, Info{RunID: "run-1"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(peakMemory(b), "peak-MiB")
}
