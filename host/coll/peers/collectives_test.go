package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestParseComparison(t *testing.T) {
	c, err := parseComparison(strings.Fields("-n 2,3 -rounds 4 -bytes 8,1K -collectives broadcast,all_gather -json F"), io.Discard)
	if want := "{[2 3] 4 [8 1024] [all_gather broadcast] F}"; err != nil || fmt.Sprintf("%v", c) != want {
		t.Errorf("got %v, %v, want %s", c, err, want)
	}
	if c, err = parseComparison(nil, io.Discard); err != nil || len(c.collectives) != len(compared) || len(c.ranks) != 2 {
		t.Errorf("without flags: %v, %v", c, err)
	}
	for _, args := range []string{"-n 1", "-n 2,", "-rounds 0", "-collectives none", "more"} {
		if _, err := parseComparison(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

// One rank's share is a multiple of 16 bytes, as nccl-tests has it.
func TestSweepSizes(t *testing.T) {
	c := comparison{sizes: sizeList{8, 100, 1 << 20}}
	for collective, want := range map[string]string{
		"all_reduce": "8 100 1048576", "all_gather": "48 96 1048560", "broadcast": "8 100 1048576", "alltoall": "48 96 1048560",
	} {
		var got []string
		for _, size := range c.sweepOf(collective, 3).sizes {
			got = append(got, fmt.Sprint(size.bytes))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", collective, strings.Join(got, " "), want)
		}
	}
}

func TestParseNanos(t *testing.T) {
	got, err := parseNanos([]byte("{\"bytes\":8,\"mean_ns\":459.0}\n{\"bytes\":16,\"mean_ns\":1}\n"))
	if err != nil || len(got) != 2 || got[8] != 459 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"hello\n", "{}\n", `{"bytes":8,"mean_ns":0}`} {
		if got, err := parseNanos([]byte(bad)); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestParseReport(t *testing.T) {
	const good = `{"version":3,"results":[{"size":8,"out_of_place":{"time":1.5,"nwrong":0.000000},"in_place":{"time":2.000000,"nwrong":0}}]}`
	for inPlace, want := range map[bool]float64{false: 1500, true: 2000} {
		if got, err := parseReport([]byte(good), inPlace); err != nil || got[8] != want {
			t.Errorf("in place %v: %v, %v", inPlace, got, err)
		}
	}
	for what, change := range map[string][2]string{"wrong numbers": {`0.000000}`, `1}`}, "no check": {`"nwrong":0.000000`, `"nwrong":null`}, "no word of a check": {`,"nwrong":0.000000`, ``}, "no time": {`"time":1.5,`, ``}, "no JSON": {`{"ver`, `ver`}} {
		if got, err := parseReport([]byte(strings.Replace(good, change[0], change[1], 1)), false); err == nil {
			t.Errorf("%s: taken as %v", what, got)
		}
	}
}

const wantComparison = `   peer          op  ranks  bytes  microseconds  algbw GB/s  busbw GB/s  copy/this  ratio  wanted          of bound  wanted        
   copy  all_reduce      4   1KiB          1.00        1.02        1.54          -      -       -       -         -       -       -
  bound  all_reduce      4   1KiB          1.00        1.02        1.54          -      -       -       -         -       -       -
   fast  all_reduce      4   1KiB          4.00        0.26        0.38       0.25   2.00       -       -         -       -       -
   slow  all_reduce      4   1KiB          8.00        0.13        0.19       0.12   0.50       -       -         -       -       -
  ccrun  all_reduce      4   1KiB          1.50        0.68        1.02       0.67   2.67       -       -         -       -       -
   copy  all_reduce      4  16MiB      16384.00        1.02        1.54          -      -       -       -         -       -       -
  bound  all_reduce      4  16MiB      16384.00        1.02        1.54          -      -       -       -         -       -       -
   fast  all_reduce      4  16MiB      65536.00        0.26        0.38       0.25   2.00       -       -         -       -       -
   slow  all_reduce      4  16MiB     131072.00        0.13        0.19       0.12   0.50       -       -         -       -       -
  ccrun  all_reduce      4  16MiB      24576.00        0.68        1.02       0.67   2.67     2.3     met      67 %    75 %  MISSED
   copy  all_reduce      4  64MiB      65536.00        1.02        1.54          -      -       -       -         -       -       -
  bound  all_reduce      4  64MiB      65536.00        1.02        1.54          -      -       -       -         -       -       -
   fast  all_reduce      4  64MiB     262144.00        0.26        0.38       0.25   2.00       -       -         -       -       -
   slow  all_reduce      4  64MiB     524288.00        0.13        0.19       0.12   0.50       -       -         -       -       -
  ccrun  all_reduce      4  64MiB      98304.00        0.68        1.02       0.67   2.67     3.0  MISSED      67 %    75 %  MISSED

unfit is left out with 4 ranks: too many

`

// Open MPI is measured in both ways where they differ, and every program is told
// how many calls do not count.
func TestSettingsOfPeers(t *testing.T) {
	p := boundOpenMPI(t.Context(), t.TempDir())
	if many := runtime.NumCPU() + 1; p.unfit(max(many, 3)) != "" {
		t.Errorf("%s is unfit for %d ranks: %s", p.name, many, p.unfit(many))
	}
	c := comparison{sizes: sizeList{8, 64 << 20}}
	for _, ranks := range []int{2, 4} {
		if got, want := strings.Join(c.sweepOf("broadcast", ranks).args()[:2], " "), "broadcast 20"; got != want {
			t.Errorf("%d ranks: %s, want %s", ranks, got, want)
		}
	}
}

// fakePeer takes so many nanoseconds per byte.
func fakePeer(name string, perByte float64) peer {
	return peer{name, func(_ context.Context, s sweep) (nanosOf, error) {
		measured := nanosOf{}
		for _, size := range s.sizes {
			measured[size.bytes] = perByte * float64(size.bytes) * 1000 / 1024
		}
		return measured, nil
	}, always, nil}
}

func TestCompare(t *testing.T) {
	absent, unfit := fakePeer("absent", 1), fakePeer("unfit", 1)
	absent.missing = errors.New("not here")
	unfit.unfit = func(ranks int) string { return "too many" }
	peers := []peer{fakePeer(plainCopy, 1), fakePeer(memoryBound, 1), absent, fakePeer("fast", 4), unfit, fakePeer("slow", 8), fakePeer(ourName, 1.5)}
	c := comparison{ranks: []int{4}, rounds: 3, sizes: sizeList{1 << 10, 16 << 20, 64 << 20}}
	var out, progress bytes.Buffer
	lines, err := c.compare(t.Context(), peers, c.sweepOf("all_reduce", 4), &out, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != wantComparison || len(lines) != 15 {
		t.Errorf("got %d lines\n%s\nwant\n%s", len(lines), out.String(), wantComparison)
	}
	if want := "all_reduce, 4 ranks: round 3 of 3\n"; !strings.HasSuffix(progress.String(), want) {
		t.Errorf("progress %q, want %q at its end", progress.String(), want)
	}
	out.Reset()
	if c.describe(&out, peers); !strings.HasSuffix(out.String(), "\nabsent is left out: not here\n\n") {
		t.Errorf("said %s", out.String())
	}
	hung := fakePeer("hung", 1)
	hung.run = func(context.Context, sweep) (nanosOf, error) { return nil, errors.New("it hangs") }
	out.Reset()
	if _, err := c.compare(t.Context(), append(peers, hung), c.sweepOf("all_reduce", 4), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if want := wantComparison + "hung failed and was left out from then on: it hangs\n\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	broken := fakePeer("broken", 1)
	broken.run = func(context.Context, sweep) (nanosOf, error) { return nanosOf{1024: 1}, nil }
	_, err = c.compare(t.Context(), []peer{broken}, c.sweepOf("all_reduce", 4), io.Discard, io.Discard)
	if want := "broken: it did not measure 16777216 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

const wantJSON = `[
	{
		"peer": "ccrun",
		"op": "reduce_scatter",
		"ranks": 2,
		"bytes": 16777216,
		"us": 13107.2,
		"algbw_gb_s": 1.28,
		"busbw_gb_s": 0.64,
		"ratio": 5,
		"copy_ratio": 1.25,
		"ratio_wanted": 2.3,
		"ratio_met": true,
		"algorithm": "direct",
		"traffic_bytes": 50331648,
		"bound_percent": 93.75,
		"bound_percent_wanted": 75,
		"bound_percent_met": true
	}
]
`

func TestJSON(t *testing.T) {
	c := comparison{rounds: 1, sizes: sizeList{16 << 20}}
	peers := []peer{fakePeer(plainCopy, 1), fakePeer(memoryBound, 0.75), fakePeer("other", 4), fakePeer(ourName, 0.8)}
	lines, err := c.compare(t.Context(), peers, c.sweepOf("reduce_scatter", 2), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lines.json")
	if err := writeJSON(path, lines[3:]); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != wantJSON {
		t.Errorf("%v\n%s\nwant\n%s", err, got, wantJSON)
	}
}

// TestPeers builds and runs those that are installed.
func TestPeers(t *testing.T) {
	for name, build := range map[string]func(context.Context, string) peer{"openmpi": openMPI, "openmpi bound": boundOpenMPI, "mpich": mpich, "gloo": gloo} {
		t.Run(name, func(t *testing.T) {
			p := build(t.Context(), t.TempDir())
			if p.missing != nil {
				t.Skipf("%s: %v", p.name, p.missing)
			}
			if crowded(2) {
				t.Skip("one processor")
			}
			for _, c := range compared {
				s := sweep{c.name, 2, 3, []sized{{32, 5}, {4096, 5}}}
				got, err := p.run(t.Context(), s)
				if err != nil || len(got) != 2 || got[32] <= 0 || got[4096] <= 0 {
					t.Errorf("%s: %v, %v", c.name, got, err)
				}
			}
			if got, err := p.run(t.Context(), sweep{"all_gather", 2, 3, []sized{{4, 5}}}); err == nil {
				t.Errorf("a share that is no element: %v", got)
			}
			var exit *exec.ExitError
			if got, err := p.run(t.Context(), sweep{"none", 2, 3, []sized{{32, 5}}}); !errors.As(err, &exit) {
				t.Errorf("an unknown operation: %v, %v", got, err)
			}
		})
	}
}
