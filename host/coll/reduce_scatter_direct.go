package coll

import "github.com/ccrun/ccrun/host/op"

// reduceScatterDirect has every rank combine its part of all inputs.
func reduceScatterDirect(p *planner) {
	accumulator, blockBytes := p.scratch(p.partBytes())
	p.meetAll()
	p.combine(p.everyRank(p.in(0, int64(p.rank)*p.Count)), []op.Place{p.out(p.rank, 0)}, p.partBytes(),
		accumulator, blockBytes, op.Term{Chunk: uint32(p.rank)})
	p.partAll()
}
