package pipeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// crowd is a plan of so many channels of one bucket each, or so.
type crowd struct {
	name    string
	ranks   int
	entries func(n int) []Entry
	rounds  bool // all of it is ordered in rounds, however many there are
}

// crowds are plans with many channels, of which few can go at the same time.
func crowds() []crowd {
	// set goes to the ranks, from 4 on, that the bits of a number say.
	set := func(source int32, bits int) Entry {
		e := box(source, nil, 8)
		for r := int32(4); bits > 0; bits, r = bits/2, r+1 {
			if bits%2 > 0 {
				e.Destinations = append(e.Destinations, r)
			}
		}
		return e
	}
	return []crowd{
		{"sums of one cell each, that stay", 2, func(n int) []Entry {
			return each(n, func(i int) Entry {
				e := box(0, []int32{0}, 8)
				e.Parts, e.Type, e.Cell = []int32{0, 1}, op.F32, uint32(i)
				return e
			})
		}, true},
		{"sums of one cell each, at two ranks", 4, func(n int) []Entry {
			return each(n, func(i int) Entry {
				e := box(int32(i%2), []int32{int32(i % 2)}, 8)
				e.Parts, e.Type, e.Cell = []int32{int32(i % 2), int32(2 + i%2)}, op.F32, uint32(i)
				return e
			})
		}, true},
		{"parts of one rank, that stay", 2, func(n int) []Entry {
			return each(n, func(i int) Entry {
				e := box(0, []int32{0}, 8)
				e.Parts, e.Type, e.Cell = []int32{0}, op.F32, uint32(i)
				return e
			})
		}, true},
		{"one source, many destination sets", 30, func(n int) []Entry {
			return each(n, func(i int) Entry { return set(0, i+1) })
		}, true},
		{"three sources, many destination sets", 30, func(n int) []Entry {
			return each(n, func(i int) Entry { return set(int32(3*i/n), i%(n/3+1)+1) })
		}, false},
		{"chains through all", 30, func(n int) []Entry {
			return each(n, func(i int) Entry {
				e := set(int32(i%3), i/3+1)
				e.Transport = Chain
				return e
			})
		}, false},
	}
}

func each(n int, entry func(i int) Entry) []Entry {
	list := make([]Entry, n)
	for i := range list {
		list[i] = entry(i)
	}
	return list
}

// TestOrderOfManyChannels counts the ranks that are looked at: no more than
// grows with the buckets, or than the bound.
func TestOrderOfManyChannels(t *testing.T) {
	const n = 1 << 14
	for _, c := range crowds() {
		p := build(t, c.ranks, c.entries(n), 0)
		if len(p.Channels) < n/2 {
			t.Errorf("%s: only %d channels", c.name, len(p.Channels))
		}
		turns := newTurns(p)
		most := 1 << 22
		if c.rounds {
			most = looksMax
		}
		turns.takeAll(most)
		width := 0 // of all channels
		for i := range turns.of {
			width += len(turns.of[i].senders) + len(turns.of[i].receivers)
		}
		sorted := max(sortedMax, len(p.Channels)) * (width/len(p.Channels) + 1)
		if bound := sorted + 4*width + 4*len(p.Buckets); c.rounds && turns.looks > bound {
			t.Errorf("%s: %d ranks are looked at, more than %d", c.name, turns.looks, bound)
		}
		if turns.looks > most+2*width || !c.rounds && turns.looks < most {
			t.Errorf("%s: %d ranks are looked at, of at most %d", c.name, turns.looks, most)
		}
		checkTurns(t, c.name, p)
	}
}

// checkTurns checks that each bucket has one place, and that those of a channel
// come as they were formed.
func checkTurns(t *testing.T, name string, p *Plan) {
	t.Helper()
	next := make([]int, len(p.Channels))
	for place, b := range p.Order {
		c := p.Buckets[b].Channel
		if next[c] == len(p.Channels[c].Buckets) || p.Channels[c].Buckets[next[c]] != b {
			t.Fatalf("%s: place %d has bucket %d, which is not channel %d's next", name, place, b, c)
		}
		next[c]++
	}
	if len(p.Order) != len(p.Buckets) {
		t.Errorf("%s: %d buckets have places, of %d", name, len(p.Order), len(p.Buckets))
	}
}

// TestOrderAfterTheBound cuts the rounds of random plans short at any moment.
func TestOrderAfterTheBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	cut := 0
	for n := range 1000 {
		ranks := 1 + rng.IntN(9)
		p := build(t, ranks, randomEntries(rng, ranks, 1+rng.IntN(60)), rng.Int64N(2000))
		whole := slices.Clone(p.Order)
		turns := newTurns(p)
		turns.takeAll(rng.IntN(200))
		checkTurns(t, "a plan that is cut short", p)
		if !slices.Equal(whole, p.Order) {
			cut++
		}
		p.place()
		if err := partners(p); err != nil {
			t.Fatalf("case %d: %v", n, err)
		}
	}
	if cut < 100 {
		t.Errorf("only %d orders are others than in rounds", cut)
	}
}

// TestRestTakesTurns: what is left goes source by source in turns, and bucket by
// bucket of each channel.
func TestRestTakesTurns(t *testing.T) {
	var entries []Entry
	for range 2 {
		for s := range int32(2) {
			for d := range int32(3) {
				entries = append(entries, box(s, []int32{2 + d}, 8))
			}
		}
	}
	p := build(t, 5, entries, 0)
	turns := newTurns(p)
	turns.takeAll(-1)
	for place, b := range p.Order {
		if c := p.Channels[p.Buckets[b].Channel]; slices.Index(c.Buckets, b) != place/6 || place%2 == 0 && c.Source == p.Channels[p.Buckets[p.Order[place+1]].Channel].Source {
			t.Fatalf("place %d: bucket %d of rank %d, in %v", place, b, c.Source, p.Order)
		}
	}
}

// BenchmarkOrder is plans of 2^20 entries, each with a channel of its own, and a
// mesh of few.
func BenchmarkOrder(b *testing.B) {
	all := append(crowds(), crowd{"a mesh of 64 to 64", 128, func(n int) []Entry {
		return each(n, func(i int) Entry { return box(int32(i%64), []int32{int32(64 + i/64%64)}, 8) })
	}, true})
	for _, c := range all {
		b.Run(c.name, func(b *testing.B) {
			entries := c.entries(1 << 20)
			for b.Loop() {
				p, err := Build(c.ranks, entries, 0)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(p.Channels)), "channels")
			}
		})
	}
}
