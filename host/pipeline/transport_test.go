package pipeline

import (
	"math/rand/v2"
	"testing"
)

// crossing is one rank's transfers of a bucket: steps one after the other, of
// ways that are gone at the same time. A bucket has arrived at a rank, or is gone
// from it, as soon as its own ways are served, whatever others still wait for.
type crossing struct {
	task  int
	steps [][]passage
	step  int
}

// passage is one way that a bucket takes.
type passage struct {
	from, to int32
	sum      bool // along the chain of parts
	answer   bool // from a destination that has copied it
}

// served is a passage on its way: both ends have come to it.
type served struct {
	bucket int32
	passage
}

// cross has a rank that has launched a task begin with its transfers. One that
// adds parts waits for what comes before it sends; one that passes the whole on
// waits for it; a source from which others copy waits until they have.
func (c *cluster) cross(rank, task int) {
	t, me := &c.nodes[rank].tasks[task], int32(rank)
	x := &crossing{task: task}
	one := func(p passage, e Edge) {
		if e.Rank >= 0 {
			x.steps = append(x.steps, []passage{p})
		}
	}
	one(passage{from: t.AddFrom.Rank, to: me, sum: true}, t.AddFrom)
	one(passage{from: me, to: t.AddTo.Rank, sum: true}, t.AddTo)
	one(passage{from: t.From.Rank, to: me}, t.From)
	var out []passage
	for _, e := range t.To {
		out = append(out, passage{from: me, to: e.Rank})
		if c.plan.Direct(t) {
			out = append(out, passage{from: e.Rank, to: me, answer: true})
		}
	}
	if len(out) > 0 {
		x.steps = append(x.steps, out)
	}
	if c.crossings[t.Bucket] == nil {
		c.crossings[t.Bucket] = make(map[int32]*crossing)
	}
	c.crossings[t.Bucket][me] = x
	c.begin(t.Bucket, me)
}

// begin has a rank come to a step of its transfers: those go whose other ends
// have come to it too. After the last the bucket has arrived.
func (c *cluster) begin(bucket, rank int32) {
	x := c.crossings[bucket][rank]
	if x.step == len(x.steps) {
		c.send(int(rank), Event{Kind: Arrived, Task: int32(x.task)})
		return
	}
	for _, p := range x.steps[x.step] {
		if other := c.crossings[bucket][p.from+p.to-rank]; !p.answer && other != nil && other.waitsFor(p) {
			c.pending = append(c.pending, delivery{served: &served{bucket, p}})
		}
	}
}

func (x *crossing) waitsFor(p passage) bool {
	if x.step < len(x.steps) {
		for _, q := range x.steps[x.step] {
			if p == q {
				return true
			}
		}
	}
	return false
}

// serve ends a passage at both ends.
func (c *cluster) serve(s *served) {
	for _, rank := range []int32{s.from, s.to} {
		x := c.crossings[s.bucket][rank]
		if s.answer && rank == s.from { // its transfers were over when it was invited
			continue
		}
		left := x.steps[x.step][:0]
		for _, p := range x.steps[x.step] {
			if p != s.passage {
				left = append(left, p)
			}
		}
		if x.steps[x.step] = left; len(left) == 0 {
			x.step++
			c.begin(s.bucket, rank)
		}
	}
}

// answer has a destination that has copied a bucket tell its source.
func (c *cluster) answer(bucket, from int32) {
	source := c.plan.Channels[c.plan.Buckets[bucket].Channel].Source
	c.pending = append(c.pending, delivery{served: &served{bucket, passage{from: from, to: source, answer: true}}})
}

// direct is a mesh whose buckets are all copied from their sources.
func direct(t *testing.T, transport Transport) *Plan {
	var entries []Entry
	for row := range 3 {
		for s := range int32(3) {
			for d := range int32(3) {
				e := box(s, []int32{3 + d}, 512)
				if row == 1 {
					e.Destinations = []int32{s, 3 + d}
				}
				e.Transport = transport
				entries = append(entries, e)
			}
		}
	}
	return build(t, 6, entries, 0)
}

// TestDirectInOrder: a source whose buckets are copied from where they lie is
// done when they have been, so in order they are written one after the other,
// over all ranks; the run ends, whatever the limits. Packed ones are not.
func TestDirectInOrder(t *testing.T) {
	for _, transport := range []Transport{Packed, Direct} {
		p := direct(t, transport)
		most := 0
		for _, publish := range []Publish{InOrder, OneByOne} {
			for _, policy := range []Policy{AllAtOnce, Windowed, Serialized, Credits, Scripted} {
				for _, l := range []Limits{{MaxBuckets: 1, MaxInFlight: 1, Streams: 1}, {MaxInFlight: 4, Streams: 8, MaxBytes: 1024}} {
					l.Wires, l.Window, l.Policy, l.Publish = 1, 2, policy, publish
					ended(t, p, l)
				}
			}
		}
		for seed := range uint64(20) {
			c, err := newCluster(rand.New(rand.NewPCG(seed, 3)), p, Limits{Wires: 4, Publish: InOrder})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.run(); err != nil {
				t.Fatal(err)
			}
			most = max(most, c.mostWriting)
		}
		if transport == Direct && most != 1 || transport == Packed && most < 4 {
			t.Errorf("%v: %d buckets are written at the same time", transport, most)
		}
	}
}
