package coll

import "github.com/ccrun/ccrun/host/op"

// broadcastOneshot has the root post its input, and go on; the others copy it.
func broadcastOneshot(p *planner) {
	if p.rank == p.Root {
		p.post(p.partBytes())
		p.enter()
		p.ownPart(0, 0)
		return
	}
	p.enter()
	p.meet(p.Root)
	p.copy(p.slot(p.Root, 0, p.partBytes()), p.out(p.rank, 0), p.partBytes(), op.Term{Chunk: uint32(p.Root)})
}
