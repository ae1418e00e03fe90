package network

import (
	"math"
	"testing"
)

// oracle shares links by the book: it keeps every flow in one list and, whenever
// it is asked, fills all of them from nothing in steps of the least that any of
// them can still take. It knows of no components and of no links with room.
type oracle struct {
	now        int64
	capacities []float64
	moved      []float64
	flows      []*oracleFlow
}

type oracleFlow struct {
	id        Flow
	tag       uint32
	links     []Link
	limit     float64 // 0 for none
	amount    float64
	remaining float64
	rate      float64
	due       int64
	settled   bool
}

// advance lets all flows move until now.
func (o *oracle) advance(now int64) {
	for _, f := range o.flows {
		moved := min(f.remaining, f.rate*float64(now-o.now)/1e12)
		if f.settled && now >= f.due {
			moved = f.remaining
		}
		f.remaining -= moved
		for _, l := range f.links {
			o.moved[l] += moved
		}
	}
	o.now = now
}

// share gives each flow its rate. Each round takes the least that a flow can
// have, of its limit and of its links' even shares, and gives it to all that can
// have no more.
func (o *oracle) share() {
	left := append([]float64(nil), o.capacities...)
	rates := make([]float64, len(o.flows))
	open := make([]bool, len(o.flows))
	for i := range open {
		open[i] = true
	}
	for {
		users := make([]int, len(left))
		for i, f := range o.flows {
			if open[i] {
				for _, l := range f.links {
					users[l]++
				}
			}
		}
		most := make([]float64, len(o.flows))
		least := math.Inf(1)
		for i, f := range o.flows {
			most[i] = maxRate
			if f.limit > 0 {
				most[i] = f.limit
			}
			for _, l := range f.links {
				most[i] = min(most[i], max(0, left[l])/float64(users[l]))
			}
			if open[i] {
				least = min(least, most[i])
			}
		}
		if math.IsInf(least, 1) {
			break
		}
		for i, f := range o.flows {
			if open[i] && most[i] <= least*(1+1e-9) {
				open[i], rates[i] = false, least
				for _, l := range f.links {
					left[l] -= least
				}
			}
		}
	}
	for i, f := range o.flows {
		f.rate = rates[i]
	}
}

// settle shares, and works out all completion times again.
func (o *oracle) settle() {
	o.share()
	for _, f := range o.flows {
		if f.settled && f.due <= o.now {
			continue
		}
		f.settled = true
		picos := math.Ceil(f.remaining / f.rate * 1e12)
		switch {
		case f.remaining == 0 || f.rate >= maxRate:
			f.due = o.now
		case picos >= float64(Never-o.now):
			f.due = Never
		default:
			f.due = o.now + int64(picos)
		}
	}
}

// near compares numbers that were summed in different orders. The oracle divides
// in an order of its own, too.
func near(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-6*scale }

// twin does everything on a network and on the oracle.
type twin struct {
	network Network
	oracle  oracle
	tag     uint32
	dues    map[Flow]int64 // as Settle has reported them
}

func (w *twin) addLink(capacity float64) {
	w.network.AddLink(capacity)
	w.oracle.capacities = append(w.oracle.capacities, max(0, capacity))
	w.oracle.moved = append(w.oracle.moved, 0)
}

func (w *twin) setCapacity(l Link, capacity float64) {
	w.network.SetCapacity(l, capacity)
	w.oracle.capacities[l] = max(0, capacity)
}

func (w *twin) start(amount, limit float64, links ...Link) {
	w.tag++
	id := w.network.Start(w.oracle.now, amount, limit, w.tag, links...)
	w.oracle.flows = append(w.oracle.flows, &oracleFlow{
		id: id, tag: w.tag, links: append([]Link(nil), links...), limit: limit, amount: amount, remaining: amount, due: Never,
	})
	delete(w.dues, id)
}

// finish ends flow i of the oracle's list.
func (w *twin) finish(i int) {
	f := w.oracle.flows[i]
	w.network.Finish(w.oracle.now, f.id)
	w.oracle.flows = append(w.oracle.flows[:i], w.oracle.flows[i+1:]...)
	delete(w.dues, f.id)
}

// earliest returns the flow that is done next, or -1.
func (w *twin) earliest() int {
	best := -1
	for i, f := range w.oracle.flows {
		if f.settled && f.due < Never && (best < 0 || f.due < w.oracle.flows[best].due) {
			best = i
		}
	}
	return best
}

// settle settles both and compares all that there is to see.
func (w *twin) settle(t *testing.T) {
	t.Helper()
	if w.dues == nil {
		w.dues = make(map[Flow]int64)
	}
	listed := make(map[Flow]bool)
	tags := make(map[Flow]uint32)
	for _, f := range w.oracle.flows {
		tags[f.id] = f.tag
	}
	for _, due := range w.network.Settle(w.oracle.now) {
		if at, known := w.dues[due.Flow]; known && at == due.At {
			t.Errorf("flow %d is listed, but was due at %d before", due.Flow, at)
		}
		if listed[due.Flow] {
			t.Errorf("flow %d is listed twice", due.Flow)
		}
		if tag, ok := tags[due.Flow]; !ok || tag != due.Tag {
			t.Errorf("flow %d is listed with tag %d; it has %d", due.Flow, due.Tag, tag)
		}
		listed[due.Flow] = true
		w.dues[due.Flow] = due.At
	}
	before := make(map[Flow]float64)
	for _, f := range w.oracle.flows {
		if f.settled {
			before[f.id] = f.rate
		}
	}
	w.oracle.settle()
	for _, f := range w.oracle.flows {
		w.compare(t, f)
		if rate, ok := before[f.id]; ok && rate == f.rate && listed[f.id] {
			t.Errorf("flow %d is listed, but gets %g as before", f.id, rate)
		}
	}
	w.checkFair(t)
	w.checkMoved(t)
	w.checkDemand(t)
}

// checkDemand looks at what tells tight links from others.
func (w *twin) checkDemand(t *testing.T) {
	t.Helper()
	demand := make([]float64, len(w.oracle.capacities))
	for _, f := range w.oracle.flows {
		bound := maxRate
		if f.limit > 0 {
			bound = f.limit
		}
		for _, l := range f.links {
			bound = min(bound, w.oracle.capacities[l])
		}
		for _, l := range f.links {
			demand[l] += bound
		}
	}
	for l, want := range demand {
		on := &w.network.links[l]
		if got := on.demand; math.Abs(got-want) > 1e-9*w.oracle.capacities[l] || on.flows == 0 && got != 0 {
			t.Errorf("the flows of link %d could use %g, want %g", l, got, want)
		}
	}
}

// compare looks at the rate and completion time of one flow. A completion time
// that is right is taken over, so that both go on from there.
func (w *twin) compare(t *testing.T, f *oracleFlow) {
	t.Helper()
	if rate := w.network.Rate(f.id); !near(rate, f.rate, f.rate) {
		t.Errorf("flow %d over %v, limit %g, gets %g, want %g", f.id, f.links, f.limit, rate, f.rate)
	}
	due := w.network.Due(f.id)
	if at, known := w.dues[f.id]; !known || at != due {
		t.Errorf("flow %d is due at %d, but Settle said %d", f.id, due, at)
	}
	if due != f.due && !near(float64(due), float64(f.due), float64(min(due, f.due)-w.oracle.now)+2e6) {
		t.Errorf("flow %d is due at %d, want %d (now %d)", f.id, due, f.due, w.oracle.now)
	}
	f.due = due
}

// checkFair needs no oracle: no link is over its capacity, and each flow has its
// limit or a link that is full on which no other flow has more. Rates with that
// property are max-min fair, and there is only one such set.
func (w *twin) checkFair(t *testing.T) {
	t.Helper()
	used := make([]float64, len(w.oracle.capacities))
	most := make([]float64, len(w.oracle.capacities))
	for _, f := range w.oracle.flows {
		for _, l := range f.links {
			used[l] += w.network.Rate(f.id)
			most[l] = max(most[l], w.network.Rate(f.id))
		}
	}
	for l, capacity := range w.oracle.capacities {
		if used[l] > capacity*(1+1e-8) {
			t.Errorf("link %d moves %g of %g", l, used[l], capacity)
		}
	}
	for _, f := range w.oracle.flows {
		rate := w.network.Rate(f.id)
		limit := maxRate
		if f.limit > 0 {
			limit = f.limit
		}
		held := near(rate, limit, limit)
		for _, l := range f.links {
			held = held || near(used[l], w.oracle.capacities[l], w.oracle.capacities[l]) && near(rate, most[l], most[l])
		}
		if !held {
			t.Errorf("flow %d over %v gets %g, though nothing holds it", f.id, f.links, rate)
		}
	}
}

// checkMoved compares what the links have moved.
func (w *twin) checkMoved(t *testing.T) {
	t.Helper()
	for l := range w.oracle.capacities {
		flows, moved := w.network.Load(Link(l))
		want := 0
		for _, f := range w.oracle.flows {
			for _, on := range f.links {
				if on == Link(l) {
					want++
				}
			}
		}
		if flows != want {
			t.Errorf("link %d has %d flows, want %d", l, flows, want)
		}
		if !near(moved, w.oracle.moved[l], w.oracle.moved[l]) {
			t.Errorf("link %d has moved %g, want %g", l, moved, w.oracle.moved[l])
		}
	}
}
