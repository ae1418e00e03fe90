package main

import (
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial/trialtest"
)

// Which elements a rank gets depends on the channels, the sum as a whole does
// not.
func TestEveryShapeGivesTheSameSum(t *testing.T) { trialtest.Shapes(t, run) }

// Chunks travel around the ring once.
func TestBytesThatCross(t *testing.T) { trialtest.Crossing(t, run, 1) }

func TestGoldenResult(t *testing.T) {
	ccruntest.Workflow(run).CheckGolden(t, 4, "-bytes 64KiB -slice 8KiB -iters 2 -warmup 1 -channels 2", "out")
}

func TestOutput(t *testing.T) {
	result, got := ccruntest.Workflow(run).Check(t, 2, 0, "-bytes 64KiB -slice 16KiB -iters 2")
	want := "ring_reduce_scatter: 2 ranks, 64KiB, get in slices of 16KiB on 1 channels, 1 warm-up and 2 iterations\n" +
		"ring_reduce_scatter: 98304 bytes verified, 0 elements wrong, digest " + result.Digests["out"][0] + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
