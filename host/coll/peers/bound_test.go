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

// Two processes that copy 100 bytes each in 50 ns move 8 bytes in each.
func TestBound(t *testing.T) {
	if got := bound(4000, 2, 100, 50); got != 500 {
		t.Errorf("%v ns, want 500", got)
	}
	r := rounds{plainCopy: {50, 100, 10}, "x": {1000, 1000, 1000, 7}}
	if got := r.percentOfBound("x", 4000, 2, 100); got != 50 {
		t.Errorf("%v %%, want that of the middle round, 50", got)
	}
	if got := (rounds{"x": {1}}).percentOfBound("x", 4000, 2, 100); got != 0 {
		t.Errorf("%v %% of nothing", got)
	}
}
