package coll

import "github.com/ccrun/ccrun/host/op"

// allGatherDirect has every rank load its input once and store it to all
// outputs.
func allGatherDirect(p *planner) {
	own := int64(p.rank) * p.Count
	to := p.everyRank(p.out(0, own))
	if p.InPlace {
		to = append(to[:p.rank], to[p.rank+1:]...)
	}
	p.meetAll()
	p.spread(p.in(p.rank, 0), to, p.partBytes(), op.Term{Chunk: uint32(p.rank)})
	p.partAll()
}
