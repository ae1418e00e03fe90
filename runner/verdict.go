package runner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// rankState is what is known of a rank when a verdict is reached.
type rankState struct {
	rank       int
	phase      phase
	ending     string              // of one that has ended: "returned", "exited with code 3"
	lanes      map[int]flight.Lane // by number, as the flight file has them
	collective uint32              // the one begun last
	function   string              // of the guest, "" if not known
	last       string              // its last operation in words
}

// phase is how far a rank has come.
type phase string

// Phases of a rank.
const (
	phaseStarting phase = "starting"
	phaseRunning  phase = "running"
	phaseWaiting  phase = "waiting"
	phaseDone     phase = "done"
	phaseFailed   phase = "failed"
	phaseLost     phase = "lost"
	phaseStopped  phase = "stopped"
)

func (p phase) hasEnded() bool { return p == phaseDone || p == phaseFailed || p == phaseLost }

// waits gives the lanes that wait, by number.
func (s *rankState) waits() []int {
	var waiting []int
	for i, lane := range s.lanes {
		if lane.State == flight.LaneWaiting {
			waiting = append(waiting, i)
		}
	}
	slices.Sort(waiting)
	return waiting
}

// waitsFor lists the ranks that must act before this one can go on.
func (s *rankState) waitsFor() []int {
	var peers []int
	for _, i := range s.waits() {
		if w := s.lanes[i].Wait; needsPeer(w) && !slices.Contains(peers, w.Peer) {
			peers = append(peers, w.Peer)
		}
	}
	slices.Sort(peers)
	return peers
}

// needsPeer reports whether another rank must act: a wait for a stream or an
// event ends by what the stream waits for.
func needsPeer(w flight.Wait) bool {
	switch op.Kind(w.Kind) {
	case op.SyncStream, op.SyncEvent, op.EventWait:
		return false
	default:
		return w.Peer >= 0
	}
}

// describeWait says what a wait is for.
func describeWait(w flight.Wait) string {
	switch kind := op.Kind(w.Kind); kind {
	case op.Wait:
		return fmt.Sprintf("wait for rank %d to raise signal slot %d to %d (it is %d)", w.Peer, w.Slot, w.Value, w.Seen)
	case op.Recv:
		return fmt.Sprintf("recv: wait for rank %d to send on channel %d", w.Peer, w.Slot)
	case op.Send:
		return fmt.Sprintf("send: wait for rank %d to receive on channel %d", w.Peer, w.Slot)
	case op.Barrier:
		return fmt.Sprintf("barrier %d: wait for rank %d, which has entered %d", w.Value, w.Peer, w.Seen)
	case op.ShareLookup:
		return fmt.Sprintf("share_lookup: wait for rank %d to publish %q, epoch %d", w.Peer, w.Name, w.Value)
	case op.SyncStream:
		return fmt.Sprintf("stream_sync: wait for stream %d", w.Slot)
	case op.SyncEvent:
		return "event_sync: wait for an event"
	case op.EventWait:
		return "event_wait: wait for an event of another stream"
	case op.CollectiveCall:
		return describeCall(w)
	default:
		return fmt.Sprintf("%s: wait for rank %d", kind, w.Peer)
	}
}

// describeCall says which collective a rank waits in. One that is not recorded
// has no number.
func describeCall(w flight.Wait) string {
	text := op.CollectiveOp(min(w.Value, math.MaxUint8)).String()
	if w.Name != "" {
		text += " by " + w.Name
	}
	if w.Slot > 0 {
		text = fmt.Sprintf("collective %d, %s", w.Slot, text)
	}
	return fmt.Sprintf("%s: wait for rank %d", text, w.Peer)
}

// describeWaits says what each lane of a rank waits for.
func (s *rankState) describeWaits() []string {
	var out []string
	for _, i := range s.waits() {
		text := describeWait(s.lanes[i].Wait)
		if i > 0 {
			text = fmt.Sprintf("stream %d: %s", i, text)
		}
		out = append(out, text)
	}
	return out
}

// verdict is the rank's part of a verdict.
func (s *rankState) verdict() RankVerdict {
	v := RankVerdict{Rank: s.rank, State: string(s.phase), Function: s.function, LastOperation: s.last, Detail: s.ending}
	if s.phase == phaseRunning && s.lanes[0].State == flight.LaneWaiting {
		v.State = string(phaseWaiting)
	}
	if !s.phase.hasEnded() || s.phase == phaseLost {
		v.Waits, v.WaitsForRanks = s.describeWaits(), s.waitsFor()
	}
	return v
}

// line is the rank's line in the text of a verdict.
func line(v RankVerdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d", v.Rank)
	switch {
	case len(v.Waits) > 0:
		fmt.Fprintf(&b, " waits%s: %s", inFunction(v.Function), strings.Join(v.Waits, "; "))
	case v.State == string(phaseRunning):
		fmt.Fprintf(&b, " computes%s", inFunction(v.Function))
	case v.Detail != "":
		fmt.Fprintf(&b, " has ended: %s", v.Detail)
	default:
		fmt.Fprintf(&b, " is %s", v.State)
	}
	if v.LastOperation != "" && v.Detail == "" {
		fmt.Fprintf(&b, "; last operation: %s", v.LastOperation)
	}
	return b.String()
}

func inFunction(name string) string {
	if name == "" {
		return ""
	}
	return " in " + name
}

// deadlockText explains why no rank can move: what each waits for, the cycle
// if there is one, and who is behind.
func deadlockText(states []rankState) string {
	lines := []string{"deadlock: no rank can move"}
	for i := range states {
		lines = append(lines, line(states[i].verdict()))
	}
	if cycle := findCycle(states); len(cycle) > 0 {
		lines = append(lines, "cycle: "+arrows(cycle))
	}
	lines = append(lines, behind(states)...)
	return strings.Join(lines, "\n")
}

func arrows(ranks []int) string {
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = fmt.Sprint("rank ", r)
	}
	return strings.Join(words, " waits for ")
}

// behind names the ranks at fault, as far as the waits tell: first those that
// have ended while others wait for them, then those that others wait for in a
// call of a collective that they are not in, then those that began fewer
// collectives than the others, then those that entered fewer barriers. Calls
// have other numbers on ranks of other communicators, so numbers are compared
// only where nobody waits in one.
func behind(states []rankState) []string {
	var lines []string
	for i := range states {
		if waiters := waitersOf(states, states[i].rank); states[i].phase.hasEnded() && len(waiters) > 0 {
			lines = append(lines, fmt.Sprintf("behind: rank %d has ended (%s) and %s for it", states[i].rank, states[i].ending, subject(waiters, "waits", "wait")))
		}
	}
	if len(lines) > 0 {
		return lines
	}
	if late := absent(states, op.CollectiveCall); len(late) > 0 {
		return []string{absentLine(states, late, "collective")}
	}
	if late, low, high := lateCollective(states); len(late) > 0 && !anyWaits(states, op.CollectiveCall) {
		return []string{fmt.Sprintf("behind: %s in collective %d while others are in collective %d", subject(late, "is", "are"), low, high)}
	}
	if late := absent(states, op.Barrier); len(late) > 0 {
		return []string{absentLine(states, late, "barrier")}
	}
	if sinks := waitedFor(states); len(sinks) > 0 {
		return []string{"behind: " + subject(sinks, "is", "are") + " waited for by most"}
	}
	return nil
}

// absentLine names ranks that have not come to what others wait in, and those
// that they wait for instead.
func absentLine(states []rankState, late []int, what string) string {
	text := fmt.Sprintf("behind: %s not entered the %s that others wait in", subject(late, "has", "have"), what)
	if on := blockers(states, late); len(on) > 0 {
		text += ": waiting for " + subject(on, "", "")
	}
	return strings.TrimSpace(text)
}

// blockers lists the ranks that the given ones wait for.
func blockers(states []rankState, ranks []int) []int {
	var out []int
	for i := range states {
		if slices.Contains(ranks, states[i].rank) {
			out = append(out, states[i].waitsFor()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// waitersOf lists the ranks that wait for the given one and have not ended.
func waitersOf(states []rankState, rank int) []int {
	var out []int
	for i := range states {
		if !states[i].phase.hasEnded() && slices.Contains(states[i].waitsFor(), rank) {
			out = append(out, states[i].rank)
		}
	}
	return out
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
func absent(states []rankState, kind op.Kind) []int {
	var late []int
	for i := range states {
		for _, lane := range states[i].lanes {
			if !waitsIn(lane, kind) {
				continue
			}
			for j := range states {
				if states[j].rank == lane.Wait.Peer && !states[j].isIn(kind) && !slices.Contains(late, lane.Wait.Peer) {
					late = append(late, lane.Wait.Peer)
				}
			}
		}
	}
	slices.Sort(late)
	return late
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
func waitedFor(states []rankState) []int {
	var sinks []int
	most, all := 1, true
	for i := range states {
		switch n := len(waitersOf(states, states[i].rank)); {
		case n > most:
			most, sinks, all = n, []int{states[i].rank}, false
		case n == most:
			sinks = append(sinks, states[i].rank)
		default:
			all = false
		}
	}
	if all {
		return nil
	}
	return sinks
}

// findCycle gives ranks each of which waits for the next, the first again at
// the end: the cycle with the lowest rank that is on any.
func findCycle(states []rankState) []int {
	edges := make(map[int][]int, len(states))
	for i := range states {
		if !states[i].phase.hasEnded() {
			edges[states[i].rank] = states[i].waitsFor()
		}
	}
	for i := range states {
		if path := shortestBack(edges, states[i].rank); path != nil {
			return path
		}
	}
	return nil
}

// shortestBack is the shortest way from a rank back to itself.
func shortestBack(edges map[int][]int, start int) []int {
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, next := range edges[queue[0]] {
			if next == start {
				path := []int{start}
				for at := queue[0]; at != start; at = from[at] {
					path = append(path, at)
				}
				path = append(path, start)
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

// subject is a list of ranks with the verb that fits it.
func subject(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d %s", ranks[0], one)
	}
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = fmt.Sprint(r)
	}
	return fmt.Sprintf("ranks %s and %s %s", strings.Join(words[:len(words)-1], ", "), words[len(words)-1], many)
}
