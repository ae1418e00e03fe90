// Package trialtest has the tests that workflows of package trial have in
// common: [Shapes] and [Crossing].
package trialtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Shapes fails the test unless protocols, slices, channels and delays change
// nothing in the result.
func Shapes(t *testing.T, run ccruntest.Workflow) {
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
		for delay, how := range []string{"-slice 0", "-slice 64 -protocol put", "-slice 48 -channels 3", "-slice 16 -channels 3 -protocol put", "-slice 1MiB -channels 16"} {
			result, _ := run.Check(t, c.ranks, uint64(delay), c.args+" "+how)
			if got := result.Digests["out"][0]; want == "" {
				want = got
			} else if got != want {
				t.Errorf("%d ranks, %s %s: %s, want %s", c.ranks, c.args, how, got, want)
			}
		}
	}
}

// Crossing fails the test unless every rank sends and receives each chunk but
// one in each of so many phases.
func Crossing(t *testing.T, run ccruntest.Workflow, phases int) {
	const ranks, vector = 4, 1280
	for protocol, kinds := range map[string][]uint32{"put": {raw.KindPut}, "get": {raw.KindGet, raw.KindReduce}} {
		result, _ := run.Check(t, ranks, 0, fmt.Sprintf("-bytes %d -slice 100 -iters 1 -warmup 0 -channels 2 -protocol %s", vector, protocol))
		for rank, ops := range result.Ops {
			var crossed uint64
			for _, o := range ops {
				if slices.Contains(kinds, o.Kind) && o.Collective == 1 {
					crossed += o.Bytes
				}
			}
			if want := uint64(phases * (ranks - 1) * vector / ranks); crossed != want {
				t.Errorf("%s: rank %d moved %d bytes, want %d", protocol, rank, crossed, want)
			}
		}
	}
}
