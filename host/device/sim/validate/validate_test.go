package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// knownMissed is the rows that are further off than promised today, by what.
// A row that comes within its bound has to leave the list.
var knownMissed = []string{}

// TestRows simulates every row: those that are as close as promised stay so,
// and the presets say of themselves what the rows say of them.
func TestRows(t *testing.T) {
	results, err := simulate("")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		missed := slices.Contains(knownMissed, r.What)
		if r.Within == missed {
			t.Errorf("%s: %.4g %s simulated, %.4g published: off by %+.1f %%, promised %.0f %%, known to miss: %v",
				r.What, r.Simulated, r.Unit, r.Published, 100*r.Error, 100*r.Bound, missed)
		}
	}
	for _, what := range knownMissed {
		if !slices.ContainsFunc(results, func(r result) bool { return r.What == what }) {
			t.Errorf("no row %q", what)
		}
	}
	checkPresets(t, bands(results))
}

// checkPresets compares presets' validation lists with the bands.
func checkPresets(t *testing.T, all []band) {
	t.Helper()
	lists := make(map[string][]preset.Band)
	for _, b := range all {
		lists[b.Preset] = append(lists[b.Preset], preset.Band{What: b.What, Error: b.rounded(), HeldOut: b.HeldOut, Source: b.Source})
	}
	for _, name := range preset.Names() {
		if name == "cpu" { // peers and calibrate check that one
			continue
		}
		want := lists[name]
		p, err := preset.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Validation, want) {
			t.Errorf("%s.yaml says\n%+v\nof its validation, the rows say\n%+v\n\tput in what -bands prints", name, p.Validation, want)
		}
	}
}

// TestRowsAreComplete: every row says what it is, names are unique, and each
// group that something was fitted to has rows that are held out.
func TestRowsAreComplete(t *testing.T) {
	seen := make(map[string]bool)
	heldOut, fitted := make(map[string]int), make(map[string]int)
	for _, r := range rows() {
		if r.group == "" || r.what == "" || r.unit == "" || r.source == "" || r.published <= 0 || r.simulate == nil {
			t.Errorf("incomplete: %+v", r)
		}
		if name := r.group + r.what; seen[name] {
			t.Errorf("%s is there twice", name)
		} else {
			seen[name] = true
		}
		if _, err := r.machine(); err != nil {
			t.Errorf("%s: %v", r.what, err)
		}
		if r.fitted == "" {
			heldOut[r.group]++
		} else {
			fitted[r.group]++
		}
	}
	for group := range fitted {
		if heldOut[group] == 0 {
			t.Errorf("everything in %q was fitted to", group)
		}
	}
}

// TestMissedPromise: a row that is off by more than its bound is an error, and
// is told of.
func TestMissedPromise(t *testing.T) {
	off := row{group: "g", what: "w", preset: "h200", unit: "us", published: 10, bound: 0.1, source: "s",
		simulate: func(*preset.Preset) (float64, error) { return 11.1, nil }}
	r, err := off.run()
	if err != nil || r.Within || math.Abs(r.Error-0.11) > 1e-9 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := missed([]result{r}); !errors.Is(err, errMissed) {
		t.Errorf("%v", err)
	}
	var table bytes.Buffer
	if err := printTable(&table, []result{r}); err != nil || !strings.Contains(table.String(), "MISSED") {
		t.Errorf("%v\n%s", err, &table)
	}
	off.bound = 0.12
	if r, err = off.run(); err != nil || !r.Within {
		t.Errorf("%+v, %v", r, err)
	}
	off.simulate = func(*preset.Preset) (float64, error) { return math.NaN(), nil }
	if r, err = off.run(); err != nil || r.Within {
		t.Errorf("no number is within the bound: %+v, %v", r, err)
	}
}

// TestCommand: the formats, and what is refused.
func TestCommand(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-only", "all_reduce 16 MiB", "-json"}, &out); err != nil {
		t.Fatal(err)
	}
	var read struct{ Rows []result }
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || len(read.Rows) != 1 || read.Rows[0].Preset != "h200" {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	if err := run([]string{"-only", "all_reduce 16 MiB", "-bands"}, &out); err != nil || !strings.Contains(out.String(), "held_out: false") {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, args := range [][]string{{"-only", "no such row"}, {"more"}, {"-unknown"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

// TestBands: the worst of each kind, apart for changed presets, preset by
// preset.
func TestBands(t *testing.T) {
	got := bands([]result{
		{Preset: "a", Group: "g", Error: 0.1, HeldOut: true, Source: "s"},
		{Preset: "b", Group: "g", Error: 0.3, HeldOut: true, Source: "s"},
		{Preset: "a", Group: "g", Error: -0.2, HeldOut: true, Source: "u"},
		{Preset: "a", Group: "g", Error: 0.05, Source: "s"},
		{Preset: "a", Group: "g", Error: 0.9, Set: []string{"x=1", "y=2"}, HeldOut: true, Source: "s"},
	})
	want := []band{{"a", "g", "s; u", 0.2, true}, {"a", "g", "s", 0.05, false}, {"a", "g, with x=1, y=2", "s", 0.9, true}, {"b", "g", "s", 0.3, true}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestShotsAddUp runs the all-reduces on real bytes.
func TestShotsAddUp(t *testing.T) {
	p, err := preset.Find("h100")
	if err != nil {
		t.Fatal(err)
	}
	for name, schedule := range map[string]func(*rank) shot{"one": oneshotOf(512), "two": twoshotOf(512)} {
		for _, ranks := range []int{2, 4, 8} {
			t.Run(fmt.Sprint(name, ranks), func(t *testing.T) {
				outputs := make([][]byte, ranks)
				b := bench{preset: p, ranks: ranks, realBytes: -1, prepare: func(r *rank) func() {
					s := schedule(r)
					input := make([]byte, 512)
					for i := range 128 {
						op.PutNumber(input[4*i:], op.F32, float64(r.number*1000+i))
					}
					r.do(func() error { return r.device.Write(op.View{Buf: s.input}, input) })
					r.finally = func() {
						outputs[r.number] = make([]byte, 512)
						r.do(func() error { return r.device.Read(outputs[r.number], op.View{Buf: s.output}) })
					}
					return s.submit
				}}
				if _, err := b.seconds(); err != nil {
					t.Fatal(err)
				}
				want := make([]byte, 512)
				for i := range 128 {
					op.PutNumber(want[4*i:], op.F32, float64(ranks*(ranks-1)/2*1000+ranks*i))
				}
				for rank := range outputs {
					if !bytes.Equal(outputs[rank], want) {
						t.Fatalf("rank %d has another sum", rank)
					}
				}
			})
		}
	}
}

// TestRingGathers runs the ring on real bytes: every rank ends with all slices.
func TestRingGathers(t *testing.T) {
	p, err := preset.Find("h100")
	if err != nil {
		t.Fatal(err)
	}
	x := matrices{m: 64, k: 32, n: 16}
	slice := int(x.gatheredBytes() / ringSlices)
	for _, ranks := range []int{2, 4, 8} {
		var want []byte
		for i := range ringSlices {
			want = append(want, bytes.Repeat([]byte{byte(1 + i)}, slice)...)
		}
		b := bench{preset: p, ranks: ranks, realBytes: -1, prepare: func(r *rank) func() {
			ring := ringOf(r, x)
			for i := r.number; i < ringSlices; i += ranks {
				r.do(func() error {
					return r.device.Write(op.View{Buf: ring.gathered, Off: int64(i * slice)}, want[i*slice:][:slice])
				})
			}
			r.finally = func() {
				got := make([]byte, len(want))
				r.do(func() error { return r.device.Read(got, op.View{Buf: ring.gathered}) })
				if !bytes.Equal(got, want) {
					t.Errorf("rank %d of %d has gathered something else", r.number, ranks)
				}
			}
			return ring.submit
		}}
		if _, err := b.seconds(); err != nil {
			t.Error(err)
		}
	}
}

// TestMessages: every rank has eight experts for each token, combine goes the
// ways of dispatch back, and deduplication takes messages away.
func TestMessages(t *testing.T) {
	for _, ranks := range []int{8, 32, 128} {
		there, back, once := deepEPDispatch.messages(ranks), deepEPCombine.messages(ranks), ncclEPDispatch.messages(ranks)
		all := int64(0)
		for from := range ranks {
			sent := int64(0)
			for to := range ranks {
				sent += there[from][to]
				all += once[from][to]
				if there[from][to] != back[to][from] {
					t.Fatalf("%d there, %d back", there[from][to], back[to][from])
				}
				if once[from][to] > min(there[from][to], tokensPerRank) {
					t.Fatalf("%d messages of %d tokens", once[from][to], tokensPerRank)
				}
			}
			if sent != tokensPerRank*topK {
				t.Fatalf("rank %d of %d sends %d", from, ranks, sent)
			}
		}
		// A token meets ranks(1-(1-1/ranks)^8) different ranks, a little more
		// because its experts differ.
		n := float64(ranks)
		want := n * (1 - math.Pow(1-1/n, topK)) * tokensPerRank * n
		if got := float64(all); got < want*0.99 || got > want*1.05 {
			t.Errorf("%d ranks: %.0f messages, want about %.0f", ranks, got, want)
		}
	}
}
