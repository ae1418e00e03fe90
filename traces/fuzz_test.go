package traces

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// flightHeaderBytes is where records begin in a flight file.
const flightHeaderBytes = 64 << 10

// FuzzFlightFiles reads a run of two ranks, one of whose files has had bytes
// overwritten: header, names, counters and records alike. Nothing may panic,
// and what is written must be well formed.
func FuzzFlightFiles(f *testing.F) {
	rec := newRecording(f, 2, 0)
	ring{ranks: 2, slices: 2, iterations: 2, sliceBytes: 64, sliceNanos: 10, kind: op.Send}.record(rec)
	rec.open(f)
	whole := make([][]byte, 2)
	for rank, name := range []string{"rank-0000.flight", "rank-0001.flight"} {
		b, err := os.ReadFile(filepath.Join(rec.dir, name))
		if err != nil {
			f.Fatal(err)
		}
		whole[rank] = b
	}
	f.Add(uint32(0), []byte("x"), uint32(len(whole[1])))
	f.Add(uint32(8), []byte{1, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, uint32(len(whole[1])))
	f.Add(uint32(24), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint32(len(whole[1])))
	f.Add(uint32(flightHeaderBytes), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint32(len(whole[1])))
	f.Add(uint32(flightHeaderBytes+40), []byte("\xff\xff\x00\x00\x01\x00\x00\x80"), uint32(flightHeaderBytes+100))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, length uint32) {
		dir := t.TempDir()
		hurt := append([]byte(nil), whole[1]...)
		copy(hurt[at%uint32(len(hurt)):], patch)
		hurt = hurt[:length%uint32(len(hurt)+1)]
		for name, content := range map[string][]byte{"rank-0000.flight": whole[0], "rank-0001.flight": hurt} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err) // the other file is whole
		}
		defer run.Close()
		useEverything(t, run)
	})
}

// useEverything reads a run in every way that the package offers.
func useEverything(t *testing.T, run *Run) {
	s := Summarize(run)
	if err := s.WriteTable(io.Discard, false); err != nil {
		t.Fatal(err)
	}
	for _, c := range run.Collectives() {
		_ = c.Check() // may well be broken
		_ = describe(c)
	}
	var text bytes.Buffer
	if _, err := WriteJSON(&text, run, Info{RunID: "a"}, SpanOptions{Level: flight.LevelMessage}); err != nil {
		t.Fatal(err)
	}
	decodeLines(t, text.Bytes())
	if _, err := json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	readTable(t, run)
	importPerfetto(t, run, Info{RunID: "a"})
}

// FuzzThreshold parses anything without panic, and what it accepts it can
// parse again from its own text, to the same condition.
func FuzzThreshold(f *testing.F) {
	for _, seed := range []string{
		"cct.p99<5ms", "fct.p50<=200us", "rcct.max < 1 s", "busbw>1GB/s", "verified==true", "all_gather.cct.p99<5ms",
		"all_gather.busbw!=1e3kB/s", "dropped==0", "count>=20", "a.b.c<1", "<", "cct.p99<NaNms", "cct.p99<>5ms", "verified<1true",
	} {
		f.Add(seed)
	}
	s := &Summary{Collectives: []CollectiveStats{{Op: "all_gather", Count: 1, CCT: &Times{P99: 1}}}}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ParseThreshold(text)
		if err != nil {
			return
		}
		again, err := ParseThreshold(first.String())
		if err != nil || again != first {
			t.Fatalf("%q: %+v, then %+v, %v", text, first, again, err)
		}
		first.Check(s)
	})
}
