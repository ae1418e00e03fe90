package coll

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// carryOut runs calls one after the other on one communicator and checks all
// results.
func carryOut(shapes []Shape, seed uint64, how arithmetic) error {
	random := rand.New(rand.NewPCG(seed, 0))
	m := newMachine(shapes[0].Ranks, seed)
	m.combine, m.divide = how.combine, how.divide
	var rounds []*round
	var inputs []input
	for _, s := range shapes {
		r, err := newRound(s, random)
		if err != nil {
			return err
		}
		rounds, inputs = append(rounds, r), append(inputs, r.inputs())
	}
	if err := m.run(rounds); err != nil {
		return err
	}
	for i, r := range rounds {
		if err := r.check(inputs[i], func(element int64) uint64 { return how.reduced(r, inputs[i], element) }); err != nil {
			return err
		}
	}
	return nil
}

// eachShape calls f with every collective and algorithm at a number of ranks
// and count, in place or not.
func eachShape(ranks int, count int64, f func(Shape)) {
	for i := range All {
		row := &All[i]
		for j := range row.Algorithms {
			v := &row.Algorithms[j]
			s := Shape{Collective: row.Op, Algorithm: v.Algorithm, Type: op.I64, Ranks: ranks, Count: count, InPlace: v.inPlace == together}
			if row.Rooted {
				s.Root = ranks * 2 / 3
			}
			if !row.counts() {
				s.Count = 0
			}
			f(s)
			if v.inPlace == anywhere {
				s.InPlace = true
				f(s)
			}
		}
	}
}

func TestEveryAlgorithmDoesWhatItsCollectiveMeans(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 23, 64} {
		for _, count := range []int64{0, 1, 2, 5, 13, 64} {
			if ranks > 10 && count != 0 && count != 5 {
				continue
			}
			eachShape(ranks, count, func(s Shape) {
				for _, how := range []arithmetic{exactSums, expressions} {
					if err := carryOut([]Shape{s}, 1, how); err != nil && !errors.Is(err, ErrFit) {
						t.Errorf("%+v: %v", s, err)
					}
				}
			})
		}
	}
}

// randomShapes are calls on one communicator, of types of one size, now and
// then more than there are places.
func randomShapes(random *rand.Rand) []Shape {
	ranks := 1 + random.IntN(12)
	dtype := []op.Dtype{op.U8, op.BF16, op.F32, op.F64}[random.IntN(4)]
	var shapes []Shape
	for range []int{1, 3, 12, 20}[random.IntN(4)] {
		row := &All[random.IntN(len(All))]
		v := &row.Algorithms[random.IntN(len(row.Algorithms))]
		s := Shape{
			Collective: row.Op, Algorithm: v.Algorithm, Type: dtype, Ranks: ranks,
			SliceBytes: []int64{0, 1, 8, 24, 64}[random.IntN(5)],
			InPlace:    v.inPlace == together || v.inPlace == anywhere && random.IntN(3) == 0,
		}
		if row.Rooted {
			s.Root = random.IntN(ranks)
		}
		if row.counts() {
			s.Count = []int64{0, 1, int64(random.IntN(50)), int64(random.IntN(500))}[random.IntN(4)]
		}
		if v.fits(&s) == nil {
			shapes = append(shapes, s)
		}
	}
	return shapes
}

func TestRandomSequences(t *testing.T) {
	cases := 400
	if testing.Short() {
		cases = 50
	}
	for seed := range uint64(cases) {
		shapes := randomShapes(rand.New(rand.NewPCG(seed, 2)))
		if len(shapes) == 0 {
			continue
		}
		for _, how := range []arithmetic{exactSums, expressions} {
			if err := carryOut(shapes, seed, how); err != nil {
				t.Fatalf("seed %d: %+v: %v", seed, shapes, err)
			}
		}
	}
}

// TestRanksRunAhead has calls in which some ranks wait for nobody, so that they
// use all places.
func TestRanksRunAhead(t *testing.T) {
	var kinds []Shape
	eachShape(4, 3, func(s Shape) {
		for rank := range s.Ranks {
			if program, err := Plan(s, rank); err == nil && !program.Met && !s.InPlace {
				kinds = append(kinds, s)
				return
			}
		}
	})
	if len(kinds) < 4 {
		t.Errorf("ranks wait for each other but in %v", kinds)
	}
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 4))
		var shapes []Shape
		for range 3 * places {
			s := kinds[random.IntN(len(kinds))]
			if seed%2 == 0 {
				s = kinds[int(seed/2)%len(kinds)] // so that the root runs ahead
			}
			shapes = append(shapes, s)
		}
		if err := carryOut(shapes, seed, exactSums); err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, shapes, err)
		}
	}
}

// TestLargeCalls are those that take several blocks or slices by default.
func TestLargeCalls(t *testing.T) {
	for _, s := range []Shape{
		{Collective: op.AllReduce, Algorithm: Direct, Ranks: 9, Count: 9*2048 + 100},
		{Collective: op.ReduceScatter, Algorithm: Direct, Ranks: 10, Count: 2048*2 + 1, InPlace: true},
		{Collective: op.ReduceTo, Algorithm: Direct, Ranks: 9, Root: 8, Count: 9*2048*2 + 5, InPlace: true},
		{Collective: op.AllReduce, Algorithm: Ring, Ranks: 3, Count: 3*32<<10 + 999},
		{Collective: op.ReduceScatter, Algorithm: Ring, Ranks: 4, Count: 5000},
		{Collective: op.ReduceTo, Algorithm: Ring, Ranks: 4, Root: 1, Count: 9000},
		{Collective: op.AllGather, Algorithm: Direct, Ranks: 10, Count: 9000},
		{Collective: op.Broadcast, Algorithm: Ring, Ranks: 3, Root: 2, Count: 70_000},
		{Collective: op.AllToAll, Algorithm: Swap, Ranks: 3, Count: 9000, InPlace: true},
	} {
		s.Type = op.I64
		if err := carryOut([]Shape{s}, 5, expressions); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestLongPrograms: what a variant says that it can carry out has a program
// that is not too long, whatever slices are wanted, and beyond is refused.
func TestLongPrograms(t *testing.T) {
	for _, ranks := range []int{2, 3, 9, 64} {
		eachShape(ranks, 0, func(s Shape) {
			v := Of(s.Collective).variant(s.Algorithm)
			if v.limit(&s) == math.MaxInt64 {
				return
			}
			s.Count = v.limit(&s) / 8
			if s.Bytes() > s.partBytes() {
				s.Count /= int64(ranks)
			}
			for _, s.SliceBytes = range []int64{0, 1, 1 << 40} {
				if _, err := Plan(s, ranks-1); err != nil {
					t.Errorf("%+v: %v", s, err)
				}
			}
			s.Count++
			if _, err := Plan(s, ranks-1); !errors.Is(err, ErrFit) {
				t.Errorf("%+v: %v", s, err)
			}
		})
	}
	for _, ranks := range []int{2, 9, 100, RanksMax} {
		s := Shape{Collective: op.AllReduce, Algorithm: Ring, Type: op.U8, Ranks: ranks, Count: 1 << 40, SliceBytes: 1}
		if _, err := Plan(s, 0); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestChoicesFit: what the default table chooses for a call has a program,
// however large the call is, unless nothing has; then the error says so.
func TestChoicesFit(t *testing.T) {
	for _, c := range []op.CollectiveOp{op.AllReduce, op.AllGather, op.ReduceScatter, op.Broadcast, op.ReduceTo, op.Gather, op.Scatter, op.AllToAll} {
		for _, ranks := range []int{2, 9, 64, 256} {
			for partBytes := int64(1 << 20); partBytes <= 1<<36; partBytes *= 4 {
				s := Shape{Collective: c, Type: op.F32, Ranks: ranks, Count: partBytes / 4}
				s.Algorithm = DefaultTable().Select(s)
				_, err := Plan(s, 0)
				if want := "(make several calls): " + ErrFit.Error(); s.Algorithm == Auto && err != nil && strings.HasSuffix(err.Error(), want) {
					continue
				}
				if err != nil {
					t.Errorf("%s of %d bytes on %d ranks, by %s: %v", c, partBytes, ranks, s.Algorithm, err)
				}
			}
		}
	}
}

// A call that is too large is told what to do instead.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{
			Shape{Collective: op.ReduceScatter, Algorithm: Ring, Type: op.F32, Ranks: 4, Count: 32 << 20},
			"reduce_scatter by ring of 536870912 bytes, more than 107372544 (leave the algorithm to the host, or make several calls): the algorithm cannot carry out this call",
		},
		{
			Shape{Collective: op.AllToAll, Algorithm: Swap, Type: op.U8, Ranks: 2, InPlace: true, Count: 1 << 30},
			"all_to_all by swap of 2147483648 bytes, more than 715816960 (give it an output of its own, or make several calls): the algorithm cannot carry out this call",
		},
	} {
		if _, err := Plan(c.shape, 0); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
		if c.shape.InPlace {
			c.shape.Algorithm = DefaultTable().Select(c.shape)
			if _, err := Plan(c.shape, 0); c.shape.Algorithm != Auto || err == nil || err.Error() != c.want {
				t.Errorf("by the host's choice, %s: %v", c.shape.Algorithm, err)
			}
			continue
		}
		c.shape.Algorithm = Auto
		if got := DefaultTable().Select(c.shape); got != Direct {
			t.Errorf("the host's choice is %s", got)
		}
	}
}
