package runner

import (
	"time"

	"github.com/ccrun/ccrun/host/flight"
)

// slot is one rank as the launcher sees it.
type slot struct {
	rank     int
	process  interface{ kill() } // nil before there is one
	log      *flight.Log         // nil before there is one
	report   *report             // nil until it has come
	exit     *exitStatus         // nil until the process has ended
	exitAt   int64               // monotonic nanoseconds
	killed   bool                // by this launcher
	printing bool                // this launcher passes on what it prints, and has not done with it
	final    rankState           // when the run was given up
}

// ended reports whether the guest has ended and left nothing running.
func (s *slot) ended() bool { return s.report != nil || s.exit != nil }

// lost reports whether the process ended without a word, or, after a good
// report, before the others had ended.
func (s *slot) lost(finished bool) bool {
	if s.exit == nil || s.killed {
		return false
	}
	return s.report == nil || s.report.Kind == "" && !finished && s.exit.code != 0 && !s.exit.unknown
}

// roster is the ranks of a run with all that is known of them, and why the run
// was given up: what a verdict is made of, whoever watches over the ranks.
type roster struct {
	slots    []*slot
	order    *abortOrder // nil while the run has not been given up
	missing  []int       // ranks that have not joined
	finished bool        // all guests have ended well
}

// decide gives the run up, for all that follows, and remembers what each rank
// did at that moment.
func (s *roster) decide(kind, text string) {
	for _, slot := range s.slots {
		slot.final = s.stateOf(slot)
	}
	code, ok := exitCodes[kind]
	if !ok {
		code = ExitRankLost // a guest's own code is its own rank's
	}
	s.order = &abortOrder{Kind: kind, Code: code, Text: text}
}

// closeLogs is for after the last use of any.
func (s *roster) closeLogs() {
	for _, slot := range s.slots {
		if slot.log != nil {
			_ = slot.log.Close()
			slot.log = nil
		}
	}
}

// stateOf reads what a rank does from its flight file.
func (s *roster) stateOf(slot *slot) rankState {
	state := rankState{rank: slot.rank, phase: phaseStarting}
	if slot.log != nil {
		if slot.log.State() >= flight.StateRunning {
			state.phase = phaseRunning
		}
		state.lanes = slot.log.Lanes()
		state.collective, _ = slot.log.Collective()
		if last, ok := slot.log.Last(); ok {
			state.last = describeRecord(&last)
		}
	}
	switch {
	case slot.report != nil && slot.report.failed():
		state.phase, state.ending = phaseFailed, slot.report.Text
	case slot.report != nil && slot.report.Kind == "":
		state.phase, state.ending = phaseDone, "its guest returned"
	case slot.lost(s.finished):
		state.phase, state.ending = phaseLost, slot.exit.text
	}
	return state
}

// showProgress draws how the run goes, if there is a terminal and it is time to.
func (s *roster) showProgress(out *console, p *progress, now time.Time) {
	if out.progress == nil {
		return
	}
	var records int64
	var collectives []uint32
	for _, slot := range s.slots {
		if slot.log != nil {
			records += slot.log.Counters().Records
			seq, _ := slot.log.Collective()
			collectives = append(collectives, seq)
		}
	}
	if line, due := p.line(now, records, collectives); due {
		out.draw(line)
	}
}
