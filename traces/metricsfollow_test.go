package traces

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// script is what each rank of an invented run records, in its order.
type script [][]string

// scripts are runs that end in different ways.
var scripts = map[string]script{
	"healthy":         ringScript(3, 20),
	"one rank":        ringScript(1, 3),
	"nothing":         {nil, nil},
	"a rank was lost": func() script { s := ringScript(3, 5); s[1] = s[1][:7]; return s }(),
	"a mark is missing": func() script {
		s := ringScript(2, 5)
		s[1] = slices.DeleteFunc(s[1], func(line string) bool { return strings.Contains(line, "collective") && strings.Contains(line, "c=3 ") })
		return s
	}(),
	"two groups": {
		{"0 put 1 2 c=1 peer=1 bytes=8", "0 collective 0 9 c=1 op=all_gather ranks=2 group=1", "0 put 10 12 c=2 peer=2 bytes=8", "0 collective 9 19 c=2 op=all_gather ranks=2 group=2"},
		{"1 get 1 2 c=1 peer=0 bytes=8", "1 collective 0 8 c=1 op=all_gather ranks=2 group=1", "1 put 20 21 c=2 peer=0 bytes=8"},
		{"2 get 11 13 c=1 peer=0 bytes=8", "2 collective 7 18 c=1 op=all_gather ranks=2 group=2"},
	},
	"disagreeing": {
		{"0 collective 0 9 c=1 op=all_gather ranks=2 bytes=8", "0 collective 10 19 c=2 op=all_gather ranks=2 bytes=8"},
		{"1 collective 0 9 c=1 op=all_reduce ranks=2 bytes=8", "1 collective 10 19 c=2 op=all_gather ranks=2 bytes=8"},
	},
	"ranks differ in how many they are": {
		{"0 put 1 2 c=1 peer=1 bytes=8", "0 collective 0 9 c=1 op=all_gather ranks=4", "0 collective 10 19 c=2 op=all_gather ranks=4"},
		{"1 put 1 2 c=1 peer=2 bytes=8", "1 collective 0 9 c=1 op=all_gather ranks=2", "1 collective 10 19 c=2 op=all_gather ranks=4"},
		{"2 put 1 2 c=1 peer=3 bytes=8", "2 collective 0 9 c=1 op=all_gather ranks=4", "2 collective 10 19 c=2 op=all_gather ranks=2"},
		{"3 put 1 2 c=1 peer=0 bytes=8", "3 collective 0 9 c=1 op=all_gather ranks=4", "3 collective 10 19 c=2 op=all_gather ranks=4"},
	},
	"twice and damaged": {
		{"0 collective 0 9 c=1 op=all_gather ranks=2", "0 collective 1 5 c=1 op=all_gather ranks=2", "0 put 9 3 c=1 peer=1 bytes=8"},
		{"1 put 3 4 c=1 peer=0 bytes=8", "1 put 3 4 peer=0 bytes=8", "1 collective 0 9 c=1 op=all_gather ranks=2"},
	},
}

// ringScript is a ring all-gather whose ranks record some of what they did
// after the end of the collective.
func ringScript(ranks, iterations int) script {
	s := make(script, ranks)
	for rank := range s {
		say := func(format string, args ...any) {
			s[rank] = append(s[rank], fmt.Sprintf("%d ", rank)+fmt.Sprintf(format, args...))
		}
		for i := range iterations {
			at := 1000 * (i + 1)
			if ranks > 1 {
				say("put %d %d c=%d peer=%d bytes=64 chunk=%d slice=0", at+10, at+20+rank, i+1, (rank+1)%ranks, rank)
			}
			say("wait %d %d c=%d peer=%d", at+30, at+40, i+1, (rank+ranks-1)%ranks)
			say("collective %d %d c=%d op=all_gather name=ring bytes=%d ranks=%d", at+rank, at+90, i+1, 64*ranks, ranks)
			say("copy %d %d c=%d bytes=64", at+50, at+70, i+1)
			say("mark %d %d name=step", at, at+95)
		}
	}
	return s
}

// TestFollowEqualsGather writes runs record by record, in an order that differs
// from time to time, and follows them meanwhile: what has been given in the end
// is what a reader of the whole finds.
func TestFollowEqualsGather(t *testing.T) {
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			early := 0
			for seed := range uint64(20) {
				early += followScript(t, s, rand.New(rand.NewPCG(seed, 0)))
			}
			if name == "healthy" && early == 0 {
				t.Error("nothing was given before the end")
			}
		})
	}
}

// followScript gives how many collectives were given before the end.
func followScript(t *testing.T, s script, random *rand.Rand) (early int) {
	t.Helper()
	rec := newRecording(t, len(s), 0)
	f := newFollower(rec.dir)
	defer f.close()
	f.patience = maxTime // the invented times are long ago
	var got []*Collective
	give := func(c *Collective) { got = append(got, c) }
	at := make([]int, len(s))
	for left := true; left; {
		left = false
		for rank := range s {
			// Operations are pending until all that goes with a mark is written.
			for n := random.IntN(4); n > 0 && at[rank] < len(s[rank]); n-- {
				rec.writers[rank].Submitted(1, uint64(at[rank]+1))
				if err := rec.line(s[rank][at[rank]]); err != nil {
					t.Fatal(err)
				}
				at[rank]++
				if at[rank] == len(s[rank]) || strings.Contains(s[rank][at[rank]-1], "mark") {
					rec.writers[rank].Finished(1, uint64(at[rank]))
				}
			}
			left = left || at[rank] < len(s[rank])
		}
		if random.IntN(3) == 0 {
			f.poll(give)
		}
	}
	run := rec.open(t)
	early = len(got)
	f.finish(give)
	byKey := func(a, b *Collective) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Sequence, b.Sequence))
	}
	slices.SortFunc(got, byKey)
	if got, want := describeAll(got), describeAll(run.Collectives()); got != want {
		t.Fatal(firstDifference(got, want))
	}
	if all := run.gather(); f.damaged != all.damaged || f.unplaced != all.unplaced || f.late != 0 {
		t.Errorf("%d damaged, %d unplaced, %d late; of the whole %d damaged, %d unplaced", f.damaged, f.unplaced, f.late, all.damaged, all.unplaced)
	}
	return early
}

// firstDifference is the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func describeAll(list []*Collective) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(describe(c))
	}
	return b.String()
}

// TestFollowSettles goes through what has to have happened before a collective
// is given.
func TestFollowSettles(t *testing.T) {
	rec := newRecording(t, 2, 0)
	f := newFollower(rec.dir)
	defer f.close()
	now := f.clock.Now()
	given := 0
	expect := func(when string, want int) {
		t.Helper()
		f.poll(func(*Collective) { given++ })
		if given != want {
			t.Errorf("%s: %d given, want %d", when, given, want)
		}
	}
	end := func(rank, sequence int, at int64) {
		t.Helper()
		if err := rec.line(fmt.Sprintf("%d collective %d %d c=%d op=all_gather ranks=2", rank, at-10, at, sequence)); err != nil {
			t.Fatal(err)
		}
	}
	expect("at the start", 0)
	end(0, 1, now)
	expect("one rank has ended it", 0)
	rec.writers[1].Submitted(1, 1)
	end(1, 1, now)
	expect("an operation is pending", 0)
	rec.writers[1].Finished(1, 1)
	expect("nothing is pending", 1)

	rec.writers[0].Submitted(1, 2)
	end(0, 2, now-2*settleNanos)
	end(1, 2, now-2*settleNanos)
	expect("something is pending for long", 2)
	if err := rec.line(fmt.Sprintf("0 put %d %d c=2 peer=1 bytes=8", now, now)); err != nil {
		t.Fatal(err)
	}
	expect("a record of what is settled", 2)
	if f.late != 1 {
		t.Errorf("%d late records, want 1", f.late)
	}
}

// TestFollowForgets follows ranks that always have something pending: nothing
// is kept of what has been given.
func TestFollowForgets(t *testing.T) {
	const rounds = 50
	rec := newRecording(t, 2, 0)
	f := newFollower(rec.dir)
	defer f.close()
	for _, w := range rec.writers {
		w.Submitted(1, 1)
	}
	given := 0
	for round := range rounds {
		for rank := range rec.writers {
			for _, line := range []string{"%d put 1 2 c=%d peer=0 bytes=8", "%d collective 0 9 c=%d op=all_gather ranks=2"} {
				if err := rec.line(fmt.Sprintf(line, rank, round+1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		f.poll(func(*Collective) { given++ })
		for _, feed := range f.feeds {
			kept := slices.ContainsFunc(feed.fresh, func(p *piece) bool { return p.settled && p.operations != nil })
			if len(feed.fresh) > 1 || len(feed.pieces) > 0 || kept {
				t.Fatalf("after %d rounds rank %d has %d fresh of %d pieces, operations kept %v", round+1, feed.log.Rank, len(feed.fresh), len(feed.pieces), kept)
			}
		}
	}
	if given != rounds || len(f.open) > 0 || len(f.full) > 0 {
		t.Errorf("%d given, %d open, %d full, want %d, 0, 0", given, len(f.open), len(f.full), rounds)
	}
}

// TestFollowInFlight has collectives that end after the rank was asked how many
// it had begun.
func TestFollowInFlight(t *testing.T) {
	rec := newRecording(t, 1, 0)
	f := newFollower(rec.dir)
	defer f.close()
	expect := func(when string, want int64) {
		t.Helper()
		f.poll(func(*Collective) {})
		if got := f.feeds[0].inFlight(); got != want {
			t.Errorf("%s: %d in flight, want %d", when, got, want)
		}
	}
	end := func(number int, at int64) {
		t.Helper()
		if err := rec.line(fmt.Sprintf("0 collective %d %d c=%d op=all_gather ranks=1", at-10, at, number)); err != nil {
			t.Fatal(err)
		}
	}
	expect("at the start", 0)
	rec.writers[0].BeginCollective(2, uint8(op.AllGather))
	end(1, 10)
	expect("one of two has ended", 1)
	const later = int64(1e12) // a quarter of an hour that no test takes
	end(2, f.clock.Now()+later)
	end(3, f.clock.Now()+later)
	expect("two end while the records are read", 1)
	rec.writers[0].BeginCollective(4, uint8(op.AllGather))
	expect("they have ended since, and one has begun", 1)
	end(5, 20) // with a number of its own: another stream began it
	expect("the last by number was not begun last", 1)
}

// TestFollowWaitsForRecords has a record that is being written, which holds up
// those behind it, but not for ever.
func TestFollowWaitsForRecords(t *testing.T) {
	rec := newRecording(t, 1, 0)
	for _, line := range ringScript(1, 3)[0] {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	const commitOffset = flight.RecordBytes - 4
	at := int64(flightHeaderBytes + 4*flight.RecordBytes + commitOffset) // the second collective's first record
	path := filepath.Join(rec.dir, "rank-0000.flight")
	whole := patchBytes(t, path, at, make([]byte, 4))
	f := newFollower(rec.dir)
	defer f.close()
	var given []*Collective
	give := func(c *Collective) { given = append(given, c) }
	f.poll(give)
	if len(given) != 1 || f.feeds[0].next != 4 {
		t.Errorf("%d given, %d records read, want 1 and 4", len(given), f.feeds[0].next)
	}
	patchBytes(t, path, at, whole)
	f.poll(give)
	if want := describeAll(rec.open(t).Collectives()); describeAll(given) != want {
		t.Error(firstDifference(describeAll(given), want))
	}
}

// patchBytes overwrites a part of a file and gives what was there.
func patchBytes(t *testing.T, path string, at int64, with []byte) (before []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before = make([]byte, len(with))
	if _, err := file.ReadAt(before, at); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(with, at); err != nil {
		t.Fatal(err)
	}
	return before
}

// BenchmarkFollow reads a run of a million records: the time of one record.
func BenchmarkFollow(b *testing.B) {
	rec := newRecording(b, 4, 1<<20)
	ring{ranks: 4, slices: 64, iterations: 1300, sliceBytes: 1 << 16, sliceNanos: 10, kind: op.Put}.record(rec)
	b.ReportAllocs()
	records := int64(0)
	for b.Loop() {
		f := newFollower(rec.dir)
		f.poll(func(*Collective) {})
		for _, feed := range f.feeds {
			records += feed.next
		}
		if err := f.close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}
