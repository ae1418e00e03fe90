package traces

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
)

// packed is a schedule of two ranks that pack, send, and copy what arrived; the
// copies, local work, are of the given kind. One of them names another rank, as
// no device writes it, and one belongs to no collective.
const packed = `0 collective 0 200 c=1 bytes=128 op=all_gather chunk=2 stream=0
1 collective 0 200 c=1 bytes=128 op=all_gather chunk=2 stream=0
0 KIND 0 40 c=1 bytes=64 stream=1
0 put 40 90 c=1 peer=1 bytes=64 stream=1
1 wait 0 95 c=1 peer=0 bytes=1 stream=1
1 KIND 95 150 c=1 peer=0 bytes=64 stream=1
1 KIND 150 190 bytes=32 stream=1
`

// fetched is a schedule of two ranks of which one reads the other's memory, with
// operations of the given kind. One of them reads its own.
const fetched = `0 collective 0 200 c=1 bytes=128 op=all_gather chunk=2 stream=0
1 collective 0 200 c=1 bytes=128 op=all_gather chunk=2 stream=0
0 copy 0 40 c=1 bytes=64 stream=1
0 signal 40 45 c=1 peer=1 bytes=1 stream=1
1 wait 0 46 c=1 peer=0 bytes=1 stream=1
1 KIND 46 150 c=1 peer=0 bytes=64 stream=1
1 KIND 150 190 c=1 bytes=64 stream=1
`

// everything is what is made of a run, as text.
func everything(t *testing.T, schedule, kind string) string {
	t.Helper()
	rec := newRecording(t, 2, 0)
	for line := range strings.Lines(strings.ReplaceAll(schedule, "KIND", kind)) {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	run := rec.open(t)
	var b strings.Builder
	for _, c := range run.Collectives() {
		if len(c.Local) != 2 {
			t.Errorf("%s: %d records are local work, want 2", kind, len(c.Local))
		}
		b.WriteString(describe(c))
	}
	var csv bytes.Buffer
	if err := WriteCSV(&csv, run); err != nil {
		t.Fatal(err)
	}
	summary, err := json.Marshal(Summarize(run))
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(describeSpans(slices.Collect(Spans(run, Info{RunID: "a"}, SpanOptions{Level: flight.LevelMessage}))))
	b.Write(summary)
	b.WriteString(importPerfetto(t, run, Info{RunID: "a"}).String())
	b.Write(csv.Bytes())
	return b.String()
}

// TestBoxesAreCopies has a copy of a box be to every report what a copy is.
func TestBoxesAreCopies(t *testing.T) {
	copies, boxes := everything(t, packed, "copy"), everything(t, packed, "copy_box")
	if !strings.Contains(boxes, "copy_box") {
		t.Error("nothing says that they are boxes")
	}
	if boxes = strings.ReplaceAll(boxes, "copy_box", "copy"); boxes != copies {
		t.Errorf("copies:\n%s\nboxes:\n%s", copies, boxes)
	}
}

// TestBoxesFromPeersAreGets has a box that is read from a peer be to every report
// what a get is: a transport message from that peer.
func TestBoxesFromPeersAreGets(t *testing.T) {
	gets, boxes := everything(t, fetched, "get"), everything(t, fetched, "get_box")
	if !strings.Contains(boxes, "get_box") || !strings.Contains(boxes, "0->1") {
		t.Errorf("nothing says that they are boxes, or messages from rank 0:\n%s", boxes)
	}
	if boxes = strings.ReplaceAll(boxes, "get_box", "get"); boxes != gets {
		t.Errorf("gets:\n%s\nboxes:\n%s", gets, boxes)
	}
}
