package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// TestEveryRow measures all of them, too shortly to mean anything.
func TestEveryRow(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"-rounds", "2"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(out.String(), "\n\n")
	if lines := strings.Count(table, "\n"); lines != len(rows)+2 {
		t.Errorf("%d lines, want %d:\n%s", lines, len(rows)+2, table)
	}
	if strings.Count(progress.String(), "\n") != len(rows) {
		t.Errorf("progress:\n%s", progress.String())
	}
	for _, args := range []string{"-rounds 0", "more"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

// Both sides must do the same work: what they leave is the same, and so are
// their records.
func TestBothSidesDoTheWork(t *testing.T) {
	for _, w := range []work{
		{kind: op.Copy, bytes: smallBytes}, {kind: op.Put, bytes: sliceBytes}, {kind: op.Signal},
		{kind: op.Copy, bytes: batchSliceBytes, batched: true}, {kind: op.Put, bytes: smallBytes, batched: true}, {kind: op.Signal, batched: true},
	} {
		t.Run(w.what(), func(t *testing.T) {
			world, err := openWorld(t.Context(), t.TempDir(), flight.LevelSlice, w)
			if err != nil {
				t.Fatal(err)
			}
			defer world.close(t.Context())
			for slot, side := range map[uint32]func() error{guestSlot: world.guest, nativeSlot: world.native(w)} {
				before := world.recorder.Counters().Records
				if err := side(); err != nil {
					t.Fatal(err)
				}
				if n := world.recorder.Counters().Records - before; n != int64(w.chunk()) {
					t.Errorf("%d records of %d operations", n, w.chunk())
				}
				value, err := world.device.SignalValue(0, slot)
				if raised := value > 0; err != nil || raised != (w.kind == op.Signal) {
					t.Errorf("slot %d is %d, %v", slot, value, err)
				}
			}
			if err := world.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWorldNeedsItsDirectory(t *testing.T) {
	if _, err := openWorld(t.Context(), t.TempDir()+"/none", flight.LevelOff, work{kind: op.Signal}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened in a directory that does not exist: %v", err)
	}
}

// Each side begins every other round, and those of the warm-up do not count.
func TestPlayTakesTurns(t *testing.T) {
	var order strings.Builder
	side := func(name string) func() error {
		return func() error { order.WriteString(name); return nil }
	}
	r, err := play(t.Context(), 2, side("a"), side("b"))
	if err != nil || order.String() != "abbaabbaab" || len(r.without) != 2 || len(r.with) != 2 {
		t.Errorf("order %s, %v, %v", order.String(), r, err)
	}
	broken := errors.New("broken")
	if _, err := play(t.Context(), 1, side("a"), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a side that fails: %v", err)
	}
}

// What is printed are medians of a round's differences, not differences of
// medians.
func TestPrices(t *testing.T) {
	r := rounds{without: []float64{100, 200, 400}, with: []float64{150, 210, 420}}.perOperation(10)
	if r.nanos() != 2 || math.Abs(r.percent()-5) > 1e-9 {
		t.Errorf("%v ns, %v %%, want 2 and 5", r.nanos(), r.percent())
	}
}

const wantTable = `| price of | operation | without | with | costs | at most | |
|---|---|---|---|---|---|---|
| sandbox | copy of 64 B, one by one | 100 ns | 150 ns | 50 ns | 80 ns | met |
| sandbox | signal, 64 in a batch | 100 ns | 150 ns | 50 ns | 20 ns | MISSED |
| recorder | put of 256 KiB, one by one | 5.00 µs | 5.05 µs | 1.0 % | 2 % | met |
| recorder | put of 64 KiB, 64 in a batch | 1.00 µs | 1.05 µs | 5.0 % | 2 % | MISSED |
`

func TestTable(t *testing.T) {
	var out bytes.Buffer
	writeTable(&out, []price{
		{row{sandbox, work{kind: op.Copy, bytes: smallBytes}, callBound}, rounds{[]float64{100}, []float64{150}}},
		{row{sandbox, work{kind: op.Signal, batched: true}, batchBound}, rounds{[]float64{100}, []float64{150}}},
		{row{recorder, work{kind: op.Put, bytes: sliceBytes}, transferBound}, rounds{[]float64{5000}, []float64{5050}}},
		{row{recorder, work{kind: op.Put, bytes: batchSliceBytes, batched: true}, transferBound}, rounds{[]float64{1000}, []float64{1050}}},
	})
	if out.String() != wantTable {
		t.Errorf("got\n%s\nwant\n%s", out.String(), wantTable)
	}
}
