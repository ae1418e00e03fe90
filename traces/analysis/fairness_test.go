package analysis

import (
	"math"
	"testing"
)

// TestFairnessVectors has the worked examples of BMWG's drafts.
func TestFairnessVectors(t *testing.T) {
	for _, c := range []struct {
		values          []float64
		jain, maxToMean float64
	}{
		{[]float64{1, 1, 1, 1}, 1, 1},
		{[]float64{1, 0, 0, 0}, 0.25, 4},
		{[]float64{1, 2, 3}, 36. / 42, 1.5},
		{[]float64{0, 0}, 1, 1},
		{nil, 1, 1},
	} {
		if got := Jain(c.values); math.Abs(got-c.jain) > 1e-12 {
			t.Errorf("Jain(%v) = %g, want %g", c.values, got, c.jain)
		}
		if got := MaxToMean(c.values); math.Abs(got-c.maxToMean) > 1e-12 {
			t.Errorf("MaxToMean(%v) = %g, want %g", c.values, got, c.maxToMean)
		}
	}
}
