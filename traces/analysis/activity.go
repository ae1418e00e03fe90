package analysis

import (
	"cmp"
	"slices"
)

// ActivityKind says what an activity does, and so what it can have waited for.
type ActivityKind uint8

// The kinds of activities.
const (
	Copy        ActivityKind = iota // moves bytes by itself
	Reduce                          // combines bytes by itself
	Compute                         // neither
	Signal                          // raises a slot of a peer
	Wait                            // for a slot that a peer raises
	Send                            // until the peer has received
	Receive                         // once the peer has sent
	EventRecord                     // marks a place in a stream
	EventWait                       // for such a place in another stream
)

// Activity is one operation of one stream of a rank.
type Activity struct {
	Start, End int64
	Rank       int
	Stream     uint16
	Kind       ActivityKind
	Peer       int    // the other rank, -1 if none
	Slot       uint32 // of a signal or wait; channel of a send or receive
	Value      uint64 // of a signal or wait
	// Source and Dest are the ranks between which a copy or a reduction moves
	// Chunk and Slice.
	Source, Dest int
	Chunk, Slice uint32
}

// slotKey names a slot or a channel from one rank to another.
type slotKey struct {
	from, to int
	slot     uint32
}

// pieceKey names a piece of a chunk at a rank.
type pieceKey struct {
	rank         int
	chunk, slice uint32
}

type streamKey struct {
	rank   int
	stream uint16
}

// activityGraph finds what an activity can have waited for. Numbers are
// indices of activities; lists are in order of end.
type activityGraph struct {
	list    []Activity
	streams map[int][]*streamOrder // by rank, in order of stream numbers
	place   []streamPlace          // by activity
	signals map[slotKey][]int
	pieces  map[pieceKey][]int // that came to a rank
	landed  map[int][]int      // what peers moved into a rank's memory
	matches map[int]int        // from a send to its receive and back
	taken   []bool             // activities on the path
}

// streamOrder is one stream's activities and how many of them the path may
// still go through.
type streamOrder struct {
	stream uint16
	order  []int
	events []int // those of order that record an event
	left   int
}

type streamPlace struct {
	of *streamOrder
	at int
}

func newActivityGraph(list []Activity) *activityGraph {
	g := &activityGraph{
		list: list, streams: make(map[int][]*streamOrder), place: make([]streamPlace, len(list)), taken: make([]bool, len(list)),
		signals: make(map[slotKey][]int), pieces: make(map[pieceKey][]int), landed: make(map[int][]int), matches: make(map[int]int),
	}
	order := g.byEnd()
	streams := make(map[streamKey]*streamOrder)
	for _, i := range order {
		a := &list[i]
		key := streamKey{a.Rank, a.Stream}
		if streams[key] == nil {
			streams[key] = &streamOrder{stream: a.Stream}
			g.streams[a.Rank] = append(g.streams[a.Rank], streams[key])
		}
		s := streams[key]
		g.place[i] = streamPlace{s, len(s.order)}
		s.order = append(s.order, i)
		s.left++
		if a.Kind == EventRecord {
			s.events = append(s.events, i)
		}
		g.index(i)
	}
	for _, list := range g.streams {
		slices.SortFunc(list, func(a, b *streamOrder) int { return cmp.Compare(a.stream, b.stream) })
	}
	g.match()
	return g
}

// byEnd gives all activities in the order in which they end.
func (g *activityGraph) byEnd() []int {
	order := make([]int, len(g.list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &g.list[i], &g.list[j]
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Start, b.Start), cmp.Compare(i, j))
	})
	return order
}

// index enters what other activities may wait for.
func (g *activityGraph) index(i int) {
	switch a := &g.list[i]; a.Kind {
	case Signal:
		key := slotKey{a.Rank, a.Peer, a.Slot}
		g.signals[key] = append(g.signals[key], i)
	case Copy, Reduce:
		if a.Source != a.Dest {
			key := pieceKey{a.Dest, a.Chunk, a.Slice}
			g.pieces[key] = append(g.pieces[key], i)
			if a.Rank != a.Dest {
				g.landed[a.Dest] = append(g.landed[a.Dest], i)
			}
		}
	}
}

// match pairs the k-th send of a channel with its k-th receive.
func (g *activityGraph) match() {
	sends, receives := make(map[slotKey][]int), make(map[slotKey][]int)
	for i := range g.list {
		switch a := &g.list[i]; a.Kind {
		case Send:
			key := slotKey{a.Rank, a.Peer, a.Slot}
			sends[key] = append(sends[key], i)
		case Receive:
			key := slotKey{a.Peer, a.Rank, a.Slot}
			receives[key] = append(receives[key], i)
		}
	}
	inOrder := func(i, j int) int {
		a, b := &g.list[i], &g.list[j]
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Start, b.Start), cmp.Compare(i, j))
	}
	for key, from := range sends {
		to := receives[key]
		slices.SortFunc(from, inOrder)
		slices.SortFunc(to, inOrder)
		for k := range min(len(from), len(to)) {
			g.matches[from[k]], g.matches[to[k]] = to[k], from[k]
		}
	}
}

// raised is the signal that ended a wait: the first one of a value that was
// enough.
func (g *activityGraph) raised(wait *Activity) (int, bool) {
	list := g.signals[slotKey{wait.Peer, wait.Rank, wait.Slot}]
	at, _ := slices.BinarySearchFunc(list, wait.Value, func(i int, value uint64) int { return cmp.Compare(g.list[i].Value, value) })
	if at == len(list) || g.taken[list[at]] {
		return 0, false
	}
	return list[at], true
}

// lastBy is the last of a list that ended by the given time.
func (g *activityGraph) lastBy(list []int, by int64) (int, bool) {
	at, _ := slices.BinarySearchFunc(list, by+1, func(i int, t int64) int { return cmp.Compare(g.list[i].End, t) })
	if at == 0 || g.taken[list[at-1]] {
		return 0, false
	}
	return list[at-1], true
}

// before is the activity of the rank that ended last by the given time; of
// the given stream, if it ended little earlier than that.
func (g *activityGraph) before(rank int, stream uint16, by int64) (int, bool) {
	found, ok := 0, false
	for _, s := range g.streams[rank] {
		i, any := g.lastOf(s, by)
		if !any {
			continue
		}
		end := g.list[i].End
		if s.stream == stream {
			end += handOverNanos
		}
		best := int64(0)
		if ok {
			best = g.list[found].End
			if g.list[found].Stream == stream {
				best += handOverNanos
			}
		}
		if !ok || end > best {
			found, ok = i, true
		}
	}
	return found, ok
}

// handOverNanos is the time between two operations of a stream that needs no
// explanation.
const handOverNanos = 2000

// lastOf is the last activity of a stream that ended by the given time. Times
// asked for never grow.
func (g *activityGraph) lastOf(s *streamOrder, by int64) (int, bool) {
	for s.left > 0 {
		i := s.order[s.left-1]
		if g.list[i].End <= by && !g.taken[i] {
			return i, true
		}
		s.left--
	}
	return 0, false
}

// recorded is the newest event of the rank that was recorded by the given
// time.
func (g *activityGraph) recorded(rank int, stream uint16, by int64) (int, bool) {
	found, ok := 0, false
	for _, s := range g.streams[rank] {
		i, any := g.lastBy(s.events, by)
		if any && s.stream != stream && (!ok || g.list[i].End > g.list[found].End) {
			found, ok = i, true
		}
	}
	return found, ok
}

// take puts an activity on the path: its stream's later ones are not on it.
func (g *activityGraph) take(i int) {
	g.taken[i] = true
	p := g.place[i]
	p.of.left = min(p.of.left, p.at)
}

// floor is when the activity can have begun: not before the one ahead of it in
// its stream ended.
func (g *activityGraph) floor(i int) int64 {
	start := g.list[i].Start
	if p := g.place[i]; p.at > 0 {
		start = max(start, g.list[p.of.order[p.at-1]].End)
	}
	return start
}
