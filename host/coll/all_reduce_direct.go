package coll

import "github.com/ccrun/ccrun/host/op"

// allReduceDirect has every rank load its shard of all inputs once and store
// the combination to all outputs.
func allReduceDirect(p *planner) {
	shard := p.shard(p.rank, p.Count)
	bytes := shard.count() * p.size
	accumulator, blockBytes := p.scratch(bytes)
	p.meetAll()
	p.combine(p.everyRank(p.in(0, shard.from)), p.everyRank(p.out(0, shard.from)), bytes,
		accumulator, blockBytes, op.Term{Chunk: uint32(p.rank)})
	p.partAll()
}
