package runner

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/ccrun/ccrun/runner/guest"
)

// stackFramesShown is how much of a guest's stack the text of a verdict holds.
const stackFramesShown = 12

// verdict says why the run ended badly, nil if it did not.
func (s *roster) verdict() *Verdict {
	if s.order == nil {
		return nil
	}
	states := s.finalStates()
	v := &Verdict{Kind: s.order.Kind, Code: s.order.Code, Text: s.order.Text}
	cause := s.rootCause()
	switch disagreed, corrupted := s.disagreed(), s.corrupted(); {
	case s.order.Kind == KindSignal:
	case disagreed != nil && (!cause.reports(KindDesync)):
		v.Kind, v.Code = KindDesync, ExitDesync
		v.Text = fmt.Sprintf(openings[KindDesync], disagreed.rank, printableText(disagreed.report.Desync))
	case corrupted != nil && disagreed == nil && !cause.reports(KindUnverified):
		v.Kind, v.Code = KindUnverified, ExitUnverified
		v.Text = fmt.Sprintf(openings[KindUnverified], corrupted.rank, printableText(corrupted.report.Corrupt))
	case s.order.Kind == KindDeadlock:
		v.Text = deadlockText(states)
	case s.order.Kind == KindTimeout:
		v.Text = s.order.Text + "\n" + strings.Join(rankLines(states), "\n")
	default:
		s.blame(v, cause)
	}
	for i := range states {
		v.Ranks = append(v.Ranks, s.rankVerdict(&states[i]))
	}
	return v
}

// finalStates are the ranks' states when the run was given up, with the guest
// functions that their stacks have told since.
func (s *roster) finalStates() []rankState {
	states := make([]rankState, len(s.slots))
	for i, slot := range s.slots {
		states[i] = slot.final
		if slot.lost(s.finished) {
			states[i].phase, states[i].ending = phaseLost, slot.exit.text
		}
		if slot.report != nil {
			states[i].function = guest.Culprit(slot.report.Stack)
		}
	}
	return states
}

func (s *roster) rankVerdict(state *rankState) RankVerdict {
	v := state.verdict()
	slot := s.slots[state.rank]
	if slot.report == nil {
		return v
	}
	if slot.report.failed() {
		v.State, v.Detail = string(phaseFailed), printableText(slot.report.Text)
	}
	for _, frame := range slot.report.Stack {
		v.Stack = append(v.Stack, frame.String())
	}
	return v
}

// disagreed is the first rank that knows that ranks disagree, nil if none does.
// Whatever became of the run may have followed from that.
func (s *roster) disagreed() *slot {
	for _, slot := range s.slots {
		if slot.report != nil && slot.report.Desync != "" {
			return slot
		}
	}
	return nil
}

// corrupted is the first rank to which bytes have not come as they were sent, as
// far as anybody has looked; nil if there is none. It has told the others, who
// may have ended before it.
func (s *roster) corrupted() *slot {
	for _, slot := range s.slots {
		if slot.report != nil && slot.report.Corrupt != "" {
			return slot
		}
	}
	return nil
}

// reports tells whether the rank's own report says that it failed so.
func (s *slot) reports(kind string) bool {
	return s != nil && s.report != nil && s.report.Kind == kind
}

// rootCause is the rank that failed first: what happened to the others later
// may have followed from that. A process of which this launcher has seen that it
// ended by itself, without a word, comes before all others, since its peers may
// notice earlier than this launcher.
func (s *roster) rootCause() *slot {
	return cmp.Or(s.firstFailed(s.crashedAt), s.firstFailed(s.failedAt))
}

// firstFailed is the slot with the earliest time of failure, nil if none has
// any.
func (s *roster) firstFailed(at func(*slot) (nanos int64, failed bool)) *slot {
	var first *slot
	var firstNanos int64
	for _, slot := range s.slots {
		if nanos, failed := at(slot); failed && (first == nil || nanos < firstNanos) {
			first, firstNanos = slot, nanos
		}
	}
	return first
}

func (s *roster) crashedAt(slot *slot) (nanos int64, failed bool) {
	return slot.exitAt, slot.lost(s.finished) && !slot.exit.unknown
}

func (s *roster) failedAt(slot *slot) (nanos int64, failed bool) {
	if slot.report != nil && slot.report.failed() {
		return slot.report.EndNanos, true
	}
	return slot.exitAt, slot.lost(s.finished)
}

// blame fills in a verdict that one rank is the cause of.
func (s *roster) blame(v *Verdict, slot *slot) {
	switch {
	case len(s.missing) > 0 && v.Kind == KindLost:
		v.Text = fmt.Sprintf("%s not joined", subject(s.missing, "has", "have"))
		return
	case slot == nil: // given up from outside
		return
	case slot.report == nil || !slot.report.failed():
		v.Kind, v.Code = KindLost, ExitRankLost
		v.Text = lostText(slot)
		return
	}
	r := slot.report
	v.Kind, v.Code = r.Kind, r.Code
	opening := openings[r.Kind]
	if r.Kind == KindSetup && r.GuestPeakBytes > 0 { // it was at its end
		opening = openings[KindInternal]
	}
	v.Text = fmt.Sprintf(opening, r.Rank, printableText(r.Text))
	if r.LastError != "" && r.Kind != KindDesync && r.Corrupt == "" {
		v.Text += "\nits last call that failed: " + printableText(r.LastError)
	}
	if r.Kind == KindAbort {
		v.Text += inLine(guest.Culprit(r.Stack))
		return
	}
	for i, frame := range r.Stack {
		if i == stackFramesShown {
			v.Text += "\nand outer functions"
			break
		}
		v.Text += "\nat " + frame.String()
	}
}

// inLine is a line that names a function, nothing if there is none.
func inLine(function string) string {
	if function == "" {
		return ""
	}
	return "\nin " + function
}

// openings are the first lines of verdicts: a rank and what its report says.
var openings = map[string]string{
	KindExit:       "rank %d %s",
	KindAbort:      "rank %d aborted the run: %s",
	KindTrap:       "rank %d trapped: %s",
	KindDesync:     "ranks disagree: rank %d: %s",
	KindUnverified: "verification failed: rank %d: %s",
	KindLimit:      "limit exceeded: rank %d: %s",
	KindABI:        "rank %d: %s",
	KindSetup:      "rank %d could not start: %s",
	KindInternal:   "rank %d: %s",
}

// lostText names a rank that ended without a word and what it did last.
func lostText(slot *slot) string {
	state := &slot.final
	text := fmt.Sprintf("rank %d was lost: %s", slot.rank, slot.exit.text)
	if slot.exit.lastWord != "" {
		text += ": " + printableText(slot.exit.lastWord)
	}
	if state.last != "" {
		text += "; last operation: " + state.last
	}
	if state.collective > 0 && !strings.Contains(state.last, "collective") {
		text += fmt.Sprintf("; in collective %d", state.collective)
	}
	if waits := state.describeWaits(); len(waits) > 0 {
		text += "; it was in: " + strings.Join(waits, "; ")
	}
	return text
}

// printableText makes what a guest may have written fit to print in a line.
func printableText(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?")))
}

// fill puts what the ranks report into the result.
func (s *roster) fill(result *Result) {
	result.Digests = make(map[string][]string)
	result.GuestPeakBytes = make([]int64, len(s.slots))
	for i, slot := range s.slots {
		if slot.report == nil {
			continue
		}
		result.GuestPeakBytes[i] = slot.report.GuestPeakBytes
		for name, digest := range slot.report.Results.Digests {
			if result.Digests[name] == nil {
				result.Digests[name] = make([]string, len(s.slots))
			}
			result.Digests[name][i] = digest
		}
	}
	result.Verdict = s.verdict()
	if result.Verdict != nil {
		result.ExitCode = result.Verdict.Code
	}
	result.Verified = s.verified(result.ExitCode)
}

// verified is false if any element was wrong, true if all went well and
// something was verified, and nil otherwise.
func (s *roster) verified(exitCode int) *bool {
	var bytes, mismatches int64
	for _, slot := range s.slots {
		if slot.log != nil {
			counters := slot.log.Counters()
			bytes += counters.Verified
			mismatches += counters.Mismatches
		}
	}
	ok := mismatches == 0
	if bytes == 0 || ok && exitCode != ExitOK {
		return nil
	}
	return &ok
}
