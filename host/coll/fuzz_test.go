package coll

import (
	"errors"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// FuzzPlan gives any shape to Plan: it refuses or gives a program that the
// machine agrees with, if that is small enough to carry out.
func FuzzPlan(f *testing.F) {
	eachShape(5, 7, func(s Shape) {
		f.Add(byte(s.Collective), byte(s.Algorithm), byte(s.Type), s.InPlace, s.Ranks, s.Root, s.Count, int64(8))
	})
	f.Add(byte(op.AllReduce), byte(Ring), byte(op.F64), false, 3, 0, int64(1)<<40, int64(1))
	f.Add(byte(op.ReduceScatter), byte(Ring), byte(op.U8), true, RanksMax, 0, int64(PartBytesMax), int64(1)<<62)
	f.Fuzz(func(t *testing.T, collective, algorithm, dtype byte, inPlace bool, ranks, root int, count, sliceBytes int64) {
		s := Shape{
			Collective: op.CollectiveOp(collective), Algorithm: Algorithm(algorithm), Type: op.Dtype(dtype), InPlace: inPlace,
			Ranks: ranks, Root: root, Count: count, SliceBytes: sliceBytes,
		}
		for _, rank := range []int{-1, 0, ranks - 1, ranks} {
			program, err := Plan(s, rank)
			if (err == nil) == (program == nil) || err != nil && !errors.Is(err, ErrShape) && !errors.Is(err, ErrAlgorithm) && !errors.Is(err, ErrFit) {
				t.Fatalf("%+v, rank %d: %v, %v", s, rank, program, err)
			}
			if err == nil && (rank < 0 || rank >= ranks) {
				t.Fatalf("%+v: rank %d has a program", s, rank)
			}
		}
		if ranks < 1 || ranks > 12 || count > 300 {
			return
		}
		if err := carryOut([]Shape{s, s}, 7, exactSums); err != nil && !errors.Is(err, ErrShape) && !errors.Is(err, ErrAlgorithm) && !errors.Is(err, ErrFit) {
			t.Fatalf("%+v: %v", s, err)
		}
	})
}
