package coll

import (
	"errors"
	"fmt"
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// Shape is what a program depends on, beside the rank. Equal shapes have equal
// programs, so it can be the key of a cache. All ranks of a call have the same
// shape but for InPlace.
type Shape struct {
	Collective op.CollectiveOp
	Algorithm  Algorithm
	Type       op.Dtype
	// InPlace says that this rank's input lies where its output goes, at
	// [Shape.InPlaceOffset]. Ranks may differ in it, except for AllToAll, where
	// another algorithm is needed.
	InPlace    bool
	Ranks      int
	Root       int   // 0 for collectives without root
	Count      int64 // elements, as in [op.Call]; 0 for AllToAllV and BarrierAll
	SliceBytes int64 // wanted size of pipelined slices, 0 for the default
}

// Limits of shapes.
const (
	RanksMax = 1024
	// StepsMax is how many steps a program may have. Only pipelines of small
	// slices over very large buffers need more.
	StepsMax = 1 << 17
	// PartBytesMax is the largest part of a rank.
	PartBytesMax = 1 << 50
)

// Why there is no program for a shape.
var (
	ErrShape     = errors.New("no such collective call")
	ErrAlgorithm = errors.New("the collective has no such algorithm")
	ErrFit       = errors.New("the algorithm cannot carry out this call")
)

// partBytes is the size of Count elements.
func (s *Shape) partBytes() int64 { return s.Count * int64(s.Type.Size()) }

// Check tells why there is no program for the shape, nil if there is one. A
// pipeline may still turn out to have too many steps.
func (s *Shape) Check() error {
	_, err := s.check()
	return err
}

// check finds the variant of a shape that has one.
func (s *Shape) check() (*Variant, error) {
	row := Of(s.Collective)
	switch {
	case row == nil:
		return nil, fmt.Errorf("collective %s: %w", s.Collective, ErrShape)
	case !s.Type.Valid():
		return nil, fmt.Errorf("data type: %w", ErrShape)
	case s.Ranks < 1 || s.Ranks > RanksMax:
		return nil, fmt.Errorf("%d ranks: %w", s.Ranks, ErrShape)
	case s.Root < 0 || s.Root >= s.Ranks || !row.Rooted && s.Root != 0:
		return nil, fmt.Errorf("root %d of %d ranks: %w", s.Root, s.Ranks, ErrShape)
	case s.Count < 0 || s.Count > PartBytesMax/int64(s.Type.Size()) || s.Count > 0 && !row.counts():
		return nil, fmt.Errorf("count %d: %w", s.Count, ErrShape)
	case s.SliceBytes < 0:
		return nil, fmt.Errorf("slices of %d bytes: %w", s.SliceBytes, ErrShape)
	}
	v := row.variant(s.Algorithm)
	if v == nil {
		if err := row.tooLarge(s); s.Algorithm == Auto && err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s by %s: %w", s.Collective, s.Algorithm, ErrAlgorithm)
	}
	return v, v.fits(s)
}

// counts reports whether Count of the collective's shapes means anything.
func (c *Collective) counts() bool { return c.Op != op.AllToAllV && c.Op != op.BarrierAll }

// fits tells why the variant cannot carry out a call, nil if it can.
func (v *Variant) fits(s *Shape) error {
	switch {
	case v.inPlace == apart && s.InPlace:
		return fmt.Errorf("%s by %s in place: %w", s.Collective, v.Algorithm, ErrFit)
	case v.inPlace == together && !s.InPlace:
		return fmt.Errorf("%s by %s not in place: %w", s.Collective, v.Algorithm, ErrFit)
	case s.Bytes() > v.limit(s):
		return fmt.Errorf("%s by %s of %d bytes, more than %d (%s): %w", s.Collective, v.Algorithm, s.Bytes(), v.limit(s), v.instead(s), ErrFit)
	case v.slotBytes == nil:
		return nil
	}
	if need := v.slotBytes(s); need > op.SlotBytesMax {
		return fmt.Errorf("%s by %s needs %d bytes of a slot of %d: %w", s.Collective, v.Algorithm, need, op.SlotBytesMax, ErrFit)
	}
	return nil
}

// limit is the size of the largest call that the variant can carry out.
func (v *Variant) limit(s *Shape) int64 {
	if v.bytesMax == nil {
		return math.MaxInt64
	}
	return v.bytesMax(s)
}

// tooLarge tells how large a call that no algorithm can carry out may be, or
// what else is wrong with it, and is nil if there is an algorithm.
func (c *Collective) tooLarge(s *Shape) error {
	var most *Variant
	for i := range c.Algorithms {
		v := &c.Algorithms[i]
		switch {
		case v.fits(s) == nil:
			return nil
		case v.bytesMax != nil && (most == nil || v.limit(s) > most.limit(s)):
			most = v
		}
	}
	if most == nil {
		most = &c.Algorithms[0]
	}
	return most.fits(s)
}

// instead is what to do where a call is too large for the variant: what goes
// through slots, which are small, takes too many steps then.
func (v *Variant) instead(s *Shape) string {
	switch {
	case v.inPlace == together:
		return "give it an output of its own, or make several calls"
	case s.Algorithm == Auto:
		return "make several calls"
	}
	return "leave the algorithm to the host, or make several calls"
}

// Bytes is the size of the call as nccl-tests counts it: the whole array.
// AllToAllV's is the sum of what a rank sends, which the shape does not know.
func (s *Shape) Bytes() int64 {
	row := Of(s.Collective)
	if row != nil && (row.wholeIn || row.wholeOut) {
		return s.partBytes() * int64(s.Ranks)
	}
	return s.partBytes()
}

// InBytes is how much of its input a rank's program may touch. It is 0 where
// the rank gives nothing, and for AllToAllV, whose counts say it.
func (s *Shape) InBytes(rank int) int64 {
	row := Of(s.Collective)
	switch {
	case row == nil || rank != s.Root && (s.Collective == op.Broadcast || s.Collective == op.Scatter):
		return 0
	case row.wholeIn:
		return s.partBytes() * int64(s.Ranks)
	}
	return s.partBytes()
}

// OutBytes is how much of its output the programs touch. It is 0 where the
// rank gets nothing, and for AllToAllV.
func (s *Shape) OutBytes(rank int) int64 {
	row := Of(s.Collective)
	switch {
	case row == nil || rank != s.Root && (s.Collective == op.ReduceTo || s.Collective == op.Gather):
		return 0
	case row.wholeOut:
		return s.partBytes() * int64(s.Ranks)
	}
	return s.partBytes()
}

// InPlaceOffset is where the input of a call in place lies, in bytes from the
// start of its output; it is negative where the output is a part of the input.
// A rank gets or gives at its own place, as in NCCL.
func (s *Shape) InPlaceOffset(rank int) int64 {
	own := s.partBytes() * int64(rank)
	switch {
	case s.Collective == op.AllGather || s.Collective == op.Gather && rank == s.Root:
		return own
	case s.Collective == op.ReduceScatter || s.Collective == op.Scatter && rank == s.Root:
		return -own
	}
	return 0
}
