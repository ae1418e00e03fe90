package traces

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestPerfettoHasEveryOperation compares the trace of a ring with its terms:
// messages by rank, collectives by rank, and an arrow for every message.
func TestPerfettoHasEveryOperation(t *testing.T) {
	rec := newRecording(t, 4, 0)
	ring{ranks: 4, slices: 3, iterations: 5, sliceBytes: 100, sliceNanos: 10, kind: op.Send}.record(rec)
	run := rec.open(t)
	m := importPerfetto(t, run, Info{})
	counts := make(map[string]int)
	for _, s := range m.slices {
		counts[s.name]++
	}
	const messages = 4 * 5 * 3 * 3
	if counts["slice send"] != messages || counts["slice recv"] != messages || counts["all_gather"] != 5+4*5 {
		t.Errorf("slices %v, want %d sent and received, and 25 of collectives", counts, messages)
	}
	if len(m.arrows) != messages {
		t.Errorf("%d arrows, want %d", len(m.arrows), messages)
	}
	for _, a := range m.arrows {
		if a[0].name != "slice send" || a[1].name != "slice recv" || a[0].track == a[1].track {
			t.Errorf("an arrow from %s to %s", a[0].name, a[1].name)
		}
	}
	for path, values := range m.counters {
		if last := values[len(values)-1]; !strings.HasSuffix(last, ":0") {
			t.Errorf("%s ends with %s", path, last)
		}
	}
}

// TestPerfettoClocks finds the wall clock's time of the first record.
func TestPerfettoClocks(t *testing.T) {
	rec := newRecording(t, 1, 0)
	rec.writers[0].Append(&flight.Record{Start: 500, End: 600, Kind: uint8(op.Barrier), Peer: -1})
	var text bytes.Buffer
	if err := WritePerfetto(&text, rec.open(t), Info{}); err != nil {
		t.Fatal(err)
	}
	first := decodePerfetto(t, "Trace", text.Bytes())["packet"][0].(decoded)
	clocks := make(map[uint64]uint64)
	for _, c := range first.message("clock_snapshot")["clocks"] {
		clocks[c.(decoded).uint("clock_id")] = c.(decoded).uint("timestamp")
	}
	const realtime, monotonic, boot = 1, 3, 6
	if clocks[realtime] != wallOffset+500 || clocks[monotonic] != 500 || clocks[boot] != 500 {
		t.Errorf("clocks %v", clocks)
	}
}

// TestPerfettoProcesses gives ranks that ran in namespaces of their own the
// same process number: a thread belongs to one process all the same.
func TestPerfettoProcesses(t *testing.T) {
	for _, pid := range []int{1, 0} {
		logs := []*flight.Log{{Meta: flight.Meta{PID: 17}}, {Meta: flight.Meta{PID: pid}}, {Meta: flight.Meta{PID: 1}}}
		pids, own := processIDs(logs)
		if len(pids) != 3 || pids[0] == pids[1] || pids[1] == pids[2] || pids[0] <= 0 || own <= pids[2] {
			t.Errorf("numbers %v, threads from %d", pids, own)
		}
	}
}

// TestPerfettoWriteFails says what failed.
func TestPerfettoWriteFails(t *testing.T) {
	rec := newRecording(t, 2, 40_000)
	ring{ranks: 2, slices: 100, iterations: 200, sliceBytes: 1, sliceNanos: 1, kind: op.Put}.record(rec)
	full := &fullWriter{}
	err := WritePerfetto(full, rec.open(t), Info{})
	if !errors.Is(err, io.ErrShortWrite) || full.writes != 1 || !strings.HasPrefix(err.Error(), "trace: ") {
		t.Errorf("%v after %d writes", err, full.writes)
	}
}
