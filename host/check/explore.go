package check

import "slices"

// choice is an operation whose order matters, by where it stands.
type choice struct{ stream, at int }

// rivals reports whether the order of an operation that a stream has come to
// and of what other streams of the rank still have to do matters.
func (r *run) rivals(stream int, s *step) bool {
	switch {
	case s.Kind == Signal:
		for _, other := range r.plan.slots[s.object].signals {
			if other.stream != stream && r.pending(other) && r.conflict(s, other) && !r.precedes(s, other) {
				return true
			}
		}
	case s.isMessage():
		for _, other := range r.sameEnd(s) {
			if other.stream != stream && r.pending(other) && !r.precedes(s, other) {
				return true
			}
		}
	}
	return false
}

// pending reports whether a stream has still to come to an operation.
func (r *run) pending(s *step) bool { return r.streams[s.stream].next <= s.at }

// conflict reports whether it matters which of two signals of a slot comes
// first: whether a wait that has not ended yet may be ended by either.
func (r *run) conflict(one, other *step) bool {
	low := min(one.Value, other.Value)
	next, ok := firstAbove(r.plan.slots[one.object].thresholds, r.slots[one.object].value())
	return ok && next <= low
}

// sameEnd lists the messages of a channel at the same end.
func (r *run) sameEnd(s *step) []*step {
	if s.Kind == Send {
		return r.plan.channels[s.object].sends
	}
	return r.plan.channels[s.object].recvs
}

// choices lists what could come next, once all else is settled.
func (r *run) choices() []choice {
	var all []choice
	for i := range r.streams {
		if s := r.nextOf(i); s != nil && (s.Kind == Signal || s.isMessage()) {
			all = append(all, choice{i, s.at})
		}
	}
	return all
}

// pick gives choices that nothing which comes later competes with: those of one
// place, if there is one whose competitors have all arrived or cannot arrive
// before one of them is done, and all choices otherwise.
func (e *explorer) pick(r *run, all []choice) []choice {
	always := func(*step) bool { return true }
	for _, c := range all {
		if group := r.competitors(all, c, always); group != nil {
			return group
		}
	}
	if len(all) == 1 || e.messagesCompete {
		return all
	}
	for _, c := range all {
		if e.ahead > aheadFactor*e.most {
			break
		}
		if group := r.competitors(all, c, e.without(c)); group != nil {
			return group
		}
	}
	return all
}

// aheadFactor bounds what is spent on looking ahead, in states.
const aheadFactor = 20

// without looks what can be done while one choice is not: it tells of an
// operation whether that can come first. Since doing one thing never forbids
// another where no messages compete, one order shows it.
func (e *explorer) without(c choice) func(*step) bool {
	r := newRun(e.plan, aheadFactor*e.most)
	for i := range e.path {
		r.settle()
		r.stepStream(e.path[i].choices[e.path[i].taken].stream, true)
	}
	r.settle()
	r.held = c.stream
	for moved := true; moved; {
		moved = false
		for i := range r.streams {
			if r.stepStream(i, true) {
				moved = true
			}
		}
		r.settle()
	}
	e.ahead += r.steps
	return func(s *step) bool { return !r.pending(s) || r.nextOf(s.stream) == s }
}

// messagesCompete reports whether there is a channel on which the order of
// messages is open.
func (p *plan) messagesCompete() bool {
	for i := range p.channels {
		for _, end := range [][]*step{p.channels[i].sends, p.channels[i].recvs} {
			for k := 1; k < len(end); k++ {
				if before := end[k-1]; before.stream != end[k].stream && !p.precedes(before, end[k]) {
					return true
				}
			}
		}
	}
	return false
}

// competitors lists the choices that compete with one, itself included, if they
// are all that ever will: nil if some have not arrived and can.
func (r *run) competitors(all []choice, c choice, can func(*step) bool) []choice {
	s := r.plan.stepOf(c)
	group := []choice{c}
	for _, other := range r.plan.rivalsOf(s) {
		if other.stream == c.stream || !r.pending(other) || r.precedes(s, other) || s.Kind == Signal && !r.conflict(s, other) {
			continue
		}
		at := slices.IndexFunc(all, func(o choice) bool {
			return o.stream == other.stream && r.plan.stepOf(o).competes(s)
		})
		if at < 0 && !can(other) {
			continue
		}
		if at < 0 {
			return nil
		}
		if !slices.Contains(group, all[at]) {
			group = append(group, all[at])
		}
	}
	return group
}

func (p *plan) stepOf(c choice) *step { return p.streams[c.stream].steps[c.at] }

// rivalsOf lists all operations that could compete with one.
func (p *plan) rivalsOf(s *step) []*step {
	switch s.Kind {
	case Signal:
		return p.slots[s.object].signals
	case Send:
		return p.channels[s.object].sends
	}
	return p.channels[s.object].recvs
}

// competes reports whether two choices are about one thing.
func (s *step) competes(other *step) bool { return s.Kind == other.Kind && s.object == other.object }

// node is a place where an order was picked, on the way to the present run.
type node struct {
	choices []choice
	taken   int      // index of the one that the present run takes
	asleep  []choice // that were explored from here, or before, and nothing since depends on
}

// explorer goes through the traces of a plan, one run after the other.
type explorer struct {
	plan     *plan
	path     []node
	states   int
	most     int
	ahead    int // what was spent on looking ahead
	complete bool
	bytesMax int64 // of a run's clocks
	full     bool  // the last run took too much memory
	// messagesCompete says that there is a channel on which the order of messages
	// is open.
	messagesCompete bool
}

// explore calls visit with a run of each trace, up to a bound, until it says
// that it has seen enough. The last run may have been cut off by the bound.
func (e *explorer) explore(visit func(r *run, order []choice, cut bool) (enough bool)) {
	for {
		r, end := e.run()
		e.states += r.steps
		e.full = end == endCut && r.full()
		if end != endKnown && visit(r, e.order(), end == endCut) || end == endCut {
			return
		}
		if !e.turn() {
			e.complete = true
			return
		}
	}
}

// ending is how a run along the present path ended.
type ending uint8

const (
	endWhole ending = iota // nobody can do anything more
	endKnown               // what is left to explore there was explored elsewhere
	endCut                 // the bound is reached
)

// order is what the present run has picked.
func (e *explorer) order() []choice {
	var order []choice
	for i := range e.path {
		if n := &e.path[i]; len(n.choices) > 1 {
			order = append(order, n.choices[n.taken])
		}
	}
	return order
}

// run goes the present path, and on from there.
func (e *explorer) run() (r *run, end ending) {
	r = newRun(e.plan, e.most-e.states)
	r.bytesMax = e.bytesMax
	var asleep []choice
	for depth := 0; ; depth++ {
		r.settle()
		if r.exhausted() && !r.finished() {
			return r, endCut
		}
		if depth == len(e.path) {
			choices := r.choices()
			if len(choices) == 0 {
				return r, endWhole
			}
			n := node{asleep: asleep}
			for _, c := range e.pick(r, choices) {
				if !slices.Contains(asleep, c) {
					n.choices = append(n.choices, c)
				}
			}
			if len(n.choices) == 0 {
				return r, endKnown
			}
			e.path = append(e.path, n)
		}
		n := &e.path[depth]
		taken := n.choices[n.taken]
		asleep = e.stillAsleep(append(slices.Clone(n.asleep), n.choices[:n.taken]...), taken)
		r.stepStream(taken.stream, true)
	}
}

// stillAsleep drops what an operation has an influence on.
func (e *explorer) stillAsleep(asleep []choice, taken choice) []choice {
	s := e.plan.stepOf(taken)
	return slices.DeleteFunc(asleep, func(c choice) bool { return e.plan.stepOf(c).competes(s) })
}

// turn goes to the next path, if there is one.
func (e *explorer) turn() bool {
	for len(e.path) > 0 {
		last := &e.path[len(e.path)-1]
		if last.taken++; last.taken < len(last.choices) {
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// finished reports whether everybody has done everything.
func (r *run) finished() bool {
	for rank := range r.guests {
		if r.guests[rank].next < len(r.plan.guests[rank]) {
			return false
		}
	}
	for i := range r.streams {
		r.advance(i)
		if r.streams[i].head < len(r.plan.streams[i].steps) {
			return false
		}
	}
	return true
}
