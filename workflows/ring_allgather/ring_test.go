package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

func describe(protocol string, rank, size, slices int) []string {
	var lines []string
	for a := range plan(protocol, ccrun.NewRing(rank, size), slices) {
		lines = append(lines, a.String())
	}
	return lines
}

func TestPlans(t *testing.T) {
	for _, c := range []struct {
		protocol           string
		rank, size, slices int
		want               []string
	}{
		{"put", 1, 3, 2, []string{
			"step 0 put chunk 1 slice 0", "step 0 signal 1",
			"step 0 put chunk 1 slice 1", "step 0 signal 2",
			"step 1 wait 1", "step 1 put chunk 0 slice 0", "step 1 signal 3",
			"step 1 wait 2", "step 1 put chunk 0 slice 1", "step 1 signal 4",
			"step 2 wait 4",
		}},
		{"get", 1, 3, 2, []string{
			"step 0 signal 2",
			"step 0 wait 1", "step 0 get chunk 0 slice 0", "step 0 signal 3",
			"step 0 wait 2", "step 0 get chunk 0 slice 1", "step 0 signal 4",
			"step 1 wait 3", "step 1 get chunk 2 slice 0",
			"step 1 wait 4", "step 1 get chunk 2 slice 1",
		}},
		{"put", 0, 2, 1, []string{"step 0 put chunk 0 slice 0", "step 0 signal 1", "step 1 wait 1"}},
		{"get", 0, 2, 1, []string{"step 0 signal 1", "step 0 wait 1", "step 0 get chunk 1 slice 0"}},
		{"put", 0, 1, 4, nil}, {"get", 0, 1, 4, nil},
		{"put", 2, 4, 0, nil}, {"get", 2, 4, 0, nil},
	} {
		if got := describe(c.protocol, c.rank, c.size, c.slices); !slices.Equal(got, c.want) {
			t.Errorf("%s, rank %d of %d, %d slices:\n%s\nwant\n%s", c.protocol, c.rank, c.size, c.slices,
				strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A consumer of a plan may stop at any action.
func TestPlansCanBeLeft(t *testing.T) {
	for _, protocol := range []string{"put", "get"} {
		whole := describe(protocol, 0, 3, 2)
		for stop := range whole {
			var got []string
			for a := range plan(protocol, ccrun.NewRing(0, 3), 2) {
				got = append(got, a.String())
				if len(got) > stop {
					break
				}
			}
			if !slices.Equal(got, whole[:stop+1]) {
				t.Errorf("%s, left after %d: %v", protocol, stop, got)
			}
		}
	}
}

// gatherAll runs the workflow on n ranks and fails the test unless all is well.
func gatherAll(t *testing.T, ranks int, args string) (*ccruntest.Result, string) {
	t.Helper()
	return ccruntest.Workflow(run).Check(t, ranks, 0, args)
}

// Ranks that run ahead of and fall behind each other gather the same.
func TestDelaysChangeNothing(t *testing.T) {
	for seed := range uint64(8) {
		for _, protocol := range []string{"put", "get"} {
			args := "-bytes 250 -slice 100 -iters 4 -protocol " + protocol
			ccruntest.Workflow(run).Check(t, 4, seed+1, args)
		}
	}
}

func TestEveryShapeIsGatheredAlikeByPutAndGet(t *testing.T) {
	for _, c := range []struct {
		ranks int
		args  string
	}{
		{1, "-bytes 1000 -slice 64 -iters 2"},
		{2, "-bytes 4KiB -slice 1KiB -iters 5"},
		{3, "-bytes 1000 -slice 300 -iters 5"},
		{4, "-bytes 0 -iters 3"},
		{4, "-bytes 1 -slice 1 -iters 3"},
		{4, "-bytes 700 -slice 0 -iters 3"},
		{5, "-bytes 100 -slice 1000 -iters 3 -warmup 0"},
		{3, "-bytes 500 -slice 100 -iters 4 -verify last"},
		{3, "-bytes 500 -slice 100 -iters 4 -verify off"},
	} {
		get, _ := gatherAll(t, c.ranks, c.args)
		put, _ := gatherAll(t, c.ranks, c.args+" -protocol put")
		if get.Digests["out"][0] != put.Digests["out"][0] {
			t.Errorf("%d ranks, %s: get gives %s, put %s", c.ranks, c.args, get.Digests["out"][0], put.Digests["out"][0])
		}
	}
}

// Every slice of every chunk crosses every link once, and says which it is.
func TestTermsAddUp(t *testing.T) {
	const ranks, slicesOfChunk = 4, 3
	for protocol, kind := range map[string]uint32{"put": raw.KindPut, "get": raw.KindGet} {
		result, _ := gatherAll(t, ranks, "-bytes 250 -slice 100 -iters 2 -warmup 1 -protocol "+protocol)
		seen := map[string]uint64{}
		for rank := range ranks {
			for _, o := range result.Ops[rank] {
				if o.Kind == kind {
					seen[fmt.Sprintf("%d/%d/%d/%d", rank, o.Collective, o.Chunk, o.Slice)] += o.Bytes
				} else if o.Kind == raw.KindFill && o.Collective != 0 {
					t.Errorf("%s: writing the chunk counts as part of collective %d", protocol, o.Collective)
				}
			}
			if begun := result.Begun[rank]; len(begun) != 3 || begun[0].Warmup != 1 || begun[1].Warmup != 0 || begun[2].Bytes != 1000 {
				t.Errorf("%s: rank %d began %+v", protocol, rank, begun)
			}
		}
		if want := ranks * 3 * (ranks - 1) * slicesOfChunk; len(seen) != want {
			t.Errorf("%s: %d different slices, want %d", protocol, len(seen), want)
		}
		for place, n := range seen {
			if n != 100 && n != 50 {
				t.Errorf("%s: slice %s has %d bytes", protocol, place, n)
			}
		}
	}
}

func TestGoldenResult(t *testing.T) {
	ccruntest.Workflow(run).CheckGolden(t, 4, "-bytes 64KiB -slice 24KiB -iters 2 -warmup 1", "out")
}

func TestOutput(t *testing.T) {
	result, got := gatherAll(t, 2, "-bytes 64KiB -slice 16KiB -iters 2")
	want := "ring_allgather: 2 ranks, 64KiB from each, get in slices of 16KiB, 1 warm-up and 2 iterations\n" +
		"ring_allgather: 393216 bytes verified, 0 wrong, digest " + result.Digests["out"][0] + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-protocol push":                       "-protocol push: want get or put",
		"-bytes 2097152T":                      "-bytes 2097152TiB: too much from each of 4 ranks",
		"-iters 1 -warmup 9223372036854775807": "-iters 1 -warmup 9223372036854775807: want at least 1 and 0, at most 1073741824 together",
		"-bytes x":                             `invalid value "x" for flag -bytes: not a size such as 65536, 64KiB or 1G: "x"`,
	} {
		if _, err := parse(strings.Fields(args), 4, io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestHelpIsPrintedOnce(t *testing.T) {
	var out bytes.Buffer // of rank 0, which alone writes
	result := ccruntest.Run(t, 3, func(w *ccrun.World) error { return run(w, []string{"-h"}, &out) })
	for rank, err := range result.Errs {
		if !errors.Is(err, flag.ErrHelp) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if got := strings.Count(out.String(), "Usage of ring_allgather:"); got != 1 {
		t.Errorf("the usage was printed %d times:\n%s", got, out.String())
	}
}
