package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const second = int64(1e12)

// script carries out what a source of numbers says: choose returns one of n.
func script(t *testing.T, w *twin, steps int, choose func(n int) int) {
	t.Helper()
	capacities := []float64{0, 1, 10, 10, 25, 100, 100, 100, 1000, 333.25}
	limits := []float64{0, 0, 0, 1, 5, 10, 50, 0.3}
	amounts := []float64{0, 1, 10, 100, 1234.5, 1e6}
	for range 1 + choose(8) {
		w.addLink(capacities[choose(len(capacities))])
	}
	for range steps {
		switch choose(8) {
		case 0, 1, 2:
			links := make([]Link, choose(min(MaxLinks, 4)+1))
			for i := range links {
				links[i] = Link(choose(len(w.oracle.capacities)))
			}
			w.start(amounts[choose(len(amounts))], limits[choose(len(limits))], links...)
			continue // several changes at one instant
		case 3:
			if len(w.oracle.flows) > 0 {
				w.finish(choose(len(w.oracle.flows)))
			}
			continue
		case 4:
			w.setCapacity(Link(choose(len(w.oracle.capacities))), capacities[choose(len(capacities))])
		case 5:
			w.oracle.advance(w.oracle.now + int64(choose(1000))*second/100)
		default:
			if i := w.earliest(); i >= 0 {
				w.oracle.advance(max(w.oracle.now, w.oracle.flows[i].due))
				w.finish(i)
			}
		}
		w.settle(t)
		if t.Failed() {
			return
		}
	}
}

// TestRandom compares with the oracle on random networks.
func TestRandom(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		var w twin
		script(t, &w, 150, r.IntN)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzNetwork lets bytes choose.
func FuzzNetwork(f *testing.F) {
	f.Add([]byte{2, 5, 5, 0, 2, 0, 1, 3, 0, 0, 1, 0, 3, 0, 6, 7, 6})
	f.Add([]byte{3, 1, 2, 3, 4, 0, 3, 0, 1, 2, 5, 3, 4, 2, 0, 5, 99, 3, 0, 6})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 600 {
			return
		}
		var w twin
		script(t, &w, len(program)/2, func(n int) int {
			if len(program) == 0 {
				return 0
			}
			c := int(program[0]) % n
			program = program[1:]
			return c
		})
	})
}

// TestByHand are cases that can be worked out on paper.
func TestByHand(t *testing.T) {
	type one struct {
		links []int
		limit float64
		want  float64
	}
	for _, c := range []struct {
		name       string
		capacities []float64
		flows      []one
	}{
		{"alone", []float64{80, 100}, []one{{[]int{0, 1}, 0, 80}}},
		{"alone, limited", []float64{80, 100}, []one{{[]int{0, 1}, 30, 30}}},
		{"no link", nil, []one{{nil, 30, 30}}},
		{"even", []float64{90}, []one{{[]int{0}, 0, 30}, {[]int{0}, 0, 30}, {[]int{0}, 0, 30}}},
		{"a limit leaves more to the others", []float64{90}, []one{{[]int{0}, 10, 10}, {[]int{0}, 0, 40}, {[]int{0}, 0, 40}}},
		{"three into one", []float64{100, 100, 20, 60}, []one{{[]int{0, 3}, 0, 20}, {[]int{1, 3}, 0, 20}, {[]int{2, 3}, 0, 20}}},
		{"a slow one among them", []float64{100, 100, 10, 60}, []one{{[]int{0, 3}, 0, 25}, {[]int{1, 3}, 0, 25}, {[]int{2, 3}, 0, 10}}},
		{"one long way, two short ones", []float64{100, 50}, []one{{[]int{0, 1}, 0, 25}, {[]int{0}, 0, 75}, {[]int{1}, 0, 25}}},
		{"the same link twice", []float64{90}, []one{{[]int{0, 0}, 0, 30}, {[]int{0}, 0, 30}}},
		{"a closed link", []float64{0, 90}, []one{{[]int{0, 1}, 0, 0}, {[]int{1}, 0, 90}}},
		{"a chain of bottlenecks", []float64{10, 30, 60}, []one{
			{[]int{0}, 0, 5}, {[]int{0, 1}, 0, 5}, {[]int{1}, 0, 12.5}, {[]int{1, 2}, 0, 12.5}, {[]int{2}, 0, 47.5},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Network
			for _, capacity := range c.capacities {
				n.AddLink(capacity)
			}
			var flows []Flow
			for _, f := range c.flows {
				var links []Link
				for _, l := range f.links {
					links = append(links, Link(l))
				}
				flows = append(flows, n.Start(0, 1, f.limit, 0, links...))
			}
			n.Settle(0)
			for i, f := range c.flows {
				if rate := n.Rate(flows[i]); !near(rate, f.want, f.want) {
					t.Errorf("flow %d gets %g, want %g", i, rate, f.want)
				}
			}
		})
	}
}

// TestTimes looks at completion times.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		name          string
		now           int64
		amount, limit float64
		links         []float64
		want          int64
	}{
		{"to the picosecond", 0, 300, 100e9, nil, 3000},
		{"rounded up", 0, 1, 3e12, nil, 1},
		{"and not too far", 7, 2, 3e12, nil, 8},
		{"nothing to move", 5, 0, 1, nil, 5},
		{"nothing to move over nothing", 5, 0, 0, []float64{0}, 5},
		{"less than nothing", 5, -1, 1, nil, 5},
		{"not a number", 5, math.NaN(), 1, nil, 5},
		{"nothing holds it", 5, 1e9, 0, nil, 5},
		{"an endless link", 5, 1e9, 0, []float64{math.Inf(1)}, 5},
		{"a closed link", 5, 1, 0, []float64{0}, Never},
		{"a link that is less than closed", 5, 1, 0, []float64{-3}, Never},
		{"no end", 5, math.Inf(1), 1, nil, Never},
		{"beyond all times", 5, 1e9, 1e-3, nil, Never},
		{"the last times", Never - 10, 1, 1e12, nil, Never - 9},
		{"past the last time", Never - 10, 11, 1e12, nil, Never},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Network
			var links []Link
			for _, capacity := range c.links {
				links = append(links, n.AddLink(capacity))
			}
			f := n.Start(c.now, c.amount, c.limit, 9, links...)
			if dues := n.Settle(c.now); !slices.Equal(dues, []Due{{f, 9, c.want}}) || n.Due(f) != c.want {
				t.Errorf("got %v and %d, want %d", dues, n.Due(f), c.want)
			}
			n.Finish(c.now, f)
		})
	}
}

// TestEqualFlowsEndTogether: rounding must not set apart what is alike, or an
// exchange of n ranks becomes n times n instants.
func TestEqualFlowsEndTogether(t *testing.T) {
	for _, ranks := range []int{2, 3, 7, 48, 200} {
		for _, capacity := range []float64{50e9, 1e9 / 3, 0.7} {
			var n Network
			out, in := n.ports(ranks, capacity)
			// Any order, so that links fill up in any order, too.
			r := rand.New(rand.NewPCG(1, 1))
			for _, i := range r.Perm(ranks * ranks) {
				n.Start(0, 1e6, 0, 0, out[i/ranks], in[i%ranks])
			}
			dues := n.Settle(0)
			for _, due := range dues {
				if due.At != dues[0].At {
					t.Fatalf("%d ranks: flows of an even exchange end at %d and %d", ranks, dues[0].At, due.At)
				}
			}
		}
	}
}

// TestMovedSumsUp: in the end links have moved what passed over them, however
// often the rates changed on the way.
func TestMovedSumsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	var n Network
	out, in := n.ports(8, 1000)
	want := make([]float64, 16)
	var flows []Flow
	now := int64(0)
	for range 500 {
		from, to := r.IntN(8), r.IntN(8)
		amount := float64(r.IntN(10000))
		want[out[from]] += amount
		want[in[to]] += amount
		flows = append(flows, n.Start(now, amount, float64(r.IntN(300)), 0, out[from], in[to]))
		n.Settle(now)
		for len(flows) > 30 {
			now = finishFirst(&n, &flows)
		}
	}
	for len(flows) > 0 {
		finishFirst(&n, &flows)
	}
	for l := range want {
		if flows, moved := n.Load(Link(l)); flows != 0 || !near(moved, want[l], want[l]) {
			t.Errorf("link %d: %d flows, %g moved, want %g", l, flows, moved, want[l])
		}
	}
}

// finishFirst goes to the time at which the first flow is done, and ends it.
func finishFirst(n *Network, flows *[]Flow) (now int64) {
	first := 0
	for i, f := range *flows {
		if n.Due(f) < n.Due((*flows)[first]) {
			first = i
		}
	}
	now = n.Due((*flows)[first])
	n.Finish(now, (*flows)[first])
	*flows = slices.Delete(*flows, first, first+1)
	n.Settle(now)
	return now
}

// TestElsewhere: what shares no tight link with a change is not listed, even if
// a link with room joins them.
func TestElsewhere(t *testing.T) {
	var n Network
	out, in := n.ports(4, 100)
	tier := n.AddLink(400)
	a := n.Start(0, 1000, 0, 1, out[0], tier, in[1])
	n.Settle(0)
	n.Start(0, 1000, 0, 2, out[2], tier, in[3])
	n.Start(0, 1000, 0, 3, out[2], tier, in[3])
	if dues := n.Settle(0); len(dues) != 2 {
		t.Errorf("%v: want the two new ones only", dues)
	}
	n.SetCapacity(tier, 150) // now it joins them: 50 each
	if dues := n.Settle(0); len(dues) != 1 || n.Rate(a) != 50 {
		t.Errorf("%v, %g: want the first one only, at 50", dues, n.Rate(a))
	}
	n.SetCapacity(tier, 400)
	if dues := n.Settle(0); len(dues) != 1 || n.Rate(a) != 100 {
		t.Errorf("%v, %g: want the first one only, at 100", dues, n.Rate(a))
	}
}

// TestOnlyWhatCompetesIsWalked: a change must not cost more for what it cannot
// reach.
func TestOnlyWhatCompetesIsWalked(t *testing.T) {
	var n Network
	out, in := n.ports(6, 100)
	tier := n.AddLink(300 * (1 - 1e-12)) // they fill it to a part in 10^9, and no more
	walked := func() int {
		n.solver.begin()
		n.Settle(0)
		return len(n.solver.flows)
	}
	var flows []Flow
	for i := range 3 {
		flows = append(flows, n.Start(0, 1, 0, 0, out[i], tier, in[i]))
	}
	if got := walked(); got != 0 {
		t.Errorf("%d flows walked over a tier with room", got)
	}
	extra := n.Start(0, 1, 0, 0, out[3], tier, in[2])
	if got := walked(); got != 4 {
		t.Errorf("%d flows walked over a tier that is tight, want 4", got)
	}
	n.Finish(0, extra)
	if got := walked(); got == 0 {
		t.Error("nothing walked after a tier was given back")
	}
	n.Finish(0, flows[0])
	if got := walked(); got != 0 {
		t.Errorf("%d flows walked over a tier that has room again", got)
	}
	n.Start(0, 1, 0, 0, out[1], in[4])
	if got := walked(); got != 2 {
		t.Errorf("%d flows walked, want the 2 of one port", got)
	}
}

// TestAtOnce: what is done at once has moved all the same.
func TestAtOnce(t *testing.T) {
	var n Network
	l := n.AddLink(math.Inf(1))
	f := n.Start(3, 1e9, 0, 0, l)
	n.Settle(3)
	n.Finish(3, f)
	if flows, moved := n.Load(l); flows != 0 || moved != 1e9 {
		t.Errorf("%d flows, %g moved", flows, moved)
	}
}

// TestMistakes panic, as they are the caller's.
func TestMistakes(t *testing.T) {
	for name, mistake := range map[string]func(n *Network){
		"too many links":  func(n *Network) { n.Start(0, 1, 0, 0, make([]Link, MaxLinks+1)...) },
		"an unknown link": func(n *Network) { n.Start(0, 1, 0, 0, 5) },
		"finished twice":  func(n *Network) { f := n.Start(0, 1, 0, 0, 0); n.Finish(0, f); n.Finish(0, f) },
		"asked after end": func(n *Network) { f := n.Start(0, 1, 0, 0, 0); n.Finish(0, f); n.Due(f) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var n Network
			n.AddLink(1)
			mistake(&n)
		})
	}
}

// TestEpochComesRound: after four billion Settles old marks mean nothing.
func TestEpochComesRound(t *testing.T) {
	var w twin
	w.addLink(100)
	w.addLink(100)
	w.start(1e9, 0, 0)
	w.start(1e9, 0, 0, 1)
	w.settle(t)
	w.network.epoch = math.MaxUint32 // the next is 1 again, which is what the marks say
	w.start(1e9, 0, 0)
	w.settle(t)
	w.start(1e9, 0, 1)
	w.settle(t)
}

// TestSameCallsSameResults runs one random script twice.
func TestSameCallsSameResults(t *testing.T) {
	run := func() string {
		r := rand.New(rand.NewPCG(4, 4))
		var n Network
		out, in := n.ports(6, 1e10/3)
		text := ""
		now := int64(0)
		var flows []Flow
		for range 300 {
			for range r.IntN(4) {
				flows = append(flows, n.Start(now, float64(r.IntN(1e6)), float64(r.IntN(2)*r.IntN(1e9)), 0, out[r.IntN(6)], in[r.IntN(6)]))
			}
			text += fmt.Sprint(n.Settle(now))
			if len(flows) > 0 {
				now = finishFirst(&n, &flows)
			}
		}
		return text
	}
	if first, second := run(), run(); first != second {
		t.Error("two runs differ")
	}
}

// TestNothingIsAllocated once the network has had as many flows.
func TestNothingIsAllocated(t *testing.T) {
	var n Network
	out, in := n.ports(8, 100)
	var flows [64]Flow
	now := int64(0)
	round := func() {
		for i := range flows {
			flows[i] = n.Start(now, 1, float64(i%3), 0, out[i%8], in[i/8])
		}
		now = n.Settle(now)[0].At
		for _, f := range flows {
			n.Finish(now, f)
		}
		n.Settle(now)
	}
	round()
	if allocs := testing.AllocsPerRun(10, round); allocs != 0 {
		t.Errorf("%g allocations per round", allocs)
	}
}
