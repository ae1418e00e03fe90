package coll

import "github.com/ccrun/ccrun/host/op"

// scatterDirect has every rank copy its part of the root's input.
func scatterDirect(p *planner) {
	own := int64(p.rank) * p.Count
	p.enter()
	if p.rank == p.Root {
		p.ownPart(own, 0)
		p.awaitAll()
		p.partAll()
		return
	}
	p.meet(p.Root)
	p.copy(p.in(p.Root, own), p.out(p.rank, 0), p.partBytes(), op.Term{Chunk: uint32(p.rank)})
	p.leave()
}
