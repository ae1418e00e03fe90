package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

func describe(rank, size, tiles, streams int) []string {
	var lines []string
	for a := range plan(ccrun.NewRing(rank, size), tiles, streams) {
		lines = append(lines, a.String())
	}
	return lines
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		rank, size, tiles, streams int
		want                       []string
	}{
		{0, 1, 2, 3, []string{"stream 0: multiply tile 0", "stream 1: multiply tile 1"}},
		{1, 2, 4, 3, []string{
			"stream 0: offer tile 1", "stream 1: fetch tile 0", "stream 0: multiply tile 1", "stream 1: multiply tile 0",
			"stream 1: offer tile 3", "stream 2: fetch tile 2", "stream 1: multiply tile 3", "stream 2: multiply tile 2",
		}},
		{1, 3, 3, 2, []string{
			"stream 0: offer tile 1", "stream 1: fetch tile 0", "stream 0: multiply tile 1",
			"stream 1: offer tile 0", "stream 0: fetch tile 2", "stream 1: multiply tile 0", "stream 0: multiply tile 2",
		}},
	} {
		if got := describe(c.rank, c.size, c.tiles, c.streams); !slices.Equal(got, c.want) {
			t.Errorf("rank %d of %d, %d tiles, %d streams:\n%s", c.rank, c.size, c.tiles, c.streams, strings.Join(got, "\n"))
		}
	}
}

// Every rank multiplies every tile once, on the stream that fetched it, and
// what one rank fetches the one before has offered: n(n-1) transfers a ring.
func TestPlansFitTogether(t *testing.T) {
	for size := 1; size <= 6; size++ {
		for streams := 1; streams <= 4; streams++ {
			tiles, fetches := 3*size, 0
			for rank := range size {
				offered := make(map[int]bool)
				for a := range plan(ccrun.NewRing((rank+size-1)%size, size), tiles, streams) {
					offered[a.tile] = offered[a.tile] || a.kind == offer
				}
				here := make(map[int]int) // stream by tile
				done := make(map[int]int)
				for a := range plan(ccrun.NewRing(rank, size), tiles, streams) {
					stream, fetched := here[a.tile]
					switch {
					case a.kind == fetch && !offered[a.tile]:
						t.Errorf("%d ranks: rank %d fetches tile %d, which was not offered", size, rank, a.tile)
					case a.kind != fetch && a.tile%size != rank && (!fetched || stream != a.stream):
						t.Errorf("%d ranks: rank %d uses tile %d on another stream than fetched it", size, rank, a.tile)
					case a.kind == fetch:
						here[a.tile] = a.stream
						fetches++
					case a.kind == multiply:
						done[a.tile]++
					}
				}
				for tile := range tiles {
					if done[tile] != 1 {
						t.Errorf("%d ranks: rank %d multiplies tile %d %d times", size, rank, tile, done[tile])
					}
				}
			}
			if want := 3 * size * (size - 1); fetches != want {
				t.Errorf("%d ranks: %d transfers, want %d", size, fetches, want)
			}
		}
	}
}

// product of n ranks, delayed if the seed is not 0; all is well or the test
// fails.
func multiplyAll(t *testing.T, ranks int, seed uint64, args string) (*ccruntest.Result, string) {
	t.Helper()
	var out bytes.Buffer // of rank 0, which alone writes
	guest := func(w *ccrun.World) error { return run(w, strings.Fields(args), &out) }
	result := ccruntest.RunDelayed(t, ranks, seed, guest)
	for rank, err := range result.Errs {
		if err != nil {
			t.Fatalf("%s: rank %d: %v", args, rank, err)
		}
	}
	if digests := slices.Compact(slices.Clone(result.Digests["out"])); len(digests) != 1 || result.Mismatches != 0 {
		t.Errorf("%s: digests %v, %d elements wrong", args, digests, result.Mismatches)
	}
	return result, out.String()
}

func TestAllModesGiveTheReference(t *testing.T) {
	for _, c := range []struct {
		ranks int
		args  string
	}{
		{1, "-m 4 -n 3 -k 5"},
		{2, "-m 8 -n 4 -k 4 -tiles 8 -streams 2"},
		{3, "-m 12 -n 1 -k 7 -tiles 3 -streams 1"},
		{4, "-m 16 -n 8 -k 2 -tiles 16 -streams 4"},
	} {
		for seed := range uint64(3) {
			multiplyAll(t, c.ranks, seed, c.args+" -iters 2")
		}
	}
}

func TestGoldenResult(t *testing.T) {
	golden, err := os.ReadFile("golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	const args = "-m 32 -n 8 -k 16 -tiles 8 -iters 1"
	result, _ := multiplyAll(t, 4, 0, args)
	want := fmt.Sprintf("ranks 4\nseed %d\nargs %s\ndigest out %s\n", ccruntest.Seed, args, result.Digests["out"][0])
	if string(golden) != want {
		t.Errorf("got\n%sgolden.txt has\n%s", want, golden)
	}
}

func TestOutput(t *testing.T) {
	_, got := multiplyAll(t, 2, 0, "-m 4 -n 2 -k 2 -iters 1")
	number := regexp.MustCompile(` *-?\d+\.\d+`)
	want := "allgather_matmul: 2 ranks, 4 x 2 x 2 in 4 tiles on 3 streams, 1 warm-up and 1 iterations\n" +
		"allgather_matmul: gather # ms\nallgather_matmul: compute # ms\nallgather_matmul: plain # ms\n" +
		"allgather_matmul: bulk # ms\nallgather_matmul: pipelined # ms\nallgather_matmul: overlap #\n"
	got = number.ReplaceAllStringFunc(got, func(string) string { return " #" })
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestOverlap(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		gather, compute, both time.Duration
		want                  float64
	}{
		{2 * ms, 10 * ms, 10 * ms, 1}, {2 * ms, 10 * ms, 12 * ms, 0}, {10 * ms, 4 * ms, 12 * ms, 0.5}, {2 * ms, 2 * ms, 6 * ms, -1}, {0, ms, ms, 0},
	} {
		if got := overlap(c.gather, c.compute, c.both); got != c.want {
			t.Errorf("%v and %v in %v: %v, want %v", c.gather, c.compute, c.both, got, c.want)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-iters 0":          "-iters 0 -warmup 1: want at least 1 and 0, at most 1048576",
		"-n 0":              "-m 2048 -n 0 -k 1024: want 1 to 65536",
		"-k 65537":          "-m 2048 -n 16 -k 65537: want 1 to 65536",
		"-tiles 6":          "-tiles 6: want a multiple of the 4 ranks, at most 1000",
		"-tiles 1004":       "-m 257024 -n 16 -k 1024: want 1 to 65536",
		"-m 8 -tiles 1004":  "-tiles 1004: want a multiple of the 4 ranks, at most 1000",
		"-m 520 -tiles 260": "-tiles 260: 65 of each rank, want at most 64",
		"-m 12":             "-m 12: want a multiple of the 8 tiles",
		"-streams 0":        "-streams 0: want 1 to 16",
		"more":              `unexpected argument "more"`,
	} {
		if _, err := parse(strings.Fields(args), 4, io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
