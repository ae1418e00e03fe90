package network

import (
	"cmp"
	"slices"
)

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
				n.fix(id, level)
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
		rate := on.left / float64(on.open)
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
