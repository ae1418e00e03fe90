package main

import (
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// The guest's own world must agree with the host's on what collectives do.
func TestCollectivesOfTheTestWorld(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		result := ccruntest.Run(t, ranks, func(w *ccrun.World) error { return run(w, nil) })
		for rank, err := range result.Errs {
			if err != nil {
				t.Errorf("%d ranks: rank %d: %v", ranks, rank, err)
			}
		}
		if result.Mismatches != 0 {
			t.Errorf("%d ranks: %d elements are wrong", ranks, result.Mismatches)
		}
	}
}
