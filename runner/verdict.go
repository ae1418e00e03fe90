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
// event ends by what the stream waits for, and one for whatever comes first by
// others perhaps.
func needsPeer(w flight.Wait) bool {
	switch op.Kind(w.Kind) {
	case op.SyncStream, op.SyncEvent, op.EventWait:
		return false
	case op.SyncAny:
		return w.Peer >= 0 && w.Name != flight.OrOthers
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
		if w.Peer < 0 {
			return fmt.Sprintf("barrier %d: all ranks have entered it, and it is about to end", w.Value)
		}
		return fmt.Sprintf("barrier %d: wait for rank %d, which has entered %d", w.Value, w.Peer, w.Seen)
	case op.ShareLookup:
		return fmt.Sprintf("share_lookup: wait for rank %d to publish %q, epoch %d", w.Peer, w.Name, w.Value)
	case op.SyncStream:
		return fmt.Sprintf("stream_sync: wait for stream %d", w.Slot)
	case op.SyncEvent:
		return "event_sync: wait for an event"
	case op.SyncAny:
		return describeAny(w)
	case op.EventWait:
		return "event_wait: wait for an event of another stream"
	case op.CollectiveCall:
		return describeCall(w)
	default:
		return fmt.Sprintf("%s: wait for rank %d", kind, w.Peer)
	}
}

// describeAny says what a rank waits for that goes on whatever of several things
// comes first: a signal among them, if there is one.
func describeAny(w flight.Wait) string {
	if w.Peer < 0 {
		return "any_sync: wait for any of its events"
	}
	others := ""
	if w.Name == flight.OrOthers {
		others = ", or for another of its signals and events"
	}
	return fmt.Sprintf("any_sync: wait for rank %d to raise signal slot %d to %d (it is %d)%s", w.Peer, w.Slot, w.Value, w.Seen, others)
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
	if w.Peer < 0 {
		return text + ": wait for its own work to end"
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

// namedMax is how many ranks of a list are named, linesMax of how many ranks a
// text tells what they do: real runs have fewer.
const (
	namedMax = 300
	linesMax = 300
)

// subject is a list of ranks with the verb that fits it.
func subject(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d %s", ranks[0], one)
	}
	if len(ranks) > namedMax {
		return fmt.Sprintf("%d ranks, %d to %d, %s", len(ranks), ranks[0], ranks[len(ranks)-1], many)
	}
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = fmt.Sprint(r)
	}
	return fmt.Sprintf("ranks %s and %s %s", strings.Join(words[:len(words)-1], ", "), words[len(words)-1], many)
}

// rankLines are what ranks do, a line each, as far as anybody would read on.
func rankLines(states []rankState) []string {
	shown := min(len(states), linesMax)
	lines := make([]string, shown)
	for i := range lines {
		lines[i] = line(states[i].verdict())
	}
	if more := len(states) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more ranks, which --json tells of", more))
	}
	return lines
}
