package coll

import "github.com/ccrun/ccrun/host/op"

// allGatherPull has every rank copy all inputs to its output, beginning with
// its right neighbour's, so that not all read the same one at once.
func allGatherPull(p *planner) {
	p.enter()
	p.ownPart(0, int64(p.rank)*p.Count)
	p.awaitAll()
	for d := 1; d < p.Ranks; d++ {
		peer := p.around(p.rank + d)
		p.copy(p.in(peer, 0), p.out(p.rank, int64(peer)*p.Count), p.partBytes(), op.Term{Chunk: uint32(peer)})
	}
	p.partAll()
}
