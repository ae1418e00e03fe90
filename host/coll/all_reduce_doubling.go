package coll

import (
	"math/bits"

	"github.com/ccrun/ccrun/host/op"
)

// doubling is how ranks pair up at distance 1, 2, 4 and so on. Ranks beyond
// the largest power of two have a substitute that takes part for them.
type doubling struct {
	p      *planner
	base   int   // the largest power of two of ranks
	rounds int   // log2 of it
	stride int64 // bytes between the stages of a slot
}

// slotLineBytes keeps what different ranks read at different times on
// different cache lines.
const slotLineBytes = 64

func lineUp(bytes int64) int64 { return (bytes + slotLineBytes - 1) / slotLineBytes * slotLineBytes }

// doublingSlotBytes has room for the input, what a substitute adds, and the
// result of each round.
func doublingSlotBytes(s *Shape) int64 {
	return int64(bits.Len(uint(s.Ranks))+1) * lineUp(s.partBytes())
}

// stage is where a rank keeps its sum: 0 the input, 1 with what it substitutes
// for, 2+t after round t.
func (d *doubling) stage(rank, n int) op.Place {
	return d.p.slot(rank, int64(n)*d.stride, d.p.partBytes())
}

// substitutes reports whether the rank takes part for another one as well.
func (d *doubling) substitutes(rank int) bool { return rank+d.base < d.p.Ranks }

// start is the stage of a rank's sum before the first round.
func (d *doubling) start(rank int) int {
	if d.substitutes(rank) {
		return 1
	}
	return 0
}

// allReduceDoubling doubles the number of inputs in a rank's sum each round.
// The lower ranks' sum is always the first operand, so all ranks compute the
// same bits.
func allReduceDoubling(p *planner) {
	rounds := bits.Len(uint(p.Ranks)) - 1
	d := &doubling{p, 1 << rounds, rounds, lineUp(p.partBytes())}
	p.post(p.partBytes())
	p.enter()
	if p.rank >= d.base {
		d.represented()
	} else {
		d.takePart()
	}
	p.program.Met = true // a sum of all inputs has come from all ranks
}

// represented waits for the result of the rank's substitute.
func (d *doubling) represented() {
	p, substitute := d.p, d.p.rank-d.base
	p.meet(substitute)
	p.wait(substitute, 0, int64(d.rounds)+1)
	p.copy(d.stage(substitute, d.rounds+1), p.out(p.rank, 0), p.partBytes(), op.Term{Step: uint16(d.rounds + 1)})
}

func (d *doubling) takePart() {
	p := d.p
	own := d.stage(p.rank, 0)
	if d.substitutes(p.rank) {
		p.meet(p.rank + d.base)
		sum := d.stage(p.rank, 1)
		p.move([]op.Place{own, d.stage(p.rank+d.base, 0)}, []op.Place{sum}, p.partBytes(), false, op.Term{})
		own = sum
	}
	for t := range d.rounds {
		own = d.round(t, own)
	}
	if d.substitutes(p.rank) {
		p.signal(p.rank+d.base, 0, int64(d.rounds)+1)
	}
}

// round combines with the rank at distance 2^t and gives where the sum is.
func (d *doubling) round(t int, own op.Place) op.Place {
	p, peer := d.p, d.p.rank^1<<t
	theirs := d.stage(peer, d.start(peer))
	if t > 0 {
		theirs = d.stage(peer, 1+t)
	}
	if t > 0 || d.substitutes(p.rank) {
		p.signal(peer, 0, int64(t)+1)
	}
	p.meet(peer)
	if t > 0 || d.substitutes(peer) {
		p.wait(peer, 0, int64(t)+1)
	}
	sources := []op.Place{own, theirs}
	if peer < p.rank {
		sources[0], sources[1] = theirs, own
	}
	last := t == d.rounds-1
	sum, dests := d.stage(p.rank, 2+t), []op.Place{d.stage(p.rank, 2+t)}
	if last && d.substitutes(p.rank) {
		dests = append(dests, p.out(p.rank, 0))
	} else if last {
		dests[0] = p.out(p.rank, 0)
	}
	p.move(sources, dests, p.partBytes(), last, op.Term{Step: uint16(t + 1)})
	return sum
}
