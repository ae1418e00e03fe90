package pipeline

// ways are the directed pairs of ranks that a rank is at one end of, and which
// of its tasks take them. A task takes a way with one ordinal, or, in a chain of
// destinations that follows the chain of parts, with two.
type ways struct {
	all   []way
	first []int32 // by task and one more: its first leg
	legs  []leg
	out   []int32 // by rank: the way to it, -1 for none
	in    []int32 // by rank: the way from it
}

// way is one of them.
type way struct {
	peer  int32
	legs  []int32 // by ordinal: which leg takes it
	count uint32  // out: credits; in: how many of the first are admitted
}

// leg is a task's use of a way.
type leg struct {
	task, way int32
	ordinal   uint32
	out       bool
	credit    bool // the task waits until the receiver has admitted it
}

// lay notes the ways of tasks.
//
// A task waits for the credits of those it sends to, but for receivers of the
// whole that have a part in it: they in turn wait, along the chain of parts, for
// the source's. So a rank's wait goes up the chain of parts, to the source, or
// leaves it, for ranks that wait for none in the chain: never in a circle.
func (w *ways) lay(p *Plan, tasks []Task) {
	w.out, w.in = make([]int32, p.Ranks), make([]int32, p.Ranks)
	for r := range w.out {
		w.out[r], w.in[r] = -1, -1
	}
	w.first = make([]int32, 1, len(tasks)+1)
	for i := range tasks {
		t := &tasks[i]
		w.add(w.in, i, t.AddFrom, false, false)
		w.add(w.in, i, t.From, false, false)
		w.add(w.out, i, t.AddTo, true, true)
		for _, e := range t.To {
			w.add(w.out, i, e, true, !p.Channels[t.Channel].adds(e.Rank))
		}
		w.first = append(w.first, int32(len(w.legs)))
	}
	lists := group(len(w.all), len(w.legs), func(l int) int32 { return w.legs[l].way })
	for i := range w.all {
		w.all[i].legs = lists[i]
	}
}

func (w *ways) add(index []int32, task int, e Edge, out, credit bool) {
	if e.Rank < 0 {
		return
	}
	if index[e.Rank] < 0 {
		index[e.Rank] = int32(len(w.all))
		w.all = append(w.all, way{peer: e.Rank})
	}
	w.legs = append(w.legs, leg{task: int32(task), way: index[e.Rank], ordinal: e.Ordinal, out: out, credit: credit})
}

// adds reports whether a rank's part is added in the channel.
func (c *Channel) adds(rank int32) bool {
	if len(c.Parts) < 2 {
		return false
	}
	for _, r := range c.Parts {
		if r == rank {
			return true
		}
	}
	return false
}

// reset counts, for each task, the buckets that come before it on its wires and
// the credits that it needs.
func (w *ways) reset(wires int, before, owed []int32) {
	clear(before)
	clear(owed)
	for i := range w.all {
		w.all[i].count = 0
	}
	for i := range w.legs {
		l := &w.legs[i]
		if l.credit {
			owed[l.task]++
		}
		if next := w.follower(l, wires); next >= 0 {
			before[next]++
		}
	}
}

// follower is the task that uses a leg's wire next, -1 if none or the same does.
func (w *ways) follower(l *leg, wires int) int32 {
	legs := w.all[l.way].legs
	if wires >= len(legs)-int(l.ordinal) {
		return -1
	}
	if next := w.legs[legs[int(l.ordinal)+wires]].task; next != l.task {
		return next
	}
	return -1
}

// arrive lets those go on that use a task's wires next.
func (w *ways) arrive(task, wires int, before []int32) {
	for i := w.first[task]; i < w.first[task+1]; i++ {
		if next := w.follower(&w.legs[i], wires); next >= 0 {
			before[next]--
		}
	}
}

// credit notes that a peer has admitted the first so many buckets that come from
// here.
func (w *ways) credit(peer int32, value uint64, policy Policy, owed []int32) {
	if policy != Credits || peer < 0 || int(peer) >= len(w.out) || w.out[peer] < 0 {
		return
	}
	way := &w.all[w.out[peer]]
	for ; uint64(way.count) < min(value, uint64(len(way.legs))); way.count++ {
		if l := &w.legs[way.legs[way.count]]; l.credit {
			owed[l.task]--
		}
	}
}

// grant tells those who send to a task how far they may go.
func (w *ways) grant(task int, phases []phase, policy Policy, to []Action) []Action {
	if policy != Credits {
		return to
	}
	for i := w.first[task]; i < w.first[task+1]; i++ {
		if w.legs[i].out {
			continue
		}
		way := &w.all[w.legs[i].way]
		before := way.count
		for int(way.count) < len(way.legs) && phases[w.legs[way.legs[way.count]].task] != waiting {
			way.count++
		}
		if way.count > before {
			to = append(to, Action{Kind: Grant, Task: int32(task), Peer: way.peer, Value: uint64(way.count)})
		}
	}
	return to
}
