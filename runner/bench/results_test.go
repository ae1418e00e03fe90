package bench

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// lines is what rank 0 prints of rows: each number tells rank and place.
func lines(o *Options, rows []Row) string {
	var b strings.Builder
	for i := range rows {
		for placement := range 2 {
			for rank := range rows[i].Ranks {
				var words []int64
				for at := range o.wordCount(&rows[i]) {
					words = append(words, int64(1000*(i+1)+100*placement+10*rank+at))
				}
				words[2] = int64(rank * placement)
				b.WriteString(hexLine(words))
			}
		}
	}
	return b.String()
}

func TestResults(t *testing.T) {
	o := options(t, "all_reduce", 2)
	o.Iterations, o.PerIteration, o.Checks = 2, true, 1
	rows := o.Rows()
	var got strings.Builder
	r := o.NewResults(rows, func(row *Row, outOfPlace, inPlace *Timing) {
		fmt.Fprintf(&got, "%d bytes:", row.Bytes())
		for _, timing := range []*Timing{outOfPlace, inPlace} {
			fmt.Fprintf(&got, " %.1f ns, %d wrong, iterations %.0f", timing.Secs*1e9, timing.Wrong, scaled(timing.PerIteration))
		}
		got.WriteByte('\n')
	})
	text := lines(o, rows)
	for len(text) > 0 { // in pieces of several lines
		cut := strings.IndexByte(text, '\n') + 1
		if _, err := r.Write([]byte(text[:cut])); err != nil {
			t.Fatal(err)
		}
		text = text[cut:]
	}
	const want = `8 bytes: 503.0 ns, 0 wrong, iterations [1013 1] 553.0 ns, 1 wrong, iterations [1113 1]
32 bytes: 1003.0 ns, 0 wrong, iterations [2013 1] 1053.0 ns, 1 wrong, iterations [2113 1]
128 bytes: 1503.0 ns, 0 wrong, iterations [3013 1] 1553.0 ns, 1 wrong, iterations [3113 1]
`
	if got.String() != want || r.Err() != nil {
		t.Errorf("got\n%s, %v, want\n%s", got.String(), r.Err(), want)
	}
	_, _ = r.Write([]byte("0\n"))
	if err := r.Err(); err == nil || err.Error() != "results: more than of 3 rows" {
		t.Errorf("more than there is: %v", err)
	}
}

func scaled(secs []float64) []float64 {
	nanos := make([]float64, len(secs))
	for i, s := range secs {
		nanos[i] = s * 1e9
	}
	return nanos
}

func TestResultsThatAreBad(t *testing.T) {
	o := options(t, "all_reduce", 2)
	rows := o.Rows()
	for text, want := range map[string]string{
		"":                       "results: row 1 of 3 is not complete",
		"0 0 0 \n0 0 0 \n":       "results: row 1 of 3 is not complete",
		"0 0 0 \n0 0 0 \n1 2":    "results: row 1 of 3 is not complete",
		"0 0 x \n0 0 0 \n":       `results: "x" is no number`,
		"10000000000000000 \n0 ": `results: "10000000000000000" is no number`,
	} {
		r := o.NewResults(rows, func(*Row, *Timing, *Timing) { t.Error("a row is complete") })
		_, _ = r.Write([]byte(text))
		if err := r.Err(); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestRecords lists what the guest is told of both placements, for the root
// and for others.
func TestRecords(t *testing.T) {
	var b strings.Builder
	for _, name := range Names() {
		o := options(t, name, 2)
		o.MinBytes, o.MaxBytes, o.Unalign, o.Root = 64, 64, 1, 1
		row := o.Rows()[0]
		for i, r := range o.recordsOf(&row) {
			fmt.Fprintf(&b, "%s %d: %d elements, in %d out %d + %d rank, fill %d at %d + %d rank, check %d: %d at %d + %d rank, pattern + %d rank, root %d\n",
				name, i, r.count, r.inOff, r.outOff, r.outFactor, r.fillBytes, r.fillOff, r.fillFactor,
				r.check, r.checkBytes, r.checkOff, r.checkFactor, r.patternFactor, r.root)
		}
	}
	golden(t, "records.txt", b.String())
}

// TestRecordLayout holds that the fields lie where the guest reads them.
func TestRecordLayout(t *testing.T) {
	r := record{
		outOfPlace: true, root: 1, outFactor: 2, fillOff: 3, fillFactor: 4, fillBytes: 5, check: 6, checkOff: 7, checkFactor: 8,
		checkBytes: 9, patternFactor: 10, iterations: 11, words: 12, callFields: callFields{root: 13},
	}
	b := r.append(nil)
	if len(b) != recordBytes {
		t.Fatalf("%d bytes, want %d", len(b), recordBytes)
	}
	for at, want := range map[int]uint64{
		fieldOutOfPlace: 1, fieldRoot: 1, fieldOutFactor: 2, fieldFillOff: 3, fieldFillFactor: 4, fieldFillBytes: 5, fieldCheck: 6,
		fieldCheckOff: 7, fieldCheckFactor: 8, fieldCheckBytes: 9, fieldPatternFactor: 10, fieldIterations: 11, fieldWords: 12, fieldSource: 13,
	} {
		if got := binary.LittleEndian.Uint64(b[at:]); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
}

func TestJobIsChecked(t *testing.T) {
	o := options(t, "all_reduce", 2)
	good, err := o.Job()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{}", strings.Replace(good, "all_reduce", "none", -1), strings.Replace(good, `"GPUs":2`, `"GPUs":0`, 1)} {
		if err := (&World{}).Run(bad); err == nil || !strings.HasPrefix(err.Error(), "benchmark: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
