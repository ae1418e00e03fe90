package flight_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/flight"
)

// segmentRecords is how many records a file grows by.
const segmentRecords = 4 << 20 / flight.RecordBytes

func create(t testing.TB, capacityRecords int64) (*flight.Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rank-0002.flight")
	w, err := flight.Create(path, flight.Meta{Rank: 2, Size: 4, PID: 77}, capacityRecords)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, path
}

func open(t testing.TB, path string) *flight.Log {
	t.Helper()
	l, err := flight.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// numbered is a record all of whose fields follow from i.
func numbered(i int) flight.Record {
	u := uint64(i)
	return flight.Record{
		Start: int64(i) * 3, End: int64(i)*3 + 2, Bytes: u * 5, Collective: uint32(u * 7), Chunk: uint32(u * 11),
		Slice: uint32(u * 13), Message: uint32(u * 17), Flow: uint16(u * 19), Step: uint16(u * 23), Peer: int32(i%9) - 1,
		Aux: uint32(u * 29), Kind: uint8(u * 31), Type: uint8(u * 37), Red: uint8(u * 41), Status: uint8(u * 43),
		Stream: uint16(u * 47), Group: uint16(u * 53),
	}
}

// whole is r without the mark that says that it is whole.
func whole(r flight.Record) string { return strings.TrimSuffix(fmt.Sprintf("%+v", r), "}") }

func sameRecord(got, want flight.Record) bool {
	cut := func(s string) string { return s[:strings.LastIndex(s, " commit:")] }
	return cut(whole(got)) == cut(whole(want))
}

func TestRoundTrip(t *testing.T) {
	w, path := create(t, 0)
	w.BeginCollective(9, 3)
	for i := range 1000 {
		r := numbered(i)
		w.Append(&r)
	}
	check := func(l *flight.Log) {
		t.Helper()
		if got, want := l.Meta, (flight.Meta{Rank: 2, Size: 4, PID: 77}); got != want {
			t.Errorf("meta %+v, want %+v", got, want)
		}
		if seq, kind := l.Collective(); seq != 9 || kind != 3 {
			t.Errorf("collective %d of kind %d, want 9 of kind 3", seq, kind)
		}
		checkNumbered(t, l, 1000)
		if last, ok := l.Last(); !ok || !sameRecord(last, numbered(999)) {
			t.Errorf("last record %+v, want number 999", last)
		}
	}
	running := open(t, path)
	check(running)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check(running)
	check(open(t, path))
	if err := w.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// checkNumbered expects exactly the records 0 to n-1, in order.
func checkNumbered(t *testing.T, l *flight.Log, n int) {
	t.Helper()
	i := 0
	for r := range l.Records() {
		if i < n && !sameRecord(r, numbered(i)) {
			t.Fatalf("record %d: %+v, want %+v", i, r, numbered(i))
		}
		i++
	}
	if i != n {
		t.Fatalf("%d records, want %d", i, n)
	}
}

func TestEmptyFile(t *testing.T) {
	w, path := create(t, 0)
	l := open(t, path)
	checkNumbered(t, l, 0)
	if r, ok := l.Last(); ok {
		t.Errorf("last record of none: %+v", r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	checkNumbered(t, open(t, path), 0)
}

// TestRecordsStopsEarly leaves the iteration in the middle.
func TestRecordsStopsEarly(t *testing.T) {
	w, path := create(t, 0)
	for i := range 10 {
		r := numbered(i)
		w.Append(&r)
	}
	seen := 0
	for range open(t, path).Records() {
		if seen++; seen == 4 {
			break
		}
	}
	if seen != 4 {
		t.Errorf("%d records seen, want 4", seen)
	}
}

// TestRecordsFrom reads a file again and again while it is written.
func TestRecordsFrom(t *testing.T) {
	w, path := create(t, 0)
	l := open(t, path)
	next := int64(0)
	for written := range 20 {
		for i, r := range l.RecordsFrom(next) {
			if want := numbered(int(i)); i != next || !sameRecord(r, want) {
				t.Fatalf("record %d is %+v, want record %d, %+v", i, r, next, want)
			}
			next++
		}
		if next != int64(written) {
			t.Fatalf("%d records read of %d", next, written)
		}
		r := numbered(written)
		w.Append(&r)
	}
	for i := range l.RecordsFrom(100) {
		t.Errorf("record %d is not there", i)
	}
}

// TestGrowth writes over several segments; a reader that was there from the
// start sees all of it, and the closed file is no longer than what it holds.
func TestGrowth(t *testing.T) {
	const n = 2*segmentRecords + 1000
	w, path := create(t, 4*segmentRecords)
	l := open(t, path)
	for i := range n {
		r := numbered(i)
		w.Append(&r)
	}
	if c := w.Counters(); c.Records != n || c.Dropped != 0 {
		t.Fatalf("%d records, %d dropped, want %d and none", c.Records, c.Dropped, n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	i := 0
	for r := range l.Records() {
		if r.Start != int64(i)*3 || r.Bytes != uint64(i)*5 {
			t.Fatalf("record %d: %+v", i, r)
		}
		i++
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(64<<10 + n*flight.RecordBytes); i != n || info.Size() != want {
		t.Errorf("%d records in %d bytes, want %d in %d", i, info.Size(), n, want)
	}
}

// TestCapacity fills a file past what it may hold; capacities that are not a
// multiple of the segment are kept to exactly.
func TestCapacity(t *testing.T) {
	const capacity, n = segmentRecords + 777, 3 * segmentRecords
	w, path := create(t, capacity)
	for i := range n {
		r := numbered(i)
		w.Append(&r)
	}
	l := open(t, path)
	for _, c := range []flight.Counters{w.Counters(), l.Counters()} {
		if c.Records != n || c.Dropped != n-capacity {
			t.Errorf("%d records, %d dropped, want %d and %d", c.Records, c.Dropped, n, n-capacity)
		}
	}
	last, ok := l.Last()
	if !ok || !sameRecord(last, numbered(capacity-1)) {
		t.Errorf("last record %+v, want number %d", last, capacity-1)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(slices.Collect(l.Records())); got != capacity {
		t.Errorf("%d records kept, want %d", got, capacity)
	}
}

// TestConcurrentAppend writes from several goroutines while a reader looks:
// every record is whole, none is lost, and each goroutine's are in order.
func TestConcurrentAppend(t *testing.T) {
	const writers, each = 4, segmentRecords/2 + 100
	w, path := create(t, writers*each)
	l := open(t, path)
	var running sync.WaitGroup
	for g := range writers {
		running.Go(func() {
			for i := range each {
				w.Append(&flight.Record{Start: int64(i), End: int64(i) + int64(g), Stream: uint16(g), Bytes: uint64(i ^ g)})
			}
		})
	}
	finished := make(chan struct{})
	go func() { running.Wait(); close(finished) }()
	for done := false; !done; {
		select {
		case <-finished:
			done = true
		default:
		}
		checkOrder(t, l, writers)
	}
	if got := checkOrder(t, l, writers); got != writers*each {
		t.Errorf("%d records, want %d", got, writers*each)
	}
}

// checkOrder counts the records and checks that each stream's are whole and
// ascend.
func checkOrder(t *testing.T, l *flight.Log, writers int) (count int) {
	t.Helper()
	last := make([]int64, writers)
	for r := range l.Records() {
		g := int64(r.Stream)
		if g >= int64(writers) || r.End != r.Start+g || r.Bytes != uint64(r.Start^g) {
			t.Fatalf("torn record %+v", r)
		}
		if count > 0 && r.Start < last[g] {
			t.Fatalf("stream %d: %d after %d", g, r.Start, last[g])
		}
		last[g] = r.Start
		count++
	}
	return count
}

// TestReaderAcrossClose reads without pause while the writer ends and gives
// the unused part of the file back: touching that would be a deadly signal.
func TestReaderAcrossClose(t *testing.T) {
	for round := range 20 {
		w, path := create(t, 4*segmentRecords)
		l := open(t, path)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			for i := range 500 * (round + 1) {
				r := numbered(i)
				w.Append(&r)
			}
			w.Close()
		}()
		for done := false; !done; {
			select {
			case <-closed:
				done = true
			default:
			}
			for r := range l.Records() {
				if r.End != r.Start+2 {
					t.Fatalf("torn record %+v", r)
				}
			}
			l.Last()
			l.Lanes()
		}
		checkNumbered(t, l, 500*(round+1))
	}
}

func TestNames(t *testing.T) {
	w, path := create(t, 0)
	long := strings.Repeat("x", 100)
	names := []string{"ring", "tree", "", long, "ring"}
	var indices []uint16
	for _, name := range names {
		indices = append(indices, w.Name(name))
	}
	if want := []uint16{1, 2, 0, 3, 1}; !slices.Equal(indices, want) {
		t.Fatalf("indices %v, want %v", indices, want)
	}
	l := open(t, path)
	for i, want := range []string{"", "ring", "tree", long[:63], ""} {
		if got := l.Name(uint16(i)); got != want {
			t.Errorf("name %d is %q, want %q", i, got, want)
		}
	}
	for i := range 400 {
		w.Name(fmt.Sprint("name ", i))
	}
	if i := w.Name("one too many"); i != 0 {
		t.Errorf("a name past the table has index %d, want 0", i)
	}
	if got := l.Name(255) + l.Name(256) + l.Name(65535); got != "name 251" {
		t.Errorf("the last names are %q, want %q", got, "name 251")
	}
	if i := w.Name("ring"); i != 1 {
		t.Errorf("ring has index %d, want 1", i)
	}
}

func TestCreateRefuses(t *testing.T) {
	_, path := create(t, 0)
	if _, err := flight.Create(path, flight.Meta{Size: 1}, 0); !errors.Is(err, os.ErrExist) {
		t.Errorf("create over an existing file: %v", err)
	}
	if _, err := flight.Create(filepath.Join(path, "x"), flight.Meta{Size: 1}, 0); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("create under a file: %v", err)
	}
}
