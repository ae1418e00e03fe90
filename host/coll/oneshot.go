package coll

import "github.com/ccrun/ccrun/host/op"

// post puts the first bytes of this rank's input into its slot, before it
// enters: whoever meets it can read them there.
func (p *planner) post(bytes int64) {
	p.copy(p.in(p.rank, 0), p.slot(p.rank, 0, bytes), bytes, op.Term{Chunk: uint32(p.rank)})
}

// combineSlots combines what all ranks have posted from some bytes on into
// this rank's output, which nobody else touches and so can hold the sum so far.
func (p *planner) combineSlots(off int64, term op.Term) {
	bytes, to := p.partBytes(), p.out(p.rank, 0)
	p.combine(p.everyRank(p.slot(0, off, bytes)), []op.Place{to}, bytes, to, bytes, term)
}
