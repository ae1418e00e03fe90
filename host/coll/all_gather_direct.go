package coll

import "github.com/ccrun/ccrun/host/op"

// allGatherApartBytes is up to which size of a part it is better to copy it to
// the own output while others are waited for than to load it only once.
const allGatherApartBytes = 64 << 10

// allGatherDirect has every rank load its input once and store it to all
// outputs.
func allGatherDirect(p *planner) {
	own, bytes := int64(p.rank)*p.Count, p.partBytes()
	to, term := p.everyRank(p.out(0, own)), op.Term{Chunk: uint32(p.rank)}
	others := append(append([]op.Place{}, to[:p.rank]...), to[p.rank+1:]...)
	if p.InPlace || bytes <= allGatherApartBytes {
		p.meetAround(0, own, func() { p.spread(p.in(p.rank, 0), others, bytes, term) })
		return
	}
	p.meetAll()
	p.spread(p.in(p.rank, 0), to, bytes, term)
	p.partAll()
}
