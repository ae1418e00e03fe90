package main

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// collective is how one is called and what its result must be.
type collective struct {
	name       string
	algorithms []string
	apart      []string // algorithms that it has only if not in place
	together   []string // algorithms that it has only in place
	slotParts  func(n int) int64
	call       func(r *round)
	verify     func(r *round) error
}

// slotBytes is what fits into the slots of small collectives.
const slotBytes = 16 << 10

func one(int) int64     { return 1 }
func every(n int) int64 { return int64(n) }

var collectives = []collective{
	{"all_reduce", []string{"oneshot", "direct", "ring", "doubling"}, nil, nil, one, allReduce, reducedWhole},
	{"all_gather", []string{"oneshot", "direct", "pull", "ring"}, nil, nil, one, allGather, everyPart},
	{"reduce_scatter", []string{"oneshot", "direct", "ring"}, nil, nil, every, reduceScatter, reducedPart},
	{"broadcast", []string{"oneshot", "direct", "ring", "tree"}, nil, nil, one, broadcast, partOfRoot},
	{"reduce", []string{"oneshot", "direct", "ring", "tree"}, nil, nil, one, reduce, reducedAtRoot},
	{"gather", []string{"oneshot", "direct"}, nil, nil, one, gather, everyPartAtRoot},
	{"scatter", []string{"oneshot", "direct"}, nil, nil, every, scatter, ownPartOfRoot},
	{"all_to_all", []string{"oneshot", "direct", "swap"}, []string{"direct"}, []string{"swap"}, every, allToAll, transposed},
	{"all_to_all_v", []string{"direct"}, []string{"direct"}, nil, every, allToAllV, unevenParts},
}

// has reports whether the collective can be carried out by an algorithm.
func (c collective) has(algorithm string, s shape, n int) bool {
	if c.name == "all_to_all_v" && s.inPlace {
		return false
	}
	slot := algorithm == "oneshot" || algorithm == "doubling" || algorithm == "tree"
	switch {
	case algorithm == "":
		return true
	case !slices.Contains(c.algorithms, algorithm), slices.Contains(c.apart, algorithm) && s.inPlace, slices.Contains(c.together, algorithm) && !s.inPlace:
		return false
	}
	return !slot || c.slotParts(n)*s.count*s.dtype.Bytes()*8 <= slotBytes
}

// round is one call and what it works on.
type round struct {
	*suite
	shape
	part int64 // bytes of one rank's
	n    int64
	me   int
}

func (r *round) whole(b *ccrun.Buffer) ccrun.Region { return b.At(0, r.n*r.part) }
func (r *round) at(b *ccrun.Buffer, rank int) ccrun.Region {
	return b.At(int64(rank)*r.part, r.part)
}
func (r *round) first(b *ccrun.Buffer) ccrun.Region { return b.At(0, r.part) }

// seed is that of what a rank gives.
func (r *round) seed(rank int) uint64 { return r.calls<<16 + uint64(rank) + 2 }

func (r *round) seeds() []uint64 {
	all := make([]uint64, r.n)
	for rank := range all {
		all[rank] = r.seed(rank)
	}
	return all
}

// give writes what this rank gives: to in, or in place to where it must lie.
// It returns what to call the source.
func (r *round) give(in, inPlace ccrun.Region) ccrun.Region {
	if r.inPlace {
		r.stream.Fill(inPlace, r.dtype, r.seed(r.me))
		return ccrun.Region{}
	}
	r.stream.Fill(in, r.dtype, r.seed(r.me))
	return in
}

func allReduce(r *round) {
	src := r.give(r.first(r.in), r.first(r.out))
	r.stream.AllReduce(r.comm, r.red, r.dtype, r.first(r.out), src)
}

func allGather(r *round) {
	src := r.give(r.first(r.in), r.at(r.out, r.me))
	r.stream.AllGather(r.comm, r.dtype, r.whole(r.out), src)
}

func reduceScatter(r *round) {
	src := r.give(r.whole(r.in), r.whole(r.out))
	dst := r.at(r.out, r.me)
	if r.inPlace {
		dst = r.whole(r.out)
	}
	r.stream.ReduceScatter(r.comm, r.red, r.dtype, dst, src)
}

func broadcast(r *round) {
	src := ccrun.Region{}
	if r.me == r.root {
		src = r.give(r.first(r.in), r.first(r.out))
	}
	r.stream.Broadcast(r.comm, r.dtype, r.root, r.first(r.out), src)
}

func reduce(r *round) {
	src := r.give(r.first(r.in), r.first(r.out))
	r.stream.ReduceTo(r.comm, r.red, r.dtype, r.root, r.first(r.out), src)
}

func gather(r *round) {
	dst, own := r.first(r.out), r.first(r.out)
	if r.me == r.root {
		dst, own = r.whole(r.out), r.at(r.out, r.me)
	}
	r.stream.Gather(r.comm, r.dtype, r.root, dst, r.give(r.first(r.in), own))
}

func scatter(r *round) {
	dst, src := r.at(r.out, r.me), ccrun.Region{}
	if r.me == r.root {
		src = r.give(r.whole(r.in), r.whole(r.out))
	}
	if r.me == r.root && r.inPlace {
		dst = r.whole(r.out)
	}
	r.stream.Scatter(r.comm, r.dtype, r.root, dst, src)
}

func allToAll(r *round) {
	src := r.give(r.whole(r.in), r.whole(r.out))
	r.stream.AllToAll(r.comm, r.dtype, r.whole(r.out), src)
}

// uneven is how many elements one rank sends another.
func (r *round) uneven(from, to int) uint64 { return uint64(r.count) * uint64((from+2*to)%3) / 3 }

func allToAllV(r *round) {
	src := r.give(r.whole(r.in), r.whole(r.out))
	var p ccrun.Parts
	for rank := range int(r.n) {
		p.Send, p.SendOffsets = append(p.Send, r.uneven(r.me, rank)), append(p.SendOffsets, uint64(rank)*uint64(r.count))
		p.Recv, p.RecvOffsets = append(p.Recv, r.uneven(rank, r.me)), append(p.RecvOffsets, uint64(rank)*uint64(r.count))
	}
	r.stream.AllToAllV(r.comm, r.dtype, r.whole(r.out), src, p)
}

// What a rank must get.

func reducedWhole(r *round) error { return r.reduced(r.first(r.out), 0) }
func reducedPart(r *round) error {
	return r.reduced(r.at(r.out, r.me), int64(r.me)*r.part)
}

func reducedAtRoot(r *round) error {
	if r.me != r.root {
		return nil
	}
	return r.reduced(r.first(r.out), 0)
}

func everyPart(r *round) error {
	for rank := range int(r.n) {
		if err := r.same(r.at(r.out, rank), rank, 0); err != nil {
			return err
		}
	}
	return nil
}

func everyPartAtRoot(r *round) error {
	if r.me != r.root {
		return nil
	}
	return everyPart(r)
}

func partOfRoot(r *round) error { return r.same(r.first(r.out), r.root, 0) }

func ownPartOfRoot(r *round) error {
	return r.same(r.at(r.out, r.me), r.root, int64(r.me)*r.part)
}

func transposed(r *round) error {
	for rank := range int(r.n) {
		if err := r.same(r.at(r.out, rank), rank, int64(r.me)*r.part); err != nil {
			return err
		}
	}
	return nil
}

func unevenParts(r *round) error {
	for rank := range int(r.n) {
		bytes := int64(r.uneven(rank, r.me)) * r.dtype.Bytes()
		if err := r.same(r.at(r.out, rank).At(0, bytes), rank, int64(r.me)*r.part); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) reduced(region ccrun.Region, from int64) error {
	return found(r.stream.VerifyReduced(region, r.dtype, r.red, r.seeds(), from))
}

func (r *round) same(region ccrun.Region, rank int, from int64) error {
	return found(r.stream.Verify(region, r.dtype, r.seed(rank), from))
}

func found(v ccrun.Verification, err error) error {
	if err == nil && v.Mismatches > 0 {
		err = fmt.Errorf("%d elements are wrong, the first at byte %d", v.Mismatches, v.FirstBad)
	}
	return err
}
