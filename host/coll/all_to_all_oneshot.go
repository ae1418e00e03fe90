package coll

import "github.com/ccrun/ccrun/host/op"

// allToAllOneshot has every rank post its whole input and copy its part of the
// others'.
func allToAllOneshot(p *planner) {
	own := int64(p.rank) * p.Count
	p.post(p.partBytes() * int64(p.Ranks))
	p.enter()
	p.ownPart(own, own)
	p.awaitAll()
	for d := 1; d < p.Ranks; d++ {
		peer := p.around(p.rank + d)
		p.copy(p.slot(peer, own*p.size, p.partBytes()), p.out(p.rank, int64(peer)*p.Count), p.partBytes(), op.Term{Chunk: p.pairChunk(peer, p.rank)})
	}
}
