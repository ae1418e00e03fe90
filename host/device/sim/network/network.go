// Package network shares links between flows fairly. A link is anything that
// moves or does so many units per second: a port, a switch tier, the memory of a
// GPU, its multipliers, the cores of a machine. A flow is an amount of units
// that passes over up to [MaxLinks] links at once.
//
// [Network.AddLink] first; then, for each instant at which something begins or
// ends, any number of [Network.Finish] and [Network.Start] and one
// [Network.Settle], which says when flows will be done as things stand. The
// caller keeps the time: it comes back at the earliest of these times, finishes
// that flow, and settles again. A completion time holds until a Settle gives
// another one for the same flow.
//
// Settle once per instant, not once per change: what ends or starts at one time
// is then shared out once. With an even exchange among 64 ranks that is once
// instead of 4,032 times.
//
// Rates are max-min fair: no flow can have more without taking from one that has
// no more than itself. They are found by progressive filling, exactly to a part
// in 10^9, over the flows that the change can reach: those that are connected by
// links which are tight, that is, whose flows could use more than the link has.
// A flow on links with room to spare costs the same however many others there
// are. A flow that is done keeps its share until its Finish.
//
// Not modelled: latency, which the caller adds before the start or after the
// end; packets, queues, loss and congestion control, so that a share changes at
// once and everywhere; weights and priorities; paths that depend on load.
//
// Times are picoseconds. The package is for one goroutine, and the same calls
// give the same results to the bit on all platforms.
package network

import "math"

// MaxLinks is the most links that one flow can pass over.
const MaxLinks = 6

// Never is the completion time of a flow that gets nothing.
const Never = math.MaxInt64

// maxRate stands for any rate beyond it: such a flow is done at once.
const maxRate = 1e30

// Link names a link of a network.
type Link int32

// Flow names a flow from its Start to its Finish.
type Flow int32

// Due is the completion time of a flow.
type Due struct {
	Flow Flow
	Tag  uint32 // as given to Start
	At   int64  // picoseconds, rounded up; Never if it gets nothing
}

// hop names a flow on one of its links: flow times hopsPerFlow plus the link's
// place in it. Zero is no hop, as flow 0 is not used.
type hop int32

const hopsPerFlow = 8

type link struct {
	capacity float64
	demand   float64 // what its flows would take if each had its bound
	moved    float64 // by its flows until their last change of rate
	first    hop     // its flows in the order of their starts; the first one's previous is the last
	flows    int32

	dirty bool   // listed in Network.dirty
	seen  uint32 // epoch in which it was last met
	open  int32  // flows without a rate yet, while solving
	left  float64
}

type flow struct {
	links     [MaxLinks]Link
	next      [MaxLinks]hop
	previous  [MaxLinks]hop
	rate      float64
	remaining float64 // units, as of updated
	bound     float64 // what it could take if it were alone
	limit     float64
	updated   int64
	due       int64
	tag       uint32
	seen      uint32 // epoch in which it was last met
	hops      uint8
	alive     bool
	fresh     bool // has no rate yet, or a bound that is not in force
	started   bool // has been in a Settle
	open      bool // without a rate yet, while solving
}

// Network is a set of links and the flows on them. Its zero value has none.
type Network struct {
	now   int64  // latest time given
	epoch uint32 // number of the Settle that had something to solve
	links []link
	flows []flow // index 0 is not used
	free  []Flow
	fresh []Flow // flows to look at in the next Settle; may hold ended ones
	dirty []Link // links that are or were tight and have changed

	dues   []Due
	solver solver
}

// AddLink adds a link that moves capacity units per second.
func (n *Network) AddLink(capacity float64) Link {
	n.links = append(n.links, link{capacity: clampRate(capacity)})
	return Link(len(n.links) - 1)
}

// clampRate makes a rate one to calculate with.
func clampRate(rate float64) float64 {
	if !(rate > 0) {
		return 0
	}
	return min(rate, maxRate)
}

// Start adds a flow of so many units that takes at most limit units per second,
// or what there is if limit is 0. It counts from the next Settle on. A link that
// is given twice is used twice. More than [MaxLinks] links are a mistake of the
// caller's, and panic.
func (n *Network) Start(now int64, amount, limit float64, tag uint32, links ...Link) Flow {
	if len(links) > MaxLinks {
		panic("network: a flow over more than MaxLinks links")
	}
	n.now = max(n.now, now)
	id := n.take()
	f := &n.flows[id]
	f.hops = uint8(copy(f.links[:], links))
	f.limit = maxRate
	if limit > 0 {
		f.limit = clampRate(limit)
	}
	f.remaining = 0
	if amount > 0 {
		f.remaining = amount
	}
	f.rate, f.due, f.tag, f.updated = 0, Never, tag, n.now
	f.alive, f.started = true, false
	f.bound = n.boundOf(f)
	for i := range f.hops {
		n.join(f, hop(id)*hopsPerFlow+hop(i))
	}
	n.refresh(id)
	return id
}

// take returns the number of a flow that is not in use.
func (n *Network) take() Flow {
	if last := len(n.free) - 1; last >= 0 {
		id := n.free[last]
		n.free = n.free[:last]
		return id
	}
	if len(n.flows) == 0 {
		n.flows = make([]flow, 1, 16)
	}
	n.flows = append(n.flows, flow{})
	return Flow(len(n.flows) - 1)
}

// boundOf returns what a flow could take if it were alone.
func (n *Network) boundOf(f *flow) float64 {
	bound := f.limit
	for _, l := range f.links[:f.hops] {
		bound = min(bound, n.links[l].capacity)
	}
	return bound
}

// Finish ends a flow, done or not, and gives its share back. Its name will be
// used again.
func (n *Network) Finish(now int64, id Flow) {
	n.now = max(n.now, now)
	f := n.flow(id)
	n.progress(f)
	for i := range f.hops {
		n.leave(f, hop(id)*hopsPerFlow+hop(i))
	}
	f.alive, f.fresh = false, false
	n.free = append(n.free, id)
}

// flow returns a flow that is there.
func (n *Network) flow(id Flow) *flow {
	f := &n.flows[id]
	if !f.alive {
		panic("network: this flow has been finished")
	}
	return f
}

// SetCapacity changes what a link moves per second, from the next Settle on.
func (n *Network) SetCapacity(l Link, capacity float64) {
	this := &n.links[l]
	wasTight := this.tight()
	this.capacity = clampRate(capacity)
	for h := this.first; h != 0; h = n.after(this, h) {
		n.rebound(Flow(h / hopsPerFlow))
	}
	this.demand = 0 // afresh, as rounding errors are of the size of the old capacity
	for h := this.first; h != 0; h = n.after(this, h) {
		this.demand += n.flows[h/hopsPerFlow].bound
	}
	if wasTight || this.tight() {
		n.soil(l)
	}
}

// rebound works out a flow's bound again after the capacity of one of its links
// has changed.
func (n *Network) rebound(id Flow) {
	f := &n.flows[id]
	bound := n.boundOf(f)
	if bound == f.bound {
		return
	}
	for _, l := range f.links[:f.hops] {
		on := &n.links[l]
		wasTight := on.tight()
		on.demand += bound - f.bound
		if wasTight || on.tight() {
			n.soil(l)
		}
	}
	f.bound = bound
	n.refresh(id)
}

// refresh has the next Settle look at a flow.
func (n *Network) refresh(id Flow) {
	if f := &n.flows[id]; !f.fresh {
		f.fresh = true
		n.fresh = append(n.fresh, id)
	}
}

// soil has the next Settle look at all flows that a link's flows compete with.
func (n *Network) soil(l Link) {
	if on := &n.links[l]; !on.dirty {
		on.dirty = true
		n.dirty = append(n.dirty, l)
	}
}

// Due returns the completion time of a flow as of the last Settle.
func (n *Network) Due(f Flow) int64 { return n.flow(f).due }

// Rate returns the units per second that a flow got in the last Settle. What is
// done at once has 1e30.
func (n *Network) Rate(f Flow) float64 { return n.flow(f).rate }

// Load returns how many flows a link has and how many units it has moved until
// the latest time that the network was told.
func (n *Network) Load(l Link) (flows int, moved float64) {
	on := &n.links[l]
	moved = on.moved
	for h := on.first; h != 0; h = n.after(on, h) {
		moved += n.flows[h/hopsPerFlow].movedUntil(n.now)
	}
	return int(on.flows), moved
}

// join enters a flow into the list of one of its links.
func (n *Network) join(f *flow, h hop) {
	l := f.links[h%hopsPerFlow]
	on := &n.links[l]
	if first := on.first; first == 0 {
		on.first = h
		n.setPrevious(h, h)
	} else {
		last := n.flows[first/hopsPerFlow].previous[first%hopsPerFlow]
		n.setNext(last, h)
		n.setPrevious(h, last)
		n.setPrevious(first, h)
	}
	n.setNext(h, on.first)
	on.flows++
	on.demand += f.bound
	if on.tight() {
		n.soil(l)
	}
}

// leave takes a flow off the list of one of its links.
func (n *Network) leave(f *flow, h hop) {
	l := f.links[h%hopsPerFlow]
	on := &n.links[l]
	if on.tight() {
		n.soil(l)
	}
	on.flows--
	on.demand -= f.bound
	if on.flows == 0 {
		on.first, on.demand = 0, 0 // rounding errors end here
		return
	}
	next, previous := f.next[h%hopsPerFlow], f.previous[h%hopsPerFlow]
	n.setNext(previous, next)
	n.setPrevious(next, previous)
	if on.first == h {
		on.first = next
	}
}

// after returns the flow after h on a link, 0 after the last one.
func (n *Network) after(on *link, h hop) hop {
	if next := n.flows[h/hopsPerFlow].next[h%hopsPerFlow]; next != on.first {
		return next
	}
	return 0
}

func (n *Network) setNext(h, next hop) { n.flows[h/hopsPerFlow].next[h%hopsPerFlow] = next }

func (n *Network) setPrevious(h, previous hop) {
	n.flows[h/hopsPerFlow].previous[h%hopsPerFlow] = previous
}

// tight says whether a link's flows could use more than it has.
func (l *link) tight() bool { return l.demand > float64(l.capacity*(1+alike)) }
