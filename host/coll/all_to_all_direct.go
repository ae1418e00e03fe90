package coll

import "github.com/ccrun/ccrun/host/op"

// allToAllDirect has every rank copy its part of all inputs, beginning with its
// right neighbour's, so that not all read the same one at once.
func allToAllDirect(p *planner) {
	own := int64(p.rank) * p.Count
	p.meetAround(own, own, func() {
		p.others(func(peer int) {
			p.copy(p.in(peer, own), p.out(p.rank, int64(peer)*p.Count), p.partBytes(), op.Term{Chunk: p.pairChunk(peer, p.rank)})
		})
	})
}
