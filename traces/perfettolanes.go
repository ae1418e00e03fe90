package traces

import (
	"cmp"
	"container/heap"
	"slices"
)

// maxTrackLanes is how many tracks one stream gets at most for operations that
// overlap without one lying within the other, as those that are posted together do.
const maxTrackLanes = 8

// span is something with a beginning and an end that is to be drawn.
type span struct {
	start, end int64
	item       int32 // what it is, for who asked for the lanes
}

// edge is the beginning or the end of a span as it is drawn.
type edge struct {
	at    int64
	item  int32
	begin bool
	late  int64 // how much later than its beginning a span is drawn
}

// lane is a track: what is drawn on it lies side by side or one within the
// other, as calls of functions do.
type lane struct {
	edges []edge // in order of time
	open  []span // those that have begun and not ended, the innermost last
	now   int64  // of the last edge
}

// lanesOfSpans draws spans on as few tracks as hold them, and on maxTrackLanes
// at most. Beyond that, a span is drawn from when a track has room for it.
func lanesOfSpans(spans []span) []*lane {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var lanes []*lane
	for _, s := range spans {
		l := laneFor(&lanes, s)
		if l.edges == nil && len(lanes) == 1 {
			l.edges = make([]edge, 0, 2*len(spans))
		}
		l.add(s)
	}
	for _, l := range lanes {
		l.closeUntil(maxTime)
	}
	return lanes
}

// laneFor finds the first lane that has room for the span at its time, or the
// one that has room soonest.
func laneFor(lanes *[]*lane, s span) *lane {
	for _, l := range *lanes {
		l.closeUntil(s.start)
		if l.room(s) == s.start {
			return l
		}
	}
	if len(*lanes) < maxTrackLanes {
		l := &lane{}
		*lanes = append(*lanes, l)
		return l
	}
	return slices.MinFunc(*lanes, func(a, b *lane) int { return cmp.Compare(a.room(s), b.room(s)) })
}

// room is when the span can begin on the lane: not before what is drawn there
// already, and not while something is open that ends before the span does.
func (l *lane) room(s span) int64 {
	at := max(l.now, s.start)
	for i := len(l.open) - 1; i >= 0 && l.open[i].end < s.end; i-- {
		at = max(at, l.open[i].end)
	}
	return at
}

func (l *lane) add(s span) {
	at := l.room(s)
	l.closeUntil(at)
	l.edges = append(l.edges, edge{at, s.item, true, at - s.start})
	s.end = max(s.end, at)
	l.open, l.now = append(l.open, s), at
}

// closeUntil ends what is over by then.
func (l *lane) closeUntil(at int64) {
	for n := len(l.open) - 1; n >= 0 && l.open[n].end <= at; n-- {
		l.edges = append(l.edges, edge{at: l.open[n].end, item: l.open[n].item})
		l.now = l.open[n].end
		l.open = l.open[:n]
	}
}

// inOrder yields the edges of all lanes in order of time. Those of one lane
// keep their order.
func inOrder(lanes []*lane) func(yield func(lane int, e *edge) bool) {
	return func(yield func(lane int, e *edge) bool) {
		q := make(edgeQueue, 0, len(lanes))
		for i, l := range lanes {
			if len(l.edges) > 0 {
				q = append(q, laneRest{i, l.edges})
			}
		}
		heap.Init(&q)
		for len(q) > 0 {
			first := &q[0]
			if !yield(first.lane, &first.edges[0]) {
				return
			}
			if first.edges = first.edges[1:]; len(first.edges) > 0 {
				heap.Fix(&q, 0)
			} else {
				heap.Pop(&q)
			}
		}
	}
}

// laneRest is what is left of a lane.
type laneRest struct {
	lane  int
	edges []edge
}

// edgeQueue is a heap of lanes by their next edge.
type edgeQueue []laneRest

func (q edgeQueue) Len() int { return len(q) }
func (q edgeQueue) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(q[a].edges[0].at, q[b].edges[0].at), cmp.Compare(q[a].lane, q[b].lane)) < 0
}
func (q edgeQueue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }
func (q *edgeQueue) Push(x any)   { *q = append(*q, x.(laneRest)) }
func (q *edgeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
