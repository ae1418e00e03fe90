package coll

import "github.com/ccrun/ccrun/host/op"

// swapBytesMax is of calls: three steps for each block of half of a rank's
// parts.
func swapBytesMax(*Shape) int64 { return StepsMax / 3 * op.SlotBytesMax }

// allToAllSwap exchanges parts in place, pair by pair: the lower rank of a pair
// swaps the first half of the two parts, the higher one the second.
func allToAllSwap(p *planner) {
	p.meetAll()
	half := p.Count / 2
	for d := 1; d < p.Ranks; d++ {
		peer := p.around(p.rank + d)
		if p.rank < peer {
			p.swap(peer, span{0, half})
		} else {
			p.swap(peer, span{half, p.Count})
		}
	}
	p.partAll()
}

// swap exchanges elements of this rank's part for a peer with the peer's part
// for this rank, by way of the slot.
func (p *planner) swap(peer int, piece span) {
	mine := p.out(p.rank, int64(peer)*p.Count+piece.from)
	theirs := p.out(peer, int64(p.rank)*p.Count+piece.from)
	bytes, k := piece.count()*p.size, uint32(0)
	for off := int64(0); off < bytes && !p.full(); off += op.SlotBytesMax {
		block := min(op.SlotBytesMax, bytes-off)
		there, here := op.Term{Chunk: p.pairChunk(p.rank, peer), Slice: k, Message: k}, op.Term{Chunk: p.pairChunk(peer, p.rank), Slice: k, Message: k}
		between := p.slot(p.rank, 0, block)
		p.copy(after(mine, off), between, block, there)
		p.copy(after(theirs, off), after(mine, off), block, here)
		p.copy(between, after(theirs, off), block, there)
		k++
	}
}
