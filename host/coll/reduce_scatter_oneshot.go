package coll

import "github.com/ccrun/ccrun/host/op"

// reduceScatterOneshot has every rank post its whole input and combine its own
// part of all of them.
func reduceScatterOneshot(p *planner) {
	p.post(p.partBytes() * int64(p.Ranks))
	p.meetAll()
	p.combineSlots(int64(p.rank)*p.partBytes(), op.Term{Chunk: uint32(p.rank)})
}
