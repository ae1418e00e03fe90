package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/tck"
	"github.com/ccrun/ccrun/traces"
)

var (
	stragglerRuns = flag.Int("stragglers", 0, "how many healthy and how many delayed runs of each workload TestStragglers compares, 0 for one of each of the first workload")
	stragglerTime = flag.Duration("stragglertime", time.Minute, "how long TestStragglers may take: no round begins after that")
)

// stragglerLoads are what ranks do while one of them is slow.
var stragglerLoads = []struct{ name, guest, args string }{
	{"all-gather by get, 16 MiB", "ring_allgather", "-protocol get -bytes 4MiB -slice 256KiB -iters 20 -verify last"},
	{"all-gather by put, 16 MiB", "ring_allgather", "-protocol put -bytes 4MiB -slice 256KiB -iters 20 -verify last"},
	{"all-gather by get, 256 KiB", "ring_allgather", "-protocol get -bytes 64KiB -slice 16KiB -iters 20 -verify last"},
	{"all-reduce by get, 16 MiB", "ring_allreduce", "-protocol get -bytes 16MiB -slice 256KiB -iters 20 -verify last"},
	{"all-reduce by put, 2 channels", "ring_allreduce", "-protocol put -channels 2 -bytes 16MiB -slice 256KiB -iters 20 -verify last"},
	{"reduce-scatter, 16 MiB", "ring_reduce_scatter", "-bytes 16MiB -iters 20 -verify last"},
	{"matrix tiles on 3 streams", "allgather_matmul", "-iters 10"},
	{"the host's collectives, 16 MiB", "repeated", ""},
}

const stragglerRanks = 4

// stragglerCount is how often the verdict was what it should be.
type stragglerCount struct{ named, misnamed, silent, delayed, accused, healthy int }

// TestStragglers delays one rank's operations three times in every other run:
// exactly that rank is to be named, and nobody in the runs between. `make
// straggler` does it twenty times.
func TestStragglers(t *testing.T) {
	trial := stragglerTrial{newGuestBuilder(t.TempDir()), t.TempDir()}
	loads, rounds := stragglerLoads, *stragglerRuns
	if rounds == 0 {
		loads, rounds = loads[:1], 1
	}
	began := time.Now()
	for i := range loads {
		t.Run(loads[i].name, func(t *testing.T) {
			var c stragglerCount
			for round := range rounds {
				if time.Since(began) > *stragglerTime {
					t.Errorf("only %d of %d rounds within %v", round, rounds, *stragglerTime)
					break
				}
				trial.compare(t, i, round%stragglerRanks, &c)
			}
			t.Logf("delayed: %d of %d named, %d named others, %d silent; healthy: %d of %d named somebody",
				c.named, c.delayed, c.misnamed, c.silent, c.accused, c.healthy)
		})
	}
}

// stragglerTrial is what all runs share: guests, and a directory for what is
// temporary and what is compiled.
type stragglerTrial struct {
	guests *guestBuilder
	dir    string
}

// compare carries out a healthy run of a workload and one in which a rank is
// slow.
func (s *stragglerTrial) compare(t *testing.T, load, slow int, count *stragglerCount) {
	t.Helper()
	if named, text := s.named(t, load); len(named) > 0 {
		count.accused++
		t.Errorf("%s, healthy: %v named: %s", stragglerLoads[load].name, named, text)
	}
	count.healthy++
	named, text := s.named(t, load, "--fault", fmt.Sprintf("delay=%d:3x", slow))
	count.delayed++
	switch {
	case slices.Equal(named, []int{slow}):
		count.named++
		return
	case len(named) == 0:
		count.silent++
	default:
		count.misnamed++
	}
	t.Errorf("%s, rank %d delayed: %v named: %s", stragglerLoads[load].name, slow, named, text)
}

// named runs a workload and gives the ranks that a verdict names, of a row or
// of the run, and what spoke for it: relative scores, in how many collectives.
func (s *stragglerTrial) named(t *testing.T, load int, flags ...string) (named []int, text string) {
	t.Helper()
	summary := s.run(t, load, flags...)
	stragglers := summary.Stragglers
	for i := range summary.Collectives {
		c := &summary.Collectives[i]
		stragglers = append(stragglers, c.Stragglers...)
		for _, score := range c.RankScores {
			text += fmt.Sprintf(" %s/%s/%d: %.2f in %d/%d;", c.Op, c.Algorithm, score.Rank, score.Relative, score.Slow, score.Collectives)
		}
	}
	for i := range stragglers {
		named = append(named, stragglers[i].Rank)
	}
	slices.Sort(named)
	return slices.Compact(named), text
}

func (s *stragglerTrial) run(t *testing.T, load int, flags ...string) *traces.Summary {
	t.Helper()
	l := &stragglerLoads[load]
	wasm, err := s.guests.build(l.guest)
	if errors.Is(err, tck.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	line := append([]string{"--json", "-n", strconv.Itoa(stragglerRanks), "--seed", "1"}, flags...)
	line = append(append(line, wasm), strings.Fields(l.args)...)
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("ccrun", line...)
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir, "XDG_CACHE_HOME="+s.dir)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", l.name, err, &stderr)
	}
	summary := new(traces.Summary)
	if err := json.Unmarshal(stdout.Bytes(), summary); err != nil {
		t.Fatal(err)
	}
	return summary
}
