package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// waitGraph is who waits for whom. There may be thousands of ranks, so that
// everything about it takes time in proportion to the waits.
type waitGraph struct {
	states   []rankState
	at       map[int]int   // place in states, by rank
	waitsFor [][]int       // by place in states
	waiters  map[int][]int // by rank: those that wait for it and have not ended
}

func newWaitGraph(states []rankState) *waitGraph {
	g := &waitGraph{states: states, at: make(map[int]int), waitsFor: make([][]int, len(states)), waiters: make(map[int][]int)}
	for i := range states {
		s := &states[i]
		g.at[s.rank] = i
		g.waitsFor[i] = s.waitsFor()
		for _, peer := range g.waitsFor[i] {
			if !s.phase.hasEnded() {
				g.waiters[peer] = append(g.waiters[peer], s.rank)
			}
		}
	}
	return g
}

// deadlockText explains why no rank can move: what each waits for, the cycle
// if there is one, and who is behind.
func deadlockText(states []rankState) string {
	lines := append([]string{"deadlock: no rank can move"}, rankLines(states)...)
	g := newWaitGraph(states)
	if cycle := g.cycle(); len(cycle) > 0 {
		lines = append(lines, "cycle: "+arrows(cycle))
	}
	lines = append(lines, g.behind()...)
	return strings.Join(lines, "\n")
}

// arrows writes a cycle, of one that is too long its two ends.
func arrows(ranks []int) string {
	var words []string
	for i, r := range ranks {
		if i == namedMax/2 && len(ranks) > namedMax {
			words = append(words, fmt.Sprintf("%d more", len(ranks)-namedMax))
		}
		if i < namedMax/2 || i >= len(ranks)-namedMax/2 || len(ranks) <= namedMax {
			words = append(words, fmt.Sprint("rank ", r))
		}
	}
	return strings.Join(words, " waits for ")
}

// behind names the ranks at fault, as far as the waits tell: first those that
// have ended while others wait for them, then those that others wait for in a
// call of a collective that they are not in, then those that began fewer
// collectives than the others, then those that entered fewer barriers. Calls
// have other numbers on ranks of other communicators, so numbers are compared
// only where nobody waits in one.
func (g *waitGraph) behind() []string {
	if lines := g.ended(); len(lines) > 0 {
		return lines
	}
	if late := g.absent(op.CollectiveCall); len(late) > 0 {
		return []string{g.absentLine(late, "collective")}
	}
	if late, low, high := lateCollective(g.states); len(late) > 0 && !anyWaits(g.states, op.CollectiveCall) {
		return []string{fmt.Sprintf("behind: %s in collective %d while others are in collective %d", subject(late, "is", "are"), low, high)}
	}
	if late := g.absent(op.Barrier); len(late) > 0 {
		return []string{g.absentLine(late, "barrier")}
	}
	if sinks := g.waitedFor(); len(sinks) > 0 {
		return []string{"behind: " + subject(sinks, "is", "are") + " waited for by most"}
	}
	return nil
}

// ended names ranks that have ended while others wait for them.
func (g *waitGraph) ended() []string {
	var lines []string
	for i := range g.states {
		s := &g.states[i]
		if waiters := g.waiters[s.rank]; s.phase.hasEnded() && len(waiters) > 0 && len(lines) < linesMax {
			lines = append(lines, fmt.Sprintf("behind: rank %d has ended (%s) and %s for it", s.rank, s.ending, subject(waiters, "waits", "wait")))
		}
	}
	return lines
}

// absentLine names ranks that have not come to what others wait in, and those
// that they wait for instead.
func (g *waitGraph) absentLine(late []int, what string) string {
	text := fmt.Sprintf("behind: %s not entered the %s that others wait in", subject(late, "has", "have"), what)
	if on := g.blockers(late); len(on) > 0 {
		text += ": waiting for " + subject(on, "", "")
	}
	return strings.TrimSpace(text)
}

// blockers lists the ranks that the given ones wait for.
func (g *waitGraph) blockers(ranks []int) []int {
	var out []int
	for _, rank := range ranks {
		out = append(out, g.waitsFor[g.at[rank]]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lateCollective gives the ranks that are in the lowest collective, if not all
// are in the same.
func lateCollective(states []rankState) (late []int, low, high uint32) {
	for i := range states {
		c := states[i].collective
		if i == 0 || c < low {
			low, late = c, nil
		}
		if c == low {
			late = append(late, states[i].rank)
		}
		high = max(high, c)
	}
	if low == high {
		return nil, 0, 0
	}
	return late, low, high
}

// absent gives the ranks that others wait for in a barrier or in a call of a
// collective, as kind says, and that are not in one.
func (g *waitGraph) absent(kind op.Kind) []int {
	var late []int
	for i := range g.states {
		for _, lane := range g.states[i].lanes {
			if !waitsIn(lane, kind) {
				continue
			}
			if at, ok := g.at[lane.Wait.Peer]; ok && !g.states[at].isIn(kind) {
				late = append(late, lane.Wait.Peer)
			}
		}
	}
	slices.Sort(late)
	return slices.Compact(late)
}

func waitsIn(l flight.Lane, kind op.Kind) bool {
	return l.State == flight.LaneWaiting && op.Kind(l.Wait.Kind) == kind
}

// isIn reports whether any lane of the rank waits in an operation of that kind.
func (s *rankState) isIn(kind op.Kind) bool {
	for _, lane := range s.lanes {
		if waitsIn(lane, kind) {
			return true
		}
	}
	return false
}

func anyWaits(states []rankState, kind op.Kind) bool {
	return slices.ContainsFunc(states, func(s rankState) bool { return s.isIn(kind) })
}

// waitedFor gives the ranks that the most others wait for, if that tells any
// apart.
func (g *waitGraph) waitedFor() []int {
	var sinks []int
	most, all := 1, true
	for i := range g.states {
		rank := g.states[i].rank
		switch n := len(g.waiters[rank]); {
		case n > most:
			most, sinks, all = n, []int{rank}, false
		case n == most:
			sinks = append(sinks, rank)
		default:
			all = false
		}
	}
	if all {
		return nil
	}
	return sinks
}

// cycle gives ranks each of which waits for the next, the first again at the
// end: the shortest cycle with the lowest rank that is on any.
func (g *waitGraph) cycle() []int {
	left := g.core()
	for i := range g.states {
		if left[i] {
			if path := g.shortestBack(left, i); path != nil {
				return path
			}
		}
	}
	return nil
}

// core marks the ranks that are left when those are struck out, again and
// again, that wait for nobody who is left or for whom nobody waits: what is on
// a cycle, or between two.
func (g *waitGraph) core() (left []bool) {
	left = make([]bool, len(g.states))
	out, in := make([]int, len(g.states)), make([]int, len(g.states))
	var struck []int
	for i := range g.states {
		left[i] = true
		in[i] = len(g.waiters[g.states[i].rank])
		for _, peer := range g.waitsFor[i] {
			if at, ok := g.at[peer]; ok && !g.states[at].phase.hasEnded() {
				out[i]++
			}
		}
	}
	strike := func(i int) {
		if left[i] && (out[i] == 0 || in[i] == 0 || g.states[i].phase.hasEnded()) {
			left[i] = false
			struck = append(struck, i)
		}
	}
	for i := range g.states {
		strike(i)
	}
	for ; len(struck) > 0; struck = struck[1:] {
		s := struck[0]
		if g.states[s].phase.hasEnded() {
			continue
		}
		for _, peer := range g.waitsFor[s] {
			if at, ok := g.at[peer]; ok {
				in[at]--
				strike(at)
			}
		}
		for _, waiter := range g.waiters[g.states[s].rank] {
			at := g.at[waiter]
			out[at]--
			strike(at)
		}
	}
	return left
}

// shortestBack is the shortest way from a rank back to itself by way of those
// that are left.
func (g *waitGraph) shortestBack(left []bool, start int) []int {
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, peer := range g.waitsFor[queue[0]] {
			next, known := g.at[peer]
			switch {
			case !known || !left[next]:
				continue
			case next == start:
				path := []int{g.states[start].rank}
				for at := queue[0]; at != start; at = from[at] {
					path = append(path, g.states[at].rank)
				}
				path = append(path, g.states[start].rank)
				slices.Reverse(path)
				return path
			}
			if _, seen := from[next]; !seen {
				from[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}
