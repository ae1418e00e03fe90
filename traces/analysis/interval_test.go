package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// seconds of a short timeline, each covered or not: the naive form of a union.
type timeline [64]bool

func timelineOf(list []Interval) (t timeline) {
	for _, v := range list {
		for i := v.Start; i < v.End; i++ {
			t[i] = true
		}
	}
	return t
}

func (t timeline) count(other timeline) (n int64) {
	for i := range t {
		if t[i] && other[i] {
			n++
		}
	}
	return n
}

func randomIntervals(r *rand.Rand) []Interval {
	list := make([]Interval, r.IntN(8))
	for i := range list {
		start := r.Int64N(60)
		list[i] = Interval{start, start + r.Int64N(10)}
		if list[i].End > 63 {
			list[i].End = 63
		}
	}
	return list
}

func TestUnionsAgainstTimelines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 5000 {
		a, b := randomIntervals(r), randomIntervals(r)
		ta, tb := timelineOf(a), timelineOf(b)
		ua, ub := Union(slices.Clone(a)), Union(slices.Clone(b))
		if got, want := Length(ua), ta.count(ta); got != want {
			t.Fatalf("round %d: %v covers %d, want %d", round, a, got, want)
		}
		if got, want := Common(ua, ub), ta.count(tb); got != want {
			t.Fatalf("round %d: %v and %v have %d in common, want %d", round, a, b, got, want)
		}
		for i := 1; i < len(ua); i++ {
			if ua[i].Start <= ua[i-1].End {
				t.Fatalf("round %d: %v is not disjoint", round, ua)
			}
		}
		from := r.Int64N(60)
		window := Interval{from, from + r.Int64N(63-from)}
		near := Within(ua, window)
		if got, want := Common(near, []Interval{window}), ta.count(timelineOf([]Interval{window})); got != want {
			t.Fatalf("round %d: %v has %d within %v, want %d", round, ua, got, window, want)
		}
		if len(near) > 0 && (near[0].End <= window.Start || near[len(near)-1].Start >= window.End) {
			t.Fatalf("round %d: %v is not near %v", round, near, window)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name                   string
		communication, compute []Interval
		exposed                int64
		exposedShare, fraction float64
	}{
		{"nothing", nil, nil, 0, 0, 0},
		{"no computation", []Interval{{0, 10}}, nil, 10, 1, 0},
		{"no communication", nil, []Interval{{0, 10}}, 0, 0, 0},
		{"one after the other", []Interval{{0, 10}}, []Interval{{10, 20}}, 10, 1, 0},
		{"hidden", []Interval{{5, 10}}, []Interval{{0, 20}}, 0, 0, 1},
		{"half hidden", []Interval{{0, 10}}, []Interval{{5, 25}}, 5, 0.5, 0.5},
		{"all computation beside", []Interval{{0, 10}}, []Interval{{2, 4}, {6, 8}}, 6, 0.6, 1},
	} {
		o := OverlapOf(c.communication, c.compute)
		if o.Exposed() != c.exposed || o.ExposedShare() != c.exposedShare || o.Fraction() != c.fraction {
			t.Errorf("%s: exposed %d (%g), fraction %g", c.name, o.Exposed(), o.ExposedShare(), o.Fraction())
		}
	}
}
