package coll

import "github.com/ccrun/ccrun/host/op"

// reduceDirect has every rank combine its shard of all inputs into the root's
// output.
func reduceDirect(p *planner) {
	shard := p.shard(p.rank, p.Count)
	bytes := shard.count() * p.size
	accumulator, blockBytes := p.scratch(bytes)
	p.meetAll()
	p.combine(p.everyRank(p.in(0, shard.from)), []op.Place{p.out(p.Root, shard.from)}, bytes,
		accumulator, blockBytes, op.Term{Chunk: uint32(p.rank)})
	p.partAll()
}
