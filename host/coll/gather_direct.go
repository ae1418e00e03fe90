package coll

import "github.com/ccrun/ccrun/host/op"

// gatherDirect has every rank store its input to the root's output.
func gatherDirect(p *planner) {
	own := int64(p.rank) * p.Count
	p.enter()
	if p.rank == p.Root {
		p.ownPart(0, own)
		p.awaitAll()
		p.partAll()
		return
	}
	p.meet(p.Root)
	p.copy(p.in(p.rank, 0), p.out(p.Root, own), p.partBytes(), op.Term{Chunk: uint32(p.rank)})
	p.leave()
}
