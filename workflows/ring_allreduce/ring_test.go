package main

import (
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial/trialtest"
)

func TestEveryShapeGivesTheSameSum(t *testing.T) { trialtest.Shapes(t, run) }

// Chunks travel around the ring twice.
func TestBytesThatCross(t *testing.T) { trialtest.Crossing(t, run, 2) }

func TestGoldenResult(t *testing.T) {
	ccruntest.Workflow(run).CheckGolden(t, 4, "-bytes 64KiB -slice 8KiB -iters 2 -warmup 1 -channels 2", "out")
}

func TestOutput(t *testing.T) {
	result, got := ccruntest.Workflow(run).Check(t, 2, 0, "-bytes 64KiB -slice 16KiB -iters 2")
	want := "ring_allreduce: 2 ranks, 64KiB, get in slices of 16KiB on 1 channels, 1 warm-up and 2 iterations\n" +
		"ring_allreduce: 196608 bytes verified, 0 elements wrong, digest " + result.Digests["out"][0] + "\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
