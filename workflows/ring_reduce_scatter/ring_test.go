package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// reduceAll runs the workflow on n ranks, delayed if the seed is not 0, and
// fails the test unless all is well.
func reduceAll(t *testing.T, ranks int, seed uint64, args string) (*ccruntest.Result, string) {
	t.Helper()
	var out bytes.Buffer // of rank 0, which alone writes
	guest := func(w *ccrun.World) error { return run(w, strings.Fields(args), &out) }
	var result *ccruntest.Result
	if seed == 0 {
		result = ccruntest.Run(t, ranks, guest)
	} else {
		result = ccruntest.RunDelayed(t, ranks, seed, guest)
	}
	for rank, err := range result.Errs {
		if err != nil {
			t.Fatalf("%s: rank %d: %v", args, rank, err)
		}
	}
	digests := slices.Compact(slices.Clone(result.Digests["out"]))
	if result.Mismatches != 0 || len(digests) != 1 {
		t.Errorf("%s: %d elements wrong, digests %v", args, result.Mismatches, digests)
	}
	return result, out.String()
}

// Protocols, slices and delays change nothing in the result; which elements a
// rank gets depends on the channels, the sum as a whole does not.
func TestEveryShapeGivesTheSameSum(t *testing.T) {
	for _, c := range []struct {
		ranks int
		args  string
	}{
		{1, "-bytes 1000 -iters 2"},
		{2, "-bytes 4KiB -iters 3"},
		{3, "-bytes 1000 -iters 3 -warmup 0"},
		{4, "-bytes 0 -iters 2"},
		{4, "-bytes 4 -iters 2"},
		{5, "-bytes 500 -iters 3 -verify last"},
	} {
		want := ""
		for seed, how := range []string{"-slice 0", "-slice 64 -protocol put", "-slice 48 -channels 3", "-slice 16 -channels 3 -protocol put", "-slice 1MiB -channels 16"} {
			result, _ := reduceAll(t, c.ranks, uint64(seed), c.args+" "+how)
			if got := result.Digests["out"][0]; want == "" {
				want = got
			} else if got != want {
				t.Errorf("%d ranks, %s %s: %s, want %s", c.ranks, c.args, how, got, want)
			}
		}
	}
}

// Every rank sends and receives each chunk but one.
func TestBytesThatCross(t *testing.T) {
	const ranks, vector = 4, 1280
	for protocol, kinds := range map[string][]uint32{"put": {raw.KindPut}, "get": {raw.KindGet, raw.KindReduce}} {
		result, _ := reduceAll(t, ranks, 0, fmt.Sprintf("-bytes %d -slice 100 -iters 1 -warmup 0 -channels 2 -protocol %s", vector, protocol))
		for rank, ops := range result.Ops {
			var crossed uint64
			for _, o := range ops {
				if slices.Contains(kinds, o.Kind) && o.Collective == 1 {
					crossed += o.Bytes
				}
			}
			if want := uint64((ranks - 1) * vector / ranks); crossed != want {
				t.Errorf("%s: rank %d moved %d bytes, want %d", protocol, rank, crossed, want)
			}
		}
	}
}

func TestGoldenResult(t *testing.T) {
	golden, err := os.ReadFile("golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	const args = "-bytes 64KiB -slice 8KiB -iters 2 -warmup 1 -channels 2"
	result, _ := reduceAll(t, 4, 0, args)
	want := fmt.Sprintf("ranks 4\nseed %d\nargs %s\ndigest out %s\n", ccruntest.Seed, args, result.Digests["out"][0])
	if string(golden) != want {
		t.Errorf("got\n%sgolden.txt has\n%s", want, golden)
	}
}

func TestOutput(t *testing.T) {
	result, got := reduceAll(t, 2, 0, "-bytes 64KiB -slice 16KiB -iters 2")
	want := "ring_reduce_scatter: 2 ranks, 64KiB, get in slices of 16KiB on 1 channels, 1 warm-up and 2 iterations\n" +
		"ring_reduce_scatter: 98304 bytes verified, 0 elements wrong, digest " + result.Digests["out"][0] + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-protocol push":    "-protocol push: want get or put",
		"-verify some":      "-verify some: want all, last or off",
		"-iters 0":          "-iters 0 -warmup 1: want at least 1 and 0, at most 1073741824 together",
		"-iters 1073741824": "-iters 1073741824 -warmup 1: want at least 1 and 0, at most 1073741824 together",
		"-channels 17":      "-channels 17: want 1 to 16",
		"-bytes 6":          "-bytes 6B -slice 256KiB: want whole elements of 4 bytes",
		"-slice 4GiB":       "-slice 4GiB: want less than 4GiB",
		"more":              `unexpected argument "more"`,
	} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
