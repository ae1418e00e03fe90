package coll

import (
	"fmt"
	"math/rand/v2"

	"github.com/ccrun/ccrun/host/op"
)

// newRound plans a call for all ranks and lays out their memory, with random
// inputs.
func newRound(s Shape, random *rand.Rand) (*round, error) {
	r := &round{shape: s, inPlace: make([]bool, s.Ranks), results: make([][]uint64, s.Ranks)}
	mixed := !s.InPlace && s.Collective != op.AllToAll && s.Collective != op.AllToAllV
	for rank := range s.Ranks {
		s.InPlace = r.shape.InPlace || mixed && random.IntN(2) == 0
		if s.InPlace && s.InBytes(rank) > 0 && s.OutBytes(rank) == 0 {
			s.InPlace = false // a rank that gets nothing has nowhere to be in place
		}
		program, err := Plan(s, rank)
		if err != nil {
			return nil, err
		}
		r.inPlace[rank] = s.InPlace
		r.programs, r.numbers = append(r.programs, program), append(r.numbers, uint64(random.IntN(2)))
	}
	if s.Collective == op.AllToAllV {
		r.layVariable(random)
		return r, nil
	}
	for rank := range s.Ranks {
		r.lay(rank, random)
	}
	return r, nil
}

// lay puts a rank's areas into its memory.
func (r *round) lay(rank int, random *rand.Rand) {
	size := int64(r.shape.Type.Size())
	in, out := r.shape.InBytes(rank)/size, r.shape.OutBytes(rank)/size
	inAt, outAt, total := int64(0), in, in+out
	if r.inPlace[rank] {
		off := r.shape.InPlaceOffset(rank) / size
		inAt, outAt = max(0, off), max(0, -off)
		total = max(inAt+in, outAt+out)
	}
	r.allocate(inAt, outAt, total, in, random)
}

func (r *round) allocate(inAt, outAt, total, in int64, random *rand.Rand) {
	memory := make([]cell, total)
	for i := range in {
		memory[inAt+i].value = random.Uint64()
	}
	r.memory, r.in, r.out = append(r.memory, memory), append(r.in, inAt), append(r.out, outAt)
}

// layVariable makes random counts; parts lie one after the other.
func (r *round) layVariable(random *rand.Rand) {
	n := r.shape.Ranks
	for range n {
		counts := make([]int64, n)
		for to := range counts {
			counts[to] = max(0, random.Int64N(6)-1)
		}
		r.counts = append(r.counts, counts)
	}
	for rank := range n {
		in, out := int64(0), int64(0)
		for peer := range n {
			in += r.counts[rank][peer]
			out += r.counts[peer][rank]
		}
		r.allocate(0, in, in+out, in, random)
	}
}

// input is element i of a rank's input, before the call.
type input func(rank int, i int64) uint64

func (r *round) inputs() input {
	var values [][]uint64
	for _, memory := range r.memory {
		var all []uint64
		for i := range memory {
			all = append(all, memory[i].value)
		}
		values = append(values, all)
	}
	return func(rank int, i int64) uint64 { return values[rank][r.in[rank]+i] }
}

// want is the definition of the collective: what a rank's output must be. The
// reduction of an element is left to its caller, who knows the order.
func (r *round) want(in input, reduced func(element int64) uint64, rank int) (all []uint64) {
	s := &r.shape
	switch s.Collective {
	case op.AllReduce:
		return reduceRange(reduced, 0, s.Count)
	case op.ReduceScatter:
		return reduceRange(reduced, int64(rank)*s.Count, s.Count)
	case op.ReduceTo:
		if rank == s.Root {
			all = reduceRange(reduced, 0, s.Count)
		}
	case op.Broadcast:
		all = appendInput(all, in, s.Root, 0, s.Count)
	case op.Scatter:
		all = appendInput(all, in, s.Root, int64(rank)*s.Count, s.Count)
	case op.AllGather, op.Gather:
		for peer := range s.Ranks {
			if s.Collective == op.AllGather || rank == s.Root {
				all = appendInput(all, in, peer, 0, s.Count)
			}
		}
	case op.AllToAll:
		for peer := range s.Ranks {
			all = appendInput(all, in, peer, int64(rank)*s.Count, s.Count)
		}
	case op.AllToAllV:
		for peer := range s.Ranks {
			from := int64(0)
			for to := range rank {
				from += r.counts[peer][to]
			}
			all = appendInput(all, in, peer, from, r.counts[peer][rank])
		}
	}
	return all
}

func reduceRange(reduced func(int64) uint64, from, count int64) (all []uint64) {
	for i := range count {
		all = append(all, reduced(from+i))
	}
	return all
}

func appendInput(all []uint64, in input, rank int, from, count int64) []uint64 {
	for i := range count {
		all = append(all, in(rank, from+i))
	}
	return all
}

// check compares all results with the definition.
func (r *round) check(in input, reduced func(element int64) uint64) error {
	for rank := range r.shape.Ranks {
		want := r.want(in, reduced, rank)
		if len(want) != len(r.results[rank]) {
			return fmt.Errorf("rank %d has %d elements, want %d", rank, len(r.results[rank]), len(want))
		}
		for i, v := range r.results[rank] {
			if v != want[i] {
				return fmt.Errorf("rank %d has %x at element %d, want %x", rank, v, i, want[i])
			}
		}
	}
	return nil
}

// An arithmetic for the machine: how to combine, how to divide, and what the
// reduction of an element over all ranks must then be.
type arithmetic struct {
	combine func(a, b uint64) uint64
	divide  func(a uint64) uint64
	reduced func(r *round, in input, element int64) uint64
}

// exactSums wrap around: every order gives the same.
var exactSums = arithmetic{
	combine: func(a, b uint64) uint64 { return a + b },
	divide:  func(a uint64) uint64 { return a },
	reduced: func(r *round, in input, element int64) (sum uint64) {
		for rank := range r.shape.Ranks {
			sum += in(rank, element)
		}
		return sum
	},
}

// expressions are hashes of how a value came about: only the very same
// operands in the very same order and nesting give the same, divided once.
var expressions = arithmetic{
	combine: joined,
	divide:  func(a uint64) uint64 { return joined(a, 0x5555) },
	reduced: func(r *round, in input, element int64) uint64 {
		if r.shape.Ranks == 1 {
			return in(0, element)
		}
		return joined(r.ordered(in, element), 0x5555)
	},
}

func joined(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b ^ b>>29
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>31 ^ a<<7
}

// ordered is the expression that the package comment promises.
func (r *round) ordered(in input, element int64) uint64 {
	s := &r.shape
	switch s.Algorithm {
	case Ring:
		return chain(in, element, r.owner(element)+1, s.Ranks)
	case Doubling:
		return r.halves(in, element, 0, 1<<(log2(s.Ranks)))
	case Tree:
		return r.subtree(in, element, 0)
	}
	return chain(in, element, 0, s.Ranks)
}

// chain adds from one rank on around the ring.
func chain(in input, element int64, first, ranks int) uint64 {
	sum := in(first%ranks, element)
	for i := 1; i < ranks; i++ {
		sum = joined(sum, in((first+i)%ranks, element))
	}
	return sum
}

// owner is the rank at which the ring ends for an element.
func (r *round) owner(element int64) int {
	switch r.shape.Collective {
	case op.ReduceTo:
		return r.shape.Root
	case op.ReduceScatter:
		return int(element / r.shape.Count)
	}
	p := &planner{Shape: r.shape, size: int64(r.shape.Type.Size())}
	for rank := range r.shape.Ranks {
		if shard := p.shard(rank, r.shape.Count); element >= shard.from && element < shard.to {
			return rank
		}
	}
	panic("an element without owner")
}

// halves is the doubling's expression over ranks [from, to), each joined with
// the rank that it substitutes for.
func (r *round) halves(in input, element int64, from, to int) uint64 {
	if to-from > 1 {
		middle := (from + to) / 2
		return joined(r.halves(in, element, from, middle), r.halves(in, element, middle, to))
	}
	if beyond := from + 1<<log2(r.shape.Ranks); beyond < r.shape.Ranks {
		return joined(in(from, element), in(beyond, element))
	}
	return in(from, element)
}

func log2(n int) (log int) {
	for ; n > 1; n /= 2 {
		log++
	}
	return log
}

// subtree is the tree's expression below rank v, counted from the root.
func (r *round) subtree(in input, element int64, v int) uint64 {
	sum := in((v+r.shape.Root)%r.shape.Ranks, element)
	for bit := 1; v&bit == 0 && v+bit < r.shape.Ranks; bit *= 2 {
		sum = joined(sum, r.subtree(in, element, v+bit))
	}
	return sum
}
