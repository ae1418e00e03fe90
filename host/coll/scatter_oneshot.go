package coll

import "github.com/ccrun/ccrun/host/op"

// scatterOneshot has the root post its whole input, and go on; the others copy
// their parts.
func scatterOneshot(p *planner) {
	own := int64(p.rank) * p.Count
	if p.rank == p.Root {
		p.post(p.partBytes() * int64(p.Ranks))
		p.enter()
		p.ownPart(own, 0)
		return
	}
	p.enter()
	p.meet(p.Root)
	p.copy(p.slot(p.Root, own*p.size, p.partBytes()), p.out(p.rank, 0), p.partBytes(), op.Term{Chunk: uint32(p.rank)})
}
