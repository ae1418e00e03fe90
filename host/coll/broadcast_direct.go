package coll

import "github.com/ccrun/ccrun/host/op"

// broadcastDirect has every rank load its shard of the root's input once and
// store it to all outputs but the root's, which fills its own when nobody waits
// for it any more.
func broadcastDirect(p *planner) {
	shard := p.shard(p.rank, p.Count)
	to := p.everyRank(p.out(0, shard.from))
	p.meetAll()
	p.spread(p.in(p.Root, shard.from), append(to[:p.Root], to[p.Root+1:]...), shard.count()*p.size, op.Term{Chunk: uint32(p.rank)})
	p.leave()
	if p.rank == p.Root {
		p.ownPart(0, 0)
	}
	p.part(-1)
}
