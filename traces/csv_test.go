package traces

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// readTable writes the table of a run and reads it with a reader of RFC 4180:
// every row has a field for every column.
func readTable(t *testing.T, run *Run) (rows [][]string) {
	t.Helper()
	var text bytes.Buffer
	if err := WriteCSV(&text, run); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 || len(rows[0]) != len(csvColumns) {
		t.Fatalf("%d rows, want a header of %d columns", len(rows), len(csvColumns))
	}
	return rows
}

// TestCSVHasEveryRecord adds up what the table says and compares it with what
// the terms say of the same run.
func TestCSVHasEveryRecord(t *testing.T) {
	rec := newRecording(t, 4, 0)
	ring{ranks: 4, slices: 3, iterations: 5, sliceBytes: 100, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(t)
	rows := readTable(t, run)
	const records = 4 * 5 * (3*3 + 1)
	if len(rows) != 1+records {
		t.Fatalf("%d rows, want %d and a header", len(rows), records)
	}
	at := make(map[string]int)
	for i, name := range rows[0] {
		at[name] = i
	}
	messages := make(map[string]int) // by collective
	for _, row := range rows[1:] {
		if row[at["kind"]] == "put" && row[at["bytes"]] == "100" && row[at["operation"]] == "all_gather" && row[at["algorithm"]] == "ring" {
			messages[row[at["collective"]]]++
		}
	}
	for _, c := range run.Collectives() {
		want := 0
		for i := range c.Transfers {
			want += len(c.Transfers[i].Flows[0].Messages)
		}
		if got := messages[string(rune('0'+c.Sequence))]; got != want || want == 0 {
			t.Errorf("collective %d: %d messages, want %d", c.Sequence, got, want)
		}
	}
}

// TestCSVQuotes gives a mark a name that has everything which needs quotes.
func TestCSVQuotes(t *testing.T) {
	const name = `step "1", forward`
	rec := newRecording(t, 1, 0)
	rec.writers[0].Append(&flight.Record{Start: 5, End: 7, Kind: uint8(op.Mark), Peer: -1, Aux: uint32(rec.writers[0].Name(name))})
	rec.writers[0].Append(&flight.Record{Start: 5, End: 7, Kind: uint8(op.Mark), Peer: -1, Aux: uint32(rec.writers[0].Name("a\r\nb"))})
	rows := readTable(t, rec.open(t))
	last := len(rows[0]) - 1
	if rows[1][last] != name || rows[2][last] != "a??b" {
		t.Errorf("names %q and %q", rows[1][last], rows[2][last])
	}
}

// TestCSVWriteFails stops at the first write that fails.
func TestCSVWriteFails(t *testing.T) {
	rec := newRecording(t, 2, 40_000)
	ring{ranks: 2, slices: 100, iterations: 200, sliceBytes: 1, sliceNanos: 1, kind: op.Put}.record(rec)
	full := &fullWriter{}
	err := WriteCSV(full, rec.open(t))
	if !errors.Is(err, io.ErrShortWrite) || full.writes != 1 || !strings.HasPrefix(err.Error(), "table: ") {
		t.Errorf("%v after %d writes", err, full.writes)
	}
}

// fullWriter is a disk without room.
type fullWriter struct{ writes int }

func (w *fullWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, io.ErrShortWrite
}

func BenchmarkCSV(b *testing.B) {
	run := millionRecords(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteCSV(io.Discard, run); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(peakMemory(b), "peak-MiB")
}

// millionRecords is a run of eight ranks and a million operations.
func millionRecords(b *testing.B) *Run {
	b.Helper()
	const ranks, slices, iterations = 8, 64, 279
	rec := newRecording(b, ranks, 1<<18)
	ring{ranks: ranks, slices: slices, iterations: iterations, sliceBytes: 256 << 10, sliceNanos: 20_000, kind: op.Put}.record(rec)
	run := rec.open(b)
	run.Collectives()
	return run
}
