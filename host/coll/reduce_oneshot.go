package coll

import "github.com/ccrun/ccrun/host/op"

// reduceOneshot has every rank post its input, and all but the root go on; the
// root combines them.
func reduceOneshot(p *planner) {
	p.post(p.partBytes())
	p.enter()
	if p.rank != p.Root {
		return
	}
	p.awaitAll()
	p.combineSlots(0, op.Term{})
}
