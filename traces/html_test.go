package traces

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestHTMLData compares the rows of a page with the records that they come
// from.
func TestHTMLData(t *testing.T) {
	rec := newRecording(t, 2, 0)
	for line := range strings.Lines(`0 collective 100 900 c=1 op=all_gather name=ring ranks=2 bytes=64
		0 put 110 200 c=1 peer=1 bytes=8 stream=1
		0 put 150 300 c=1 peer=1 bytes=8 stream=1 slice=1
		0 put 200 250 c=1 peer=1 bytes=8 stream=1 slice=2
		0 mark 50 1000 name=step
		0 barrier 20 40
		1 wait 120 330 c=1 peer=0 stream=3
		1 get 5 4 c=9
		1 collective 90 800 c=1 op=all_gather name=ring ranks=2 bytes=64`) {
		if err := rec.line(strings.TrimSpace(line)); err != nil {
			t.Fatal(err)
		}
	}
	run := rec.open(t)
	d := newHTMLData(run, Summarize(run), maxPageOperations)
	want := `rank 0 stream -1 lane 0: mark@50 c1=false
rank 0 stream 0 lane 0: barrier@20 c1=false
rank 0 stream 1 lane 0: put@110 c1=true put@200 c1=true
rank 0 stream 1 lane 1: put@150 c1=true
rank 1 stream 3 lane 0: wait@120 c1=true
`
	if got := describeRows(d); got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
	if d.base != 20 || d.leftOut != 0 || strings.Join(d.names, " ") != "step" {
		t.Errorf("base %d, %d left out, names %q", d.base, d.leftOut, d.names)
	}
}

// TestHTMLRowOfNothing gives a rank a row that only took part in a collective.
func TestHTMLRowOfNothing(t *testing.T) {
	rec := newRecording(t, 2, 0)
	for _, line := range []string{"0 collective 1 9 c=1 op=barrier", "0 put 2 3 c=1 peer=1 bytes=1 stream=2", "1 collective 1 9 c=1 op=barrier"} {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	run := rec.open(t)
	want := "rank 0 stream 2 lane 0: put@2 c1=true\nrank 1 stream 0 lane 0:\n"
	if got := describeRows(newHTMLData(run, Summarize(run), maxPageOperations)); got != want {
		t.Errorf("rows are\n%s\nwant\n%s", got, want)
	}
}

func describeRows(d *htmlData) string {
	var b strings.Builder
	for _, row := range d.rows {
		for k, lane := range row.lanes {
			text := ""
			for i := range lane {
				text += " " + op.Kind(lane[i].Kind).String() + "@" + strconv.FormatInt(lane[i].Start, 10) + " c1=" + map[bool]string{true: "true", false: "false"}[lane[i].Collective == 1]
			}
			b.WriteString("rank " + strconv.Itoa(row.rank) + " stream " + strconv.Itoa(row.stream) + " lane " + strconv.Itoa(k) + ":" + text + "\n")
		}
	}
	return b.String()
}

// TestHTMLOfOddRuns writes pages of runs in which something is missing or
// wrong.
func TestHTMLOfOddRuns(t *testing.T) {
	for name, lines := range map[string]string{
		"empty":     "",
		"killed":    "0 put 110 200 c=1 peer=1 bytes=8 stream=1",
		"unmarked":  "0 put 110 200 c=7 peer=1\n1 collective 1 2 c=1 op=all_reduce group=1\n0 collective 1 2 c=1 op=all_reduce group=2",
		"disagrees": "0 collective 1 9 c=1 op=all_reduce bytes=4\n1 collective 1 9 c=1 op=all_gather bytes=8",
		"extremes":  "0 put 0 2305843009213693950 c=4294967295 peer=-2147483648 bytes=-1 chunk=-1 slice=-1 flow=-1 step=-1 message=-1 stream=65535 status=255\n1 unknown 5 6 peer=2147483647",
	} {
		t.Run(name, func(t *testing.T) {
			rec := newRecording(t, 2, 0)
			for line := range strings.Lines(lines) {
				if err := rec.line(strings.TrimSpace(line)); err != nil {
					t.Fatal(err)
				}
			}
			run := rec.open(t)
			var b bytes.Buffer
			if err := WriteHTML(&b, run, Info{}, HTMLPage{Workflow: name, Summary: Summarize(run)}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(b.String(), "</html>\n") {
				t.Error("the page does not end")
			}
		})
	}
}

// TestHTMLOfNothing writes the page of a run whose only file is damaged.
func TestHTMLOfNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rank-0000.flight"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var b bytes.Buffer
	if err := WriteHTML(&b, run, Info{}, HTMLPage{Summary: Summarize(run)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<li>left out: ") {
		t.Error("the page does not say which file was left out")
	}
}

// TestHTMLLimit leaves out the last operations of each rank, and the flows and
// slices of the last collectives, and counts them.
func TestHTMLLimit(t *testing.T) {
	rec := newRecording(t, 2, 0)
	ring{ranks: 2, slices: 3, iterations: 4, sliceBytes: 8, sliceNanos: 100, kind: op.Put}.record(rec)
	run := rec.open(t)
	for _, c := range []struct {
		limit, operations, covered, flows, slices int
		leftOut                                   int64
	}{
		{100, 24, 4, 8, 24, 0},
		{24, 24, 4, 8, 24, 0},
		{14, 14, 3, 6, 18, 10},
		{4, 4, 1, 2, 6, 20},
		{2, 2, 0, 0, 0, 22},
	} {
		d := newHTMLData(run, Summarize(run), c.limit)
		flows, pieces := len(d.flows()), len(d.slices())
		if len(d.records()) != c.operations || d.covered != c.covered || flows != c.flows || pieces != c.slices || d.leftOut != c.leftOut {
			t.Errorf("limit %d: %d operations, %d left out; %d collectives with %d flows and %d slices; want %+v",
				c.limit, len(d.records()), d.leftOut, d.covered, flows, pieces, c)
		}
	}
}

// TestLanes puts operations that overlap below each other, and all that are
// too many into the last lane.
func TestLanes(t *testing.T) {
	var records []flight.Record
	for i := range int64(6) {
		records = append(records, flight.Record{Start: i, End: 100 - i})
	}
	records = append(records, flight.Record{Start: 100, End: 101})
	got := ""
	for _, lane := range lanesOf(records) {
		for i := range lane {
			got += strconv.FormatInt(lane[i].Start, 10) + " "
		}
		got += "/ "
	}
	if want := "0 100 / 1 / 2 / 3 4 5 / "; got != want {
		t.Errorf("lanes are %s, want %s", got, want)
	}
}
