package flight_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

// benchmarkRecords is how many records go into a file before the benchmark
// takes a new one: several segments, so that growing counts, and 32 MiB.
const benchmarkRecords = 8 * segmentRecords

// benchmarkAppend appends b.N records by calls of some, in files that lie in
// memory if they can: the disk's own pace is not the recorder's.
func benchmarkAppend(b *testing.B, some func(w *flight.Writer, n int)) {
	dir, err := os.MkdirTemp("/dev/shm", "flight-")
	if err != nil {
		dir = b.TempDir()
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rank-0000.flight")
	b.ReportAllocs()
	b.StopTimer()
	for left := b.N; left > 0; left -= benchmarkRecords {
		n := min(left, benchmarkRecords)
		w, err := flight.Create(path, flight.Meta{Size: 1}, benchmarkRecords)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		some(w, n)
		b.StopTimer()
		if c := w.Counters(); c.Records != int64(n) || c.Dropped != 0 {
			b.Fatalf("%d records, %d dropped", c.Records, c.Dropped)
		}
		if err := errors.Join(w.Close(), os.Remove(path)); err != nil {
			b.Fatal(err)
		}
	}
}

func appendMany(w *flight.Writer, n int) {
	for i := range n {
		start := w.Start()
		w.Append(&flight.Record{Start: start, End: w.Now(), Bytes: uint64(i), Peer: 1, Kind: 2, Stream: 1})
	}
}

// BenchmarkAppend is the whole cost of recording an operation: both clock
// reads and the record. The budget is 70 ns.
func BenchmarkAppend(b *testing.B) { benchmarkAppend(b, appendMany) }

// BenchmarkAppendTwo does the same from two goroutines at once, as the workers
// of two streams do: the time is wall time per record of either.
func BenchmarkAppendTwo(b *testing.B) {
	benchmarkAppend(b, func(w *flight.Writer, n int) {
		var running sync.WaitGroup
		running.Go(func() { appendMany(w, n/2) })
		appendMany(w, n-n/2)
		running.Wait()
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
