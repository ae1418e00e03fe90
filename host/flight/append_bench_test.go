package flight_test

import (
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

// benchmarkWriter makes a recorder with room for every iteration, so that the
// benchmark measures records and not drops.
func benchmarkWriter(b *testing.B) *flight.Writer {
	b.Helper()
	path := filepath.Join(b.TempDir(), "rank-0000.flight")
	w, err := flight.Create(path, flight.Meta{Size: 1}, int64(b.N)+1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if dropped := w.Counters().Dropped; dropped != 0 {
			b.Errorf("%d records dropped", dropped)
		}
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	return w
}

// BenchmarkAppend is the whole cost of recording an operation: both clock
// reads and the record. The budget is 70 ns.
func BenchmarkAppend(b *testing.B) {
	w := benchmarkWriter(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		start := w.Now()
		w.Append(&flight.Record{Start: start, End: w.Now(), Bytes: uint64(i), Peer: 1, Kind: 2, Stream: 1})
	}
}

// BenchmarkAppendParallel does the same from every processor at once, as the
// workers of several streams do: the time is wall time per record of any.
func BenchmarkAppendParallel(b *testing.B) {
	w := benchmarkWriter(b)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			start := w.Now()
			w.Append(&flight.Record{Start: start, End: w.Now(), Bytes: 64, Peer: 1, Kind: 2, Stream: 1})
		}
	})
}

// BenchmarkClock is what two readings of the clock cost of that.
func BenchmarkClock(b *testing.B) {
	clock := flight.NewClock()
	var sum int64
	for b.Loop() {
		first := clock.Now()
		sum += clock.Now() - first
	}
	_ = sum
}
