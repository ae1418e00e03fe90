package flight_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/host/flight"
)

func createVirtual(t testing.TB, capacityRecords int64, now func() int64) (*flight.Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rank-0002.flight")
	w, err := flight.CreateVirtual(path, flight.Meta{Rank: 2, Size: 4}, capacityRecords, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, path
}

func TestVirtualRoundTrip(t *testing.T) {
	w, path := createVirtual(t, 1<<20, func() int64 { return 7 })
	w.Name("first")
	w.BeginWait(0, flight.Wait{Kind: 5, Peer: 3, Value: 8, Since: 7})
	w.CountVerified(4096, 1)
	const records = 100_000 // more than a real file holds at first
	for i := range records {
		r := numbered(i)
		w.Append(&r)
	}
	check := func(l *flight.Log) {
		t.Helper()
		checkNumbered(t, l, records)
		if got, want := l.Meta, (flight.Meta{Rank: 2, Size: 4}); got != want {
			t.Errorf("meta %+v, want %+v", got, want)
		}
		if lane := l.Lanes()[0]; lane.State != flight.LaneWaiting || lane.Wait.Peer != 3 || lane.Wait.Since != 7 {
			t.Errorf("lane 0 is %+v, want a wait for rank 3 since 7", lane)
		}
		if n := l.Counters(); n.Verified != 4096 || n.Mismatches != 1 || n.Dropped != 0 {
			t.Errorf("counters %+v", n)
		}
		if got := time.Unix(0, l.WallOffset()).UTC().Format(time.RFC3339Nano); got != "2000-01-01T00:00:00Z" || l.Name(1) != "first" {
			t.Errorf("virtual time begins at %s, name 1 is %q", got, l.Name(1))
		}
	}
	borrowed := w.Log()
	check(borrowed)
	if err := borrowed.Close(); err != nil {
		t.Fatal(err)
	}
	check(borrowed) // still the recorder's
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file before it is saved: %v", err)
	}
	if err := w.Save(); err != nil {
		t.Fatal(err)
	}
	check(open(t, path))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, path))
	if err := w.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestVirtualSize says what a rank of thousands may cost.
func TestVirtualSize(t *testing.T) {
	w, path := createVirtual(t, 4<<20, func() int64 { return 0 })
	r := numbered(1)
	w.Append(&r)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	if stat.Size != 64<<10+flight.RecordBytes {
		t.Errorf("the file is %d bytes long", stat.Size)
	}
	if onDisk := stat.Blocks * 512; onDisk > 16<<10 {
		t.Errorf("a file of one record takes %d bytes of disk", onDisk)
	}
}

func TestVirtualFull(t *testing.T) {
	w, path := createVirtual(t, 10, func() int64 { return 0 })
	for i := range 12 {
		r := numbered(i)
		w.Append(&r)
	}
	if n := w.Counters(); n.Records != 12 || n.Dropped != 2 {
		t.Errorf("counters %+v, want 2 of 12 records dropped", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	checkNumbered(t, open(t, path), 10)
}

// TestVirtualUnwritable expects an error where the file cannot be written.
func TestVirtualUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "rank-0000.flight")
	w, err := flight.CreateVirtual(path, flight.Meta{Size: 1}, 10, func() int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("closing a recorder without a directory: %v", err)
	}
}

// TestVirtualSame writes the same records twice, at different real times.
func TestVirtualSame(t *testing.T) {
	var files [2][]byte
	for i := range files {
		now := int64(0)
		w, path := createVirtual(t, 1000, func() int64 { now += 5; return now })
		for range 100 {
			w.Append(&flight.Record{Start: w.Start(), End: w.Now(), Bytes: uint64(w.Wall(0))})
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same records make different files")
	}
}
