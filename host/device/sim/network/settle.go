package network

import "math"

// alike is how far two rates may be apart, as a part of them, to count as one.
// Sums of thousands of rates are off by about a thousandth of it.
const alike = 1e-9

const picosPerSecond = 1e12

// Settle puts the starts, ends and capacities since the last one into force. It
// returns the completion times that this has changed and those of new flows;
// they are valid until the next call.
func (n *Network) Settle(now int64) []Due {
	n.now = max(n.now, now)
	n.dues = n.dues[:0]
	if len(n.dirty) > 0 {
		n.settleTight()
	}
	for _, id := range n.fresh {
		// What shares a tight link has been settled with it.
		if f := &n.flows[id]; f.fresh {
			n.assign(id, f, f.bound)
		}
	}
	n.fresh = n.fresh[:0]
	return n.dues
}

// settleTight settles all that competes for a link that has changed.
func (n *Network) settleTight() {
	n.epoch++
	if n.epoch == 0 { // it has come round: forget who was seen when
		n.epoch = 1
		for i := range n.links {
			n.links[i].seen = 0
		}
		for i := range n.flows {
			n.flows[i].seen = 0
		}
	}
	for _, l := range n.dirty {
		n.settleFrom(l)
	}
	n.dirty = n.dirty[:0]
}

// settleFrom settles all that competes with the flows of a link.
func (n *Network) settleFrom(l Link) {
	on := &n.links[l]
	on.dirty = false
	if on.tight() {
		if on.seen != n.epoch {
			n.solver.begin()
			n.meetLink(l)
			n.solve()
		}
		return
	}
	// It was tight, and no longer joins its flows.
	for h := on.first; h != 0; h = n.after(on, h) {
		if id := Flow(h / hopsPerFlow); n.flows[id].seen != n.epoch {
			n.solver.begin()
			n.meetFlow(id)
			n.solve()
		}
	}
}

// assign gives a flow its rate.
func (n *Network) assign(id Flow, f *flow, rate float64) {
	f.fresh = false
	if f.started && math.Abs(rate-f.rate) <= float64(f.rate*alike) {
		return // rounding alone moves no event
	}
	n.progress(f)
	f.rate = rate
	if f.started && f.due <= n.now {
		return // it is done, and only waits for its Finish
	}
	due := n.now
	if f.remaining > 0 && rate < maxRate {
		due = later(n.now, math.Ceil(float64(f.remaining*picosPerSecond)/rate))
	}
	if due == f.due && f.started {
		return
	}
	f.due, f.started = due, true
	n.dues = append(n.dues, Due{Flow: id, Tag: f.tag, At: due})
}

// later returns the time so many picoseconds after now.
func later(now int64, picos float64) int64 {
	if !(picos < math.MaxInt64) || int64(picos) >= Never-now {
		return Never
	}
	return now + int64(picos)
}

// progress takes what a flow has moved since its last change of rate off what
// remains, and enters it into its links.
func (n *Network) progress(f *flow) {
	moved := f.movedUntil(n.now)
	f.updated = n.now
	if moved == 0 {
		return
	}
	f.remaining -= moved
	for _, l := range f.links[:f.hops] {
		n.links[l].moved += moved
	}
}

// movedUntil returns the units that a flow has moved since its last change of
// rate.
func (f *flow) movedUntil(now int64) float64 {
	if now >= f.due {
		return f.remaining
	}
	return min(f.remaining, float64(f.rate*float64(now-f.updated))/picosPerSecond)
}
