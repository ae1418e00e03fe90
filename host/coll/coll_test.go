package coll

import (
	"errors"
	"math/rand/v2"
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
			if ranks > 20 && count > 5 {
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
