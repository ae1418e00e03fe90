package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// soakAll runs the workflow on n ranks and fails the test unless all is well.
func soakAll(t *testing.T, ranks int, args string) (result *ccruntest.Result, out string) {
	t.Helper()
	return ccruntest.Workflow(run).Check(t, ranks, 0, args)
}

func TestRounds(t *testing.T) {
	for ranks, args := range map[int]string{1: "-rounds 40", 2: "-rounds 40 -renew 7", 3: "-for 100ms", 5: "-rounds 40 -from 100"} {
		soakAll(t, ranks, args)
	}
}

// A round does the same whatever came before it.
func TestRoundsCanBeReplayed(t *testing.T) {
	whole, _ := soakAll(t, 2, "-rounds 30")
	tail, _ := soakAll(t, 2, "-rounds 10 -from 20")
	for rank := range whole.Calls {
		all, last := whole.Calls[rank], tail.Calls[rank]
		if len(last) < 10 || len(all) <= len(last) {
			t.Fatalf("rank %d: %d calls, the last rounds have %d", rank, len(all), len(last))
		}
		for i := range last[:len(last)-1] { // but for the one that ends the run
			got, want := last[i], all[len(all)-len(last)+i]
			if got.Op != want.Op || got.Count != want.Count || got.Dtype != want.Dtype || got.Redop != want.Redop || got.Root != want.Root {
				t.Errorf("rank %d, call %d: %+v, the whole run has %+v", rank, i, got, want)
			}
		}
	}
}

// The draws reach everything that there is to draw.
func TestEverythingIsDrawn(t *testing.T) {
	result, _ := soakAll(t, 4, "-rounds 400")
	seen := map[string]bool{}
	for _, c := range result.Calls[0] {
		seen[fmt.Sprint("op ", c.Op)] = true
		seen[fmt.Sprint("dtype ", c.Dtype)] = true
		seen[fmt.Sprint("redop ", c.Redop)] = true
		seen[fmt.Sprint("root ", c.Root)] = true
		seen[fmt.Sprint("in place ", c.In == 0)] = true
		seen[fmt.Sprint("forced ", c.AlgorithmLen > 0)] = true
		seen[fmt.Sprint("none ", c.Count == 0)] = true
		seen[fmt.Sprint("odd ", c.Count%2 == 1)] = true
	}
	if want := 10 + len(dtypes) + len(reductions) + 4 + 4*2; len(seen) != want {
		t.Errorf("%d different draws, want %d: %v", len(seen), want, seen)
	}
}

func TestGoldenResult(t *testing.T) {
	ccruntest.Workflow(run).CheckGolden(t, 4, "-rounds 50 -renew 20", "drawn")
}

func TestOutput(t *testing.T) {
	result, got := soakAll(t, 2, "-rounds 3")
	want := fmt.Sprintf("soak: 2 ranks, seed 1, from round 0\nsoak: %d calls of rank 0 in 3 rounds, drawn %s\n", len(result.Calls[0])-1, result.Digests["drawn"][0])
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-rounds -1": "-rounds -1 -from 0 -renew 1000: want at least 0, 0 and 1",
		"-from -1":   "-rounds 0 -from -1 -renew 1000: want at least 0, 0 and 1",
		"-renew 0":   "-rounds 0 -from 0 -renew 0: want at least 0, 0 and 1",
		"more":       `unexpected argument "more"`,
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
