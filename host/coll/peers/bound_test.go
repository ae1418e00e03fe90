package main

import (
	"fmt"
	"testing"
)

// The ratios that are asked for: twice as much of what computes.
func TestWantedRatio(t *testing.T) {
	for _, c := range []struct {
		collective string
		ranks      int
		want       string // at 8 B, 64 KiB, 1 MiB, 16 MiB, 64 MiB and 2 MiB
	}{
		{"all_reduce", 2, "[0.8 4 4 2.3 3 0]"}, {"all_reduce", 4, "[0.8 4 4 2.3 3 0]"}, {"reduce_scatter", 4, "[0 4 4 2.3 3 0]"},
		{"all_gather", 2, "[0 1.5 1.1 1 1.5 0]"}, {"alltoall", 4, "[0 1.5 1.5 1.5 1.5 0]"}, {"broadcast", 3, "[0 0 0 0 0 0]"},
	} {
		var got []float64
		for _, bytes := range []int64{8, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 2 << 20} {
			got = append(got, wantedRatio(c.collective, c.ranks, bytes))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s of %d ranks: %v, want %s", c.collective, c.ranks, got, c.want)
		}
	}
}

// A copy of so many bytes by each of two processes loads and stores as much as
// the collective of 1 MiB: an all-gather loads 1 MiB and stores 2, for example.
func TestBoundBytes(t *testing.T) {
	for collective, want := range map[string]int64{
		"all_reduce": 1 << 20, "reduce_scatter": 3 << 18, "all_gather": 3 << 18, "alltoall": 1 << 20, "broadcast": 1 << 19,
	} {
		if got, err := boundBytes(sweep{collective: collective, ranks: 2}, 1<<20); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", collective, got, err, want)
		}
	}
	if got, err := boundBytes(sweep{collective: "none", ranks: 2}, 1); err == nil {
		t.Errorf("no collective: %d", got)
	}
}
