package pipeline

import "slices"

// Edge is a way from one rank to another that a bucket takes.
type Edge struct {
	Rank    int32  // at the other end; -1 for no edge
	Ordinal uint32 // of the bucket among those that take the way, in place order
}

var noEdge = Edge{Rank: -1}

// Task is a rank's part in a bucket.
//
// Parts are added up in a chain: those of the ranks but the source, ascending,
// then the source's. Each rank of it takes what AddFrom has added up, adds its
// own part, and gives it to AddTo; the source goes on with the whole bucket.
type Task struct {
	Bucket, Place, Channel int32
	Bytes                  int64

	From    Edge   // whom the whole bucket comes from
	To      []Edge // whom it is sent to
	AddFrom Edge   // whom the sum of the parts before comes from
	AddTo   Edge   // whom the sum with this rank's part is sent to

	Part   bool // a part of this rank is added
	Source bool // it is this rank's to give
	Stays  bool // the source is a destination itself: it copies from src, or from the sum, to dst
	Lands  bool // it is written to dst here
}

// Wired reports whether the task sends or receives anything.
func (t *Task) Wired() bool {
	return t.From.Rank >= 0 || len(t.To) > 0 || t.AddFrom.Rank >= 0 || t.AddTo.Rank >= 0
}

// Tasks is what a rank has to do with the plan, in place order.
func (p *Plan) Tasks(rank int) []Task {
	roles, count, edges := make([]Task, len(p.Channels)), 0, 0
	for c := range p.Channels {
		roles[c] = p.Channels[c].role(int32(rank))
		if roles[c].idle() {
			continue
		}
		count += len(p.Channels[c].Buckets)
		edges += len(p.Channels[c].Buckets) * len(roles[c].To)
	}
	tasks, to := make([]Task, 0, count), make([]Edge, edges)
	sent, received := make([]uint32, p.Ranks), make([]uint32, p.Ranks)
	next := func(e *Edge, counts []uint32) {
		if e.Rank >= 0 {
			e.Ordinal = counts[e.Rank]
			counts[e.Rank]++
		}
	}
	for place, number := range p.Order {
		b := &p.Buckets[number]
		t := roles[b.Channel]
		if t.idle() {
			continue
		}
		t.Bucket, t.Place, t.Channel, t.Bytes = number, int32(place), b.Channel, b.Bytes
		n := copy(to, t.To)
		t.To, to = to[:n:n], to[n:]
		// Both ends of a way count alike: parts go before the whole.
		next(&t.AddFrom, received)
		next(&t.From, received)
		next(&t.AddTo, sent)
		for i := range t.To {
			next(&t.To[i], sent)
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// idle reports whether the rank has no part in the bucket.
func (t *Task) idle() bool { return !t.Source && !t.Lands && !t.Part }

// role is what a rank does with each bucket of a channel.
func (c *Channel) role(rank int32) Task {
	t := Task{From: noEdge, AddFrom: noEdge, AddTo: noEdge, Source: rank == c.Source}
	t.Lands = slices.Contains(c.Destinations, rank)
	t.Stays = t.Source && t.Lands
	c.addRole(&t, rank)
	if c.Transport != Chain {
		if t.Source {
			for _, d := range c.Destinations {
				if d != rank {
					t.To = append(t.To, Edge{Rank: d})
				}
			}
		} else if t.Lands {
			t.From.Rank = c.Source
		}
		return t
	}
	last := c.Source
	for _, d := range c.Destinations {
		if d == c.Source {
			continue
		}
		if d == rank {
			t.From.Rank = last
		}
		if last == rank {
			t.To = []Edge{{Rank: d}}
		}
		last = d
	}
	return t
}

// addRole finds a rank's neighbours in the chain of parts.
func (c *Channel) addRole(t *Task, rank int32) {
	if len(c.Parts) < 2 {
		return
	}
	last := int32(-1)
	link := func(r int32) {
		if r == rank {
			t.Part, t.AddFrom.Rank = true, last
		}
		if last == rank && last >= 0 {
			t.AddTo.Rank = r
		}
		last = r
	}
	for _, r := range c.Parts {
		if r != c.Source {
			link(r)
		}
	}
	link(c.Source)
}
