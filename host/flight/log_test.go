package flight_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

const headerBytes = 64 << 10

// validFile is the content of a closed flight file of n records, with two
// names and a lane that waits.
func validFile(t testing.TB, n int) []byte {
	t.Helper()
	w, path := create(t, 0)
	w.Name("ring")
	w.Name("tree")
	w.BeginWait(1, flight.Wait{Kind: 5, Peer: 3, Name: "weights"})
	for i := range n {
		r := numbered(i)
		w.Append(&r)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// readAll opens a file and calls everything that reads. It gives the number of
// records, or -1 and the error of Open.
func readAll(t testing.TB, path string) (int, error) {
	t.Helper()
	l, err := flight.Open(path)
	if err != nil {
		return -1, err
	}
	defer l.Close()
	count := 0
	for range l.Records() {
		count++
	}
	if _, ok := l.Last(); ok != (count > 0) {
		t.Errorf("%d records, but there is a last one: %v", count, ok)
	}
	for i := range 300 {
		if name := l.Name(uint16(i)); len(name) > 64 {
			t.Errorf("name %d has %d bytes", i, len(name))
		}
	}
	for lane, s := range l.Lanes() {
		if lane < 0 || lane >= flight.MaxLanes || len(s.Wait.Name) > 64 {
			t.Errorf("lane %d: %+v", lane, s)
		}
	}
	if l.Rank < 0 || l.Rank >= l.Size {
		t.Errorf("rank %d of %d", l.Rank, l.Size)
	}
	_, _, _ = l.State().String(), l.Counters(), l.WallOffset()
	l.Collective()
	return count, nil
}

func TestOpenRefuses(t *testing.T) {
	valid := validFile(t, 3)
	patched := func(at int, with string) []byte {
		content := bytes.Clone(valid)
		copy(content[at:], with)
		return content
	}
	cases := map[string][]byte{
		"an empty file":                 nil,
		"text":                          []byte("hello\n"),
		"zeros":                         make([]byte, 1<<20),
		"half a header":                 valid[:headerBytes/2],
		"a header less a byte":          valid[:headerBytes-1],
		"a wrong magic":                 patched(0, "X"),
		"another version":               patched(8, "\x63"),
		"a rank beyond the size":        patched(12, "\x04\x00\x00\x00"),
		"a negative rank":               patched(12, "\xff\xff\xff\xff"),
		"a negative size":               patched(16, "\xff\xff\xff\xff"),
		"random bytes after the header": bytes.Repeat([]byte{0xa5}, headerBytes*2),
	}
	dir := t.TempDir()
	for name, content := range cases {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t, path); !errors.Is(err, flight.ErrFormat) {
			t.Errorf("%s: %v, want an error that wraps ErrFormat", name, err)
		}
	}
	if _, err := flight.Open(dir); !errors.Is(err, flight.ErrFormat) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := flight.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestOpenDamaged reads files whose records are cut off or whose counters lie.
func TestOpenDamaged(t *testing.T) {
	const n = 100
	valid := validFile(t, n)
	next := indexOfCounter(t, valid, n)
	with := func(value uint64) []byte {
		content := bytes.Clone(valid)
		binary.NativeEndian.PutUint64(content[next:], value)
		return content
	}
	torn := bytes.Clone(valid)
	clear(torn[headerBytes+7*flight.RecordBytes+60:][:4])
	cases := []struct {
		name    string
		content []byte
		want    int
	}{
		{"whole", valid, n},
		{"cut in the middle of a record", valid[:headerBytes+10*flight.RecordBytes+5], 10},
		{"cut after the header", valid[:headerBytes], 0},
		{"a count far too high", with(1 << 60), n},
		{"a negative count", with(1 << 63), 0},
		{"a count too low", with(9), 9},
		{"a torn record", torn, n - 1},
	}
	for _, c := range cases {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, path); got != c.want || err != nil {
			t.Errorf("%s: %d records, %v, want %d", c.name, got, err, c.want)
		}
	}
}

// indexOfCounter finds the only 8-byte word of the header, before the lanes,
// that holds the given number.
func indexOfCounter(t *testing.T, content []byte, value uint64) int {
	t.Helper()
	found := -1
	for i := 32; i < 256; i += 8 {
		if binary.NativeEndian.Uint64(content[i:]) != value {
			continue
		}
		if found >= 0 {
			t.Fatalf("%d lies at %d and at %d", value, found, i)
		}
		found = i
	}
	if found < 0 {
		t.Fatalf("%d is not in the header", value)
	}
	return found
}

// FuzzOpen changes some bytes of a valid file and cuts it: reading it fails or
// gives what is there, and never more records than fit.
func FuzzOpen(f *testing.F) {
	valid := validFile(f, 64)
	f.Add([]byte("X"), uint32(0), uint32(len(valid)))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"), uint32(128), uint32(len(valid)))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\x7f"), uint32(40), uint32(headerBytes+100))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"), uint32(48), uint32(headerBytes))
	f.Add(bytes.Repeat([]byte{2, 0, 0, 0}, 200), uint32(384), uint32(len(valid)))
	path := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, patch []byte, at, size uint32) {
		content := bytes.Clone(valid)
		copy(content[int(at)%len(content):], patch)
		content = content[:int(size)%(len(content)+1)]
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := readAll(t, path)
		if err != nil && !errors.Is(err, flight.ErrFormat) {
			t.Fatal(err)
		}
		if fits := (len(content) - headerBytes) / flight.RecordBytes; err == nil && n > fits {
			t.Fatalf("%d records in a file that holds %d", n, fits)
		}
	})
}
