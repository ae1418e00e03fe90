package analysis

// SegmentKind says what a piece of a critical path was spent on.
type SegmentKind uint8

// The kinds of segments.
const (
	CopySegment    SegmentKind = iota // the rank moved bytes
	ReduceSegment                     // the rank combined bytes
	ComputeSegment                    // the rank computed
	SignalSegment                     // the rank raised a signal or marked an event
	WaitSegment                       // the rank waited, and nothing on record kept the one it waited for busy
	HostSegment                       // the rank did nothing that is on record
	SkewSegment                       // the rank had not begun yet
	CallSegment                       // the rank was in a call whose steps are not on record
)

var segmentKinds = [...]string{"copy", "reduce", "compute", "signal", "wait", "host", "start_skew", "call"}

// String is the kind in snake case.
func (k SegmentKind) String() string {
	if int(k) < len(segmentKinds) {
		return segmentKinds[k]
	}
	return "unknown"
}

// Segment is a piece of the chain of operations that a collective's time is
// made of.
type Segment struct {
	Start, End int64
	Rank       int
	Kind       SegmentKind
	Peer       int // whom a wait was for, the other rank of a copy; -1 if none
	// Activity is the index of the activity that the rank carried out, -1 if
	// there is none.
	Activity int
}

// Nanos is how long the segment is.
func (s *Segment) Nanos() int64 { return s.End - s.Start }

// Part is one rank's time in a collective.
type Part struct {
	Rank          int
	Start, Finish int64
	Called        bool // the device carried it out as one call, whose waits are not on record
	// Computing is when the rank computed, as a union, whatever for.
	Computing []Interval
}

// CriticalPath goes back from the end of a collective, which is the end of the
// last activity of the rank that finished last, through what each activity
// waited for, to the start of the first rank. The segments are in order of
// time, follow each other without a gap, and so add up to the time of the
// collective. Parts are in order of rank; no part is no path.
func CriticalPath(parts []Part, activities []Activity) []Segment {
	if len(parts) == 0 {
		return nil
	}
	w := &walk{graph: newActivityGraph(activities), parts: make(map[int]*Part, len(parts)), start: parts[0].Start}
	last := &parts[0]
	for i := range parts {
		w.parts[parts[i].Rank] = &parts[i]
		w.start = min(w.start, parts[i].Start)
		if parts[i].Finish > last.Finish {
			last = &parts[i]
		}
	}
	w.now = max(last.Finish, w.start)
	if len(activities) == 0 {
		w.unrecorded(parts, last)
	} else {
		w.follow(last.Rank)
	}
	for i, j := 0, len(w.path)-1; i < j; i, j = i+1, j-1 {
		w.path[i], w.path[j] = w.path[j], w.path[i]
	}
	return w.path
}

// walk is the way back from the end.
type walk struct {
	graph *activityGraph
	parts map[int]*Part
	start int64
	now   int64
	path  []Segment // the latest first
}

// back adds the segment from a time up to now, and goes there.
func (w *walk) back(to int64, s Segment) {
	to = max(to, w.start)
	if to >= w.now {
		return
	}
	s.Start, s.End = to, w.now
	w.now = to
	if n := len(w.path); n > 0 && w.path[n-1].continues(&s) {
		w.path[n-1].Start = to
		return
	}
	w.path = append(w.path, s)
}

// continues reports whether an earlier segment is more of the same.
func (s *Segment) continues(earlier *Segment) bool {
	return s.Rank == earlier.Rank && s.Kind == earlier.Kind && s.Peer == earlier.Peer && s.Activity == earlier.Activity
}

// unrecorded explains a collective without records of its operations: all wait
// for the one that begins last, and then it takes its time.
func (w *walk) unrecorded(parts []Part, last *Part) {
	late := &parts[0]
	for i := range parts {
		if parts[i].Start > late.Start {
			late = &parts[i]
		}
	}
	w.back(late.Start, Segment{Rank: last.Rank, Kind: CallSegment, Peer: -1, Activity: -1})
	w.skew(late.Rank)
}

// skew ends the path at the start of a rank.
func (w *walk) skew(rank int) {
	w.back(w.start, Segment{Rank: rank, Kind: SkewSegment, Peer: -1, Activity: -1})
}

// follow goes back from the end of a rank to the start of the collective.
func (w *walk) follow(rank int) {
	next, ok := w.earlier(&Activity{Rank: rank, Kind: EventRecord, Peer: -1, Source: rank, Dest: rank})
	for ok && w.now > w.start {
		next, ok = w.through(next)
	}
}

// idle is time of a rank of which the collective has no record: the rank may
// have computed something else.
func (w *walk) idle(rank int, from int64) {
	s := Segment{Rank: rank, Kind: HostSegment, Peer: -1, Activity: -1}
	p := w.parts[rank]
	switch {
	case p == nil:
	case p.Called:
		s.Kind = WaitSegment
	default:
		near := Within(p.Computing, Interval{from, w.now})
		for i := len(near) - 1; i >= 0; i-- {
			w.back(max(near[i].End, from), s)
			computing := s
			computing.Kind = ComputeSegment
			w.back(max(near[i].Start, from), computing)
		}
	}
	w.back(from, s)
}

// through goes back through an activity and gives the one that it waited for.
func (w *walk) through(i int) (next int, ok bool) {
	g := w.graph
	g.take(i)
	a := &g.list[i]
	switch a.Kind {
	case Wait:
		if cause, found := g.raised(a); found {
			return w.released(i, cause)
		}
		return w.unexplained(i)
	case EventWait:
		if cause, found := g.recorded(a.Rank, a.Stream, w.now); found {
			return w.released(i, cause)
		}
	case Send:
		if cause, found := g.matches[i]; found && !g.taken[cause] {
			return w.released(i, cause)
		}
		return w.unexplained(i)
	case Receive:
		return w.received(i)
	}
	w.own(i, g.floor(i))
	return w.earlier(a)
}

// own adds an activity's own time.
func (w *walk) own(i int, from int64) {
	a := &w.graph.list[i]
	kind := [...]SegmentKind{CopySegment, ReduceSegment, ComputeSegment, SignalSegment, WaitSegment, WaitSegment, CopySegment, SignalSegment, WaitSegment}[a.Kind]
	w.back(from, Segment{Rank: a.Rank, Kind: kind, Peer: a.Peer, Activity: i})
}

// released goes from a wait to what ended it, if that was while it waited.
func (w *walk) released(wait, cause int) (next int, ok bool) {
	a, c := &w.graph.list[wait], &w.graph.list[cause]
	if from := w.graph.floor(wait); c.End <= from || c.Start >= w.now {
		w.own(wait, from)
		return w.earlier(a)
	}
	w.own(wait, min(c.End, w.now))
	return cause, true
}

// unexplained is a wait for a rank of which there is no record: perhaps it had
// not begun.
func (w *walk) unexplained(i int) (next int, ok bool) {
	a := &w.graph.list[i]
	from := w.graph.floor(i)
	if p := w.parts[a.Peer]; p != nil && p.Start > from && p.Start < w.now {
		w.own(i, p.Start)
		w.skew(a.Peer)
		return 0, false
	}
	w.own(i, from)
	return w.earlier(a)
}

// received goes through a receive: it moves bytes from when they have been
// sent.
func (w *walk) received(i int) (next int, ok bool) {
	g := w.graph
	a, from := &g.list[i], g.floor(i)
	cause, found := g.matches[i]
	if !found || g.list[cause].Start <= from {
		w.own(i, from)
		return w.earlier(a)
	}
	sent := &g.list[cause]
	w.own(i, min(sent.Start, w.now))
	g.take(cause)
	return w.earlier(sent)
}

// earlier finds what held up an activity that began just now: the one ahead of
// it, or a peer.
func (w *walk) earlier(a *Activity) (next int, ok bool) {
	g := w.graph
	before, ok := g.before(a.Rank, a.Stream, w.now)
	ended := w.start
	if p := w.parts[a.Rank]; p != nil {
		ended = max(ended, min(p.Start, w.now))
	}
	if ok {
		ended = g.list[before].End
	}
	if cause, found := w.brought(a, ended, ok); found {
		w.back(g.list[cause].End, Segment{Rank: a.Rank, Kind: WaitSegment, Peer: g.list[cause].Rank, Activity: -1})
		return cause, true
	}
	if w.begun(a, ended) {
		return 0, false
	}
	w.idle(a.Rank, ended)
	if !ok {
		w.skew(a.Rank)
	}
	return before, ok
}

// brought is the activity of a peer that brought what an activity uses after
// the one ahead of it had ended: the piece that it moves, or, since waits need
// not be on record, whatever came last into the memory of a rank that did
// nothing for a while.
func (w *walk) brought(a *Activity, ended int64, ahead bool) (cause int, ok bool) {
	g := w.graph
	if (a.Kind == Copy || a.Kind == Reduce) && a.Source != a.Rank {
		cause, ok = g.lastBy(g.pieces[pieceKey{a.Source, a.Chunk, a.Slice}], w.now)
	}
	if !ok && (!ahead || w.now-ended > handOverNanos) {
		cause, ok = g.lastBy(g.landed[a.Rank], w.now)
	}
	return cause, ok && g.list[cause].End > ended
}

// begun ends the path if an activity could only start once its peer had.
func (w *walk) begun(a *Activity, ended int64) bool {
	if a.Kind != Copy && a.Kind != Reduce {
		return false
	}
	other := a.Source
	if other == a.Rank {
		other = a.Dest
	}
	p := w.parts[other]
	if other == a.Rank || p == nil || p.Start <= ended || p.Start > w.now {
		return false
	}
	w.back(p.Start, Segment{Rank: a.Rank, Kind: WaitSegment, Peer: other, Activity: -1})
	w.skew(other)
	return true
}
