package network

import (
	"cmp"
	"math"
	"slices"
)

// alike is how far two rates may be apart, as a part of them, to count as one.
// Sums of thousands of rates are off by about a thousandth of it.
const alike = 1e-9

const picosPerSecond = 1e12

// Settle puts the starts, ends and capacities since the last one into force. It
// returns the completion times that this has changed and those of new flows;
// they are valid until the next call.
func (n *Network) Settle(now int64) []Due {
	n.now = max(n.now, now)
	n.epoch++
	n.dues = n.dues[:0]
	for _, l := range n.dirty {
		n.settleFrom(l)
	}
	n.dirty = n.dirty[:0]
	for _, id := range n.fresh {
		// What shares a tight link has been settled with it.
		if f := &n.flows[id]; f.fresh {
			n.assign(id, f, f.bound)
		}
	}
	n.fresh = n.fresh[:0]
	return n.dues
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
	if f.started && math.Abs(rate-f.rate) <= float64(f.rate*1e-12) {
		return // so that rounding alone moves no event
	}
	n.progress(f)
	f.rate = rate
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

// solver holds what [Network.solve] works on, so that it allocates nothing.
type solver struct {
	links  []Link
	flows  []Flow
	limits []limit // flows that may stop before their links are full, least first
	heap   []share // links, by what each of their open flows could get
}

type limit struct {
	rate float64
	flow Flow
}

type share struct {
	rate float64 // a lower bound: shares grow while others take less
	link Link
}

func (s *solver) begin() {
	s.links, s.flows = s.links[:0], s.flows[:0]
	s.limits, s.heap = s.limits[:0], s.heap[:0]
}

// meetLink enters a tight link into the solver.
func (n *Network) meetLink(l Link) {
	on := &n.links[l]
	on.seen, on.left, on.open = n.epoch, on.capacity, on.flows
	n.solver.links = append(n.solver.links, l)
}

// meetFlow enters a flow into the solver, and with it its tight links.
func (n *Network) meetFlow(id Flow) {
	f := &n.flows[id]
	f.seen, f.open = n.epoch, true
	n.solver.flows = append(n.solver.flows, id)
	bounded := true // by more than its tight links
	for _, l := range f.links[:f.hops] {
		on := &n.links[l]
		if !on.tight() {
			continue
		}
		if on.capacity <= f.bound {
			bounded = false
		}
		if on.seen != n.epoch {
			n.meetLink(l)
		}
	}
	if bounded {
		n.solver.limits = append(n.solver.limits, limit{f.bound, id})
	}
}

// solve finds the rates of all flows that are connected to those met so far: all
// rates grow alike until a flow has its bound or a link is full, which fixes the
// rates of its flows; the others go on.
func (n *Network) solve() {
	s := &n.solver
	for i := 0; i < len(s.links); i++ {
		on := &n.links[s.links[i]]
		for h := on.first; h != 0; h = n.after(on, h) {
			if id := Flow(h / hopsPerFlow); n.flows[id].seen != n.epoch {
				n.meetFlow(id)
			}
		}
		s.heap = append(s.heap, share{on.capacity / float64(on.open), s.links[i]})
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		sink(s.heap, i)
	}
	slices.SortFunc(s.limits, func(a, b limit) int {
		return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.flow, b.flow))
	})
	n.fill()
}

// fill raises the level of all open flows until none is left.
func (n *Network) fill() {
	s := &n.solver
	level, nextLimit := 0.0, 0
	for {
		for nextLimit < len(s.limits) && !n.flows[s.limits[nextLimit].flow].open {
			nextLimit++
		}
		full, ok := n.nextFull()
		if nextLimit < len(s.limits) && (!ok || s.limits[nextLimit].rate <= full.rate) {
			n.fix(s.limits[nextLimit].flow, s.limits[nextLimit].rate)
			continue
		}
		if !ok {
			return
		}
		// Rounding must neither split what is equal nor take back a level.
		if full.rate > float64(level*(1+alike)) {
			level = full.rate
		}
		on := &n.links[full.link]
		for h := on.first; h != 0; h = n.after(on, h) {
			if id := Flow(h / hopsPerFlow); n.flows[id].open {
				n.fix(id, min(level, n.flows[id].bound))
			}
		}
	}
}

// nextFull returns the link that fills up next and the share of its open flows.
// It stays on the heap until its flows are fixed.
func (n *Network) nextFull() (full share, ok bool) {
	s := &n.solver
	for len(s.heap) > 0 {
		on := &n.links[s.heap[0].link]
		if on.open == 0 {
			last := len(s.heap) - 1
			s.heap[0] = s.heap[last]
			s.heap = s.heap[:last]
			sink(s.heap, 0)
			continue
		}
		rate := max(0, on.left/float64(on.open))
		if rate <= float64(s.heap[0].rate*(1+alike)) {
			return share{rate, s.heap[0].link}, true
		}
		s.heap[0].rate = rate
		sink(s.heap, 0)
	}
	return share{}, false
}

// fix gives an open flow its rate and takes it off its links.
func (n *Network) fix(id Flow, rate float64) {
	f := &n.flows[id]
	f.open = false
	for _, l := range f.links[:f.hops] {
		on := &n.links[l]
		on.left -= rate
		on.open--
	}
	n.assign(id, f, rate)
}

// sink restores the order of the heap below i.
func sink(heap []share, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if heap[child].rate < heap[least].rate ||
				heap[child].rate == heap[least].rate && heap[child].link < heap[least].link {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
