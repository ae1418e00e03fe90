package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fleet invents what ranks do in collectives: operations of a usual time, some
// of which the scheduler interrupts for far longer.
type fleet struct {
	ranks, collectives, operations int
	bytes                          int64
	usualNanos                     float64
	interrupted                    float64         // share of the operations
	slow                           map[int]float64 // how many times longer these ranks take
	slowFrom                       int             // the first collective in which they do
}

func (f fleet) scores(r *rand.Rand) *Scores {
	var p Paces
	for c := range f.collectives {
		var work []Work
		for rank := range f.ranks {
			for range f.operations {
				nanos := f.usualNanos * (1 + 0.3*r.Float64())
				if times, ok := f.slow[rank]; ok && c >= f.slowFrom {
					nanos *= times
				}
				if r.Float64() < f.interrupted {
					nanos += 4e6 * r.Float64()
				}
				work = append(work, Work{Rank: rank, Bytes: f.bytes, Nanos: int64(nanos)})
			}
		}
		r.Shuffle(len(work), func(i, j int) { work[i], work[j] = work[j], work[i] })
		p.Add(work)
	}
	return p.Scores()
}

func stragglers(s *Scores) (ranks []int) {
	for _, score := range s.Ranks() {
		if score.Straggler {
			ranks = append(ranks, score.Rank)
		}
	}
	return ranks
}

func TestVerdicts(t *testing.T) {
	usual := fleet{ranks: 4, collectives: 20, operations: 48, bytes: 1 << 20, usualNanos: 150e3, interrupted: 0.2}
	change := func(f func(*fleet)) fleet {
		c := usual
		f(&c)
		return c
	}
	for name, c := range map[string]struct {
		fleet
		want []int
	}{
		"healthy":             {usual, nil},
		"very noisy":          {change(func(f *fleet) { f.interrupted = 0.6 }), nil},
		"two ranks":           {change(func(f *fleet) { f.ranks = 2 }), nil},
		"one operation each":  {change(func(f *fleet) { f.operations = 1 }), nil},
		"three times slower":  {change(func(f *fleet) { f.slow = map[int]float64{2: 3} }), []int{2}},
		"one of two slower":   {change(func(f *fleet) { f.ranks, f.slow = 2, map[int]float64{0: 3} }), []int{0}},
		"slower and noisy":    {change(func(f *fleet) { f.interrupted, f.slow = 0.4, map[int]float64{1: 3} }), []int{1}},
		"two of eight slower": {change(func(f *fleet) { f.ranks, f.slow = 8, map[int]float64{1: 3, 6: 4} }), []int{1, 6}},
		"a little slower":     {change(func(f *fleet) { f.slow = map[int]float64{2: 1.5} }), nil},
		"slower in few": {change(func(f *fleet) {
			f.slow, f.slowFrom = map[int]float64{2: 3}, 12
		}), nil},
		"too few collectives":  {change(func(f *fleet) { f.collectives, f.slow = 4, map[int]float64{2: 3} }), nil},
		"few bytes, one cache": {change(func(f *fleet) { f.usualNanos, f.bytes, f.slow = 100, 64, map[int]float64{2: 3} }), nil},
		"few bytes, delayed":   {change(func(f *fleet) { f.usualNanos, f.bytes, f.slow = 100, 64, map[int]float64{2: 2000} }), []int{2}},
		"one rank":             {change(func(f *fleet) { f.ranks = 1 }), nil},
	} {
		for seed := range uint64(20) {
			s := c.scores(rand.New(rand.NewPCG(seed, 7)))
			if got := stragglers(s); !slices.Equal(got, c.want) {
				t.Errorf("%s, seed %d: named %v, want %v: %+v", name, seed, got, c.want, s.Ranks())
				break
			}
		}
	}
}

// TestScoreOfOneClass checks the numbers of a score by hand.
func TestScoreOfOneClass(t *testing.T) {
	var p Paces
	for i := range 10 {
		nanos := int64(3000)
		if i < 5 {
			nanos = 6000
		}
		p.Add([]Work{{0, 1, 1000, 1000}, {1, 1, 1000, 1000}, {2, 1, 1000, nanos}, {2, 2, 1000, 5}})
	}
	want := Score{Rank: 2, Relative: 1. / 6, Individual: 0.5, BytesPerSec: 1e9 / 6, OthersBytesPerSec: 1e9, Slow: 10, Collectives: 10, Straggler: true}
	got := p.Scores().Ranks()[2]
	for _, pair := range [][2]float64{
		{got.Relative, want.Relative}, {got.Individual, want.Individual}, {got.BytesPerSec, want.BytesPerSec},
		{got.OthersBytesPerSec, want.OthersBytesPerSec},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6*pair[1] {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if got.Rank != 2 || got.Slow != 10 || got.Collectives != 10 || !got.Straggler {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestMerge pools rows that are too short for a verdict of their own.
func TestMerge(t *testing.T) {
	f := fleet{ranks: 4, collectives: 3, operations: 8, bytes: 1 << 20, usualNanos: 150e3, slow: map[int]float64{3: 3}}
	var all Scores
	for seed := range uint64(3) {
		row := f.scores(rand.New(rand.NewPCG(seed, 1)))
		if got := stragglers(row); got != nil {
			t.Errorf("named %v after 3 collectives", got)
		}
		f.bytes *= 4
		all.Merge(row)
	}
	if got := stragglers(&all); !slices.Equal(got, []int{3}) {
		t.Errorf("named %v, want rank 3", got)
	}
}

func TestMedianWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		values := make([]float64, 2+r.IntN(7))
		for i := range values {
			values[i] = float64(r.IntN(5))
		}
		slices.Sort(values)
		one := values[r.IntN(len(values))]
		at := slices.Index(values, one)
		rest := slices.Delete(slices.Clone(values), at, at+1)
		if got, want := medianWithout(values, one), rest[len(rest)/2]; got != want {
			t.Fatalf("median of %v without %g is %g, want %g", values, one, got, want)
		}
	}
}
