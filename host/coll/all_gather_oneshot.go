package coll

import "github.com/ccrun/ccrun/host/op"

// allGatherOneshot has every rank post its input and copy the others'.
func allGatherOneshot(p *planner) {
	p.post(p.partBytes())
	p.enter()
	p.ownPart(0, int64(p.rank)*p.Count)
	p.awaitAll()
	p.fetch(0)
}

// fetch copies what the other ranks have posted, some bytes on in the slots,
// to this rank's output, each to its place.
func (p *planner) fetch(off int64) {
	for d := 1; d < p.Ranks; d++ {
		peer := p.around(p.rank + d)
		p.copy(p.slot(peer, off, p.partBytes()), p.out(p.rank, int64(peer)*p.Count), p.partBytes(), op.Term{Chunk: uint32(peer)})
	}
}
