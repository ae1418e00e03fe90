package coll

import (
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// copy moves bytes to one place.
func (p *planner) copy(from, to op.Place, bytes int64, term op.Term) {
	p.move([]op.Place{from}, []op.Place{to}, bytes, false, term)
}

// ownPart copies this rank's part of its input, some elements on, to its
// output, if it is not there already. It touches only this rank's memory.
func (p *planner) ownPart(inElement, outElement int64) {
	if p.InPlace {
		return
	}
	p.copy(p.in(p.rank, inElement), p.out(p.rank, outElement), p.partBytes(), op.Term{Chunk: uint32(p.rank)})
}

// meetAround enters, waits for everyone, does what between does with peers and
// waits until everyone has. Meanwhile it copies this rank's own part, one half
// before it waits and one half after it has left, so that ranks which come a
// little later cost nothing.
func (p *planner) meetAround(inElement, outElement int64, between func()) {
	half := p.Count / 2
	halves := [2]span{{0, half}, {half, p.Count}}
	if p.back {
		halves[0], halves[1] = halves[1], halves[0]
	}
	p.enter()
	p.ownHalf(halves[0], inElement, outElement)
	p.awaitAll()
	between()
	p.leave()
	p.ownHalf(halves[1], inElement, outElement)
	p.part(-1)
}

func (p *planner) ownHalf(half span, inElement, outElement int64) {
	if p.InPlace {
		return
	}
	p.turns = true
	p.copy(p.in(p.rank, inElement+half.from), p.out(p.rank, outElement+half.from), half.count()*p.size,
		op.Term{Chunk: uint32(p.rank)})
}

// others calls f with the other ranks, beginning with the right neighbour or,
// on the way back, with the left one.
func (p *planner) others(f func(peer int)) {
	p.turns = p.turns || p.Ranks > 2
	for d := 1; d < p.Ranks; d++ {
		if p.back {
			f(p.around(p.rank - d))
		} else {
			f(p.around(p.rank + d))
		}
	}
}

// move is one step, of at most [op.MaxSources] sources and destinations.
func (p *planner) move(from, to []op.Place, bytes int64, last bool, term op.Term) {
	if bytes == 0 {
		return
	}
	p.add(op.Step{Kind: op.StepMove, Peer: -1, Bytes: bytes, Sources: p.cut(from), Dests: p.cut(to), Last: last, Term: term})
}

// combine moves the result of the reduction, which is the combination of any
// number of sources in their order, to any number of destinations. What does
// not fit into one step goes through the accumulator, a place of this rank with
// room for blockBytes, block by block, so that the sum so far stays in the
// cache.
func (p *planner) combine(from, to []op.Place, bytes int64, accumulator op.Place, blockBytes int64, term op.Term) {
	if len(from) <= op.MaxSources && len(to) <= op.MaxSources {
		p.move(from, to, bytes, true, term)
		return
	}
	blockBytes -= blockBytes % p.size
	for off := int64(0); off < bytes && !p.full(); off += blockBytes {
		p.combineBlock(allAfter(from, off), allAfter(to, off), min(blockBytes, bytes-off), accumulator, term)
		term.Slice++
		term.Message++
	}
}

// combineBlock combines all sources of a block into the accumulator, seven and
// the sum so far at a time, and the last of them into the destinations.
func (p *planner) combineBlock(from, to []op.Place, bytes int64, accumulator op.Place, term op.Term) {
	from = p.narrow(from, bytes, accumulator, term)
	if len(to) <= op.MaxSources {
		p.move(from, to, bytes, true, term)
		return
	}
	p.move(from, append([]op.Place{accumulator}, to[:op.MaxSources-1]...), bytes, true, term)
	p.spreadBlock(accumulator, to[op.MaxSources-1:], bytes, term)
}

// narrow combines sources into the accumulator until few enough are left for
// one step.
func (p *planner) narrow(from []op.Place, bytes int64, accumulator op.Place, term op.Term) []op.Place {
	for len(from) > op.MaxSources {
		p.move(from[:op.MaxSources], []op.Place{accumulator}, bytes, false, term)
		rest := from[op.MaxSources:]
		from = append([]op.Place{accumulator}, rest...)
	}
	return from
}

// combineBytesMax is of calls of which each rank combines an equal share: a few
// steps for each block of it if there are more ranks than sources of a step.
func combineBytesMax(s *Shape) int64 {
	if s.Ranks <= op.MaxSources {
		return math.MaxInt64
	}
	steps := divideUp(s.Ranks-op.MaxSources, op.MaxSources-1) + 1
	if s.Collective == op.AllReduce {
		steps += divideUp(s.Ranks-op.MaxSources+1, op.MaxSources)
	}
	const others = 8 // steps that are no moves
	return int64((StepsMax-others)/steps-1) * op.SlotBytesMax * int64(s.Ranks)
}

func divideUp(a, b int) int { return (a + b - 1) / b }

// spreadBlockBytes is how much is copied to eight destinations before the next
// eight get it: it stays in the cache. It is more for very large calls, to limit
// the steps.
const spreadBlockBytes = 64 << 10

// spread copies one source to any number of destinations.
func (p *planner) spread(from op.Place, to []op.Place, bytes int64, term op.Term) {
	if len(to) == 0 {
		return
	}
	block := bytes
	if len(to) > op.MaxSources {
		times := int64(divideUp(len(to), op.MaxSources))
		block = spreadBlockBytes * ((bytes/spreadBlockBytes+1)*times/(StepsMax/2) + 1)
	}
	for off := int64(0); off < bytes && !p.full(); off += block {
		p.spreadBlock(after(from, off), allAfter(to, off), min(block, bytes-off), term)
		term.Slice++
		term.Message++
	}
}

func (p *planner) spreadBlock(from op.Place, to []op.Place, bytes int64, term op.Term) {
	for len(to) > 0 {
		n := min(len(to), op.MaxSources)
		p.move([]op.Place{from}, to[:n], bytes, false, term)
		to = to[n:]
	}
}

// scratch is this rank's slot as an accumulator of combine: only programs that
// do not use slots otherwise have it.
func (p *planner) scratch(bytes int64) (place op.Place, blockBytes int64) {
	if p.Ranks <= op.MaxSources {
		return op.Place{}, 0
	}
	blockBytes = min(bytes, op.SlotBytesMax)
	return p.slot(p.rank, 0, blockBytes), blockBytes
}
