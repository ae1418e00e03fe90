package traces

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

func TestOpenWithoutFiles(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNoFlight) {
		t.Errorf("empty directory: %v", err)
	}
	if _, err := Open("/nonexistent/[run"); !errors.Is(err, ErrNoFlight) {
		t.Errorf("no directory: %v", err)
	}
}

// TestOpenLeavesDamagedFilesOut has one good file among every kind of bad one.
func TestOpenLeavesDamagedFilesOut(t *testing.T) {
	rec := newRecording(t, 3, 0)
	ring{ranks: 3, slices: 1, iterations: 2, sliceBytes: 8, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(t)
	if got := len(run.Collectives()); got != 2 || run.Size() != 3 {
		t.Fatalf("%d collectives of %d ranks", got, run.Size())
	}
	damage := map[string]func(path string) error{
		"rank-0000.flight": func(path string) error { return os.Truncate(path, 100) },
		"rank-0002.flight": func(path string) error { return os.WriteFile(path, make([]byte, 1<<17), 0o600) },
		"rank-7.flight":    func(path string) error { return os.Link(filepath.Join(rec.dir, "rank-0001.flight"), path) },
		"rank-x.flight":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"rank-01.flight":   func(path string) error { return os.Link(filepath.Join(rec.dir, "rank-0001.flight"), path) },
	}
	for name, spoil := range damage {
		if err := spoil(filepath.Join(rec.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	hurt, err := Open(rec.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer hurt.Close()
	if len(hurt.Damaged) != len(damage) {
		t.Errorf("%d damaged files, want %d: %v", len(hurt.Damaged), len(damage), hurt.Damaged)
	}
	for _, err := range hurt.Damaged {
		if !errors.Is(err, flight.ErrFormat) {
			t.Errorf("does not wrap flight.ErrFormat: %v", err)
		}
	}
	s := Summarize(hurt)
	if len(s.Missing) != 2 || s.Missing[0] != 0 || s.Missing[1] != 2 {
		t.Errorf("missing %v", s.Missing)
	}
	if len(s.Collectives) != 1 || s.Collectives[0].Count != 2 {
		t.Errorf("collectives %+v", s.Collectives)
	}
}

// TestOpenWhileRunning reads a run whose ranks still write, and the counters.
func TestOpenWhileRunning(t *testing.T) {
	rec := newRecording(t, 2, 0)
	ring{ranks: 2, slices: 1, iterations: 1, sliceBytes: 8, sliceNanos: 10, kind: op.Put}.record(rec)
	rec.writers[0].CountShare(true)
	rec.writers[0].CountShare(true)
	rec.writers[1].CountShare(false)
	rec.writers[1].CountBuffer(4096)
	rec.writers[1].CountBuffer(-4096)
	rec.writers[0].CountVerified(100, 0)
	run, err := Open(rec.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	s := Summarize(run)
	if s.Shares != (Shares{Hits: 2, Misses: 1, Exchanges: 1}) {
		t.Errorf("shares %+v", s.Shares)
	}
	if s.Memory.DevicePeak[0] != 0 || s.Memory.DevicePeak[1] != 4096 {
		t.Errorf("memory %+v", s.Memory)
	}
	if s.VerifiedBytes != 100 || s.Mismatches != 0 || s.Records.Written != 4 {
		t.Errorf("summary %+v", s)
	}
	verified, err := ParseThreshold("verified==true")
	if err != nil {
		t.Fatal(err)
	}
	if crossed, text := verified.Check(s); crossed {
		t.Errorf("crossed: %s", text)
	}
}

// TestInvariants holds the rules of the terms for rings of many shapes.
func TestInvariants(t *testing.T) {
	for _, kind := range []op.Kind{op.Put, op.Get, op.Send} {
		for _, ranks := range []int{1, 2, 3, 5, 8} {
			rec := newRecording(t, ranks, 0)
			g := ring{ranks: ranks, slices: 3, iterations: 4, sliceBytes: 100, sliceNanos: 70, skew: 33, kind: kind}
			g.record(rec)
			list := rec.open(t).Collectives()
			if len(list) != 4 {
				t.Fatalf("%s on %d ranks: %d collectives", kind, ranks, len(list))
			}
			for _, c := range list {
				var bytes int64
				for i := range c.Transfers {
					bytes += c.Transfers[i].Bytes
				}
				if err := c.Check(); err != nil || !c.Complete {
					t.Errorf("%s on %d ranks: complete %v, %v", kind, ranks, c.Complete, err)
				}
				if want := int64(ranks * (ranks - 1) * 300); bytes != want || len(c.Transfers) != ranks*(ranks-1) {
					t.Errorf("%s on %d ranks: %d bytes in %d transfers, want %d", kind, ranks, bytes, len(c.Transfers), want)
				}
			}
		}
	}
}

func TestCheckFindsBrokenTerms(t *testing.T) {
	rec := newRecording(t, 2, 0)
	ring{ranks: 2, slices: 2, iterations: 1, sliceBytes: 8, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(t)
	breakage := map[string]func(c *Collective){
		"flow bytes":    func(c *Collective) { c.Transfers[0].Flows[0].Bytes++ },
		"chunk bytes":   func(c *Collective) { c.Transfers[0].Bytes++ },
		"slice bytes":   func(c *Collective) { c.Transfers[0].Slices[1].Bytes-- },
		"overlap":       func(c *Collective) { c.Transfers[0].Flows[0].Messages[1].Start-- },
		"flow too long": func(c *Collective) { c.Transfers[0].Flows[0].End += 1000 },
		"CCT too short": func(c *Collective) { c.Transfers[0].End += 10_000_000 },
	}
	for name, spoil := range breakage {
		c := run.gatherNow().list[0]
		if err := c.Check(); err != nil {
			t.Fatalf("whole: %v", err)
		}
		spoil(c)
		if c.Check() == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestNearestRank(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	for _, c := range []struct {
		values        []int64
		percent, want int64
	}{
		{[]int64{7}, 50, 7}, {[]int64{7}, 99, 7}, {[]int64{1, 2}, 50, 1}, {[]int64{1, 2, 3}, 50, 2},
		{hundred, 50, 50}, {hundred, 95, 95}, {hundred, 99, 99}, {hundred[:20], 95, 19}, {hundred[:20], 99, 20}, {hundred[:12], 95, 12},
	} {
		if got := nearestRank(c.values, int(c.percent)); got != c.want {
			t.Errorf("p%d of %d values: %d, want %d", c.percent, len(c.values), got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatSeconds(0), "0 ns"}, {formatSeconds(7.6e-7), "760 ns"}, {formatSeconds(0.9999e-3), "1.00 ms"},
		{formatSeconds(0.01234), "12.3 ms"}, {formatSeconds(123.4), "123 s"}, {formatSeconds(2.5e-6), "2.50 µs"},
		{formatBytes(0), "0 B"}, {formatBytes(1023), "1023 B"}, {formatBytes(64 << 20), "64 MiB"}, {formatBytes(1536), "1.50 KiB"},
		{formatRate(1.75e11), "175 GB/s"}, {formatRate(12.3e12), "12.3 TB/s"}, {formatRate(0), "0 B/s"},
		{printable("a\x1b[2Jb\xff"), "a?[2Jb?"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// BenchmarkSummarize reduces a million records of 8 ranks.
func BenchmarkSummarize(b *testing.B) {
	rec := newRecording(b, 8, 1<<20)
	g := ring{ranks: 8, slices: 32, iterations: 558, sliceBytes: 1 << 20, sliceNanos: 100, skew: 5, kind: op.Put}
	g.record(rec)
	run := rec.open(b)
	b.ReportAllocs()
	for b.Loop() {
		s := Summarize(run)
		if s.Collectives[0].Count != g.iterations {
			b.Fatal(s.Collectives)
		}
	}
	b.ReportMetric(float64(Summarize(run).Records.Written), "records")
}
