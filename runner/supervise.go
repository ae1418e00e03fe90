package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// Times of the supervisor.
const (
	samplePeriod = 40 * time.Millisecond
	killGrace    = 800 * time.Millisecond // from the order to stop to SIGKILL
	reapGrace    = 3 * time.Second        // for processes and their output to end that should have
)

// event is something that happened to a rank: one of the fields is set.
type event struct {
	rank    int
	report  *report
	exit    *exitStatus
	printed bool                // all of its output has been passed on
	process interface{ kill() } // it has joined
	missing bool                // it has not
	order   *abortOrder         // somebody else gave the run up
}

// supervisor watches over a run until all its processes have ended and all they
// printed has been passed on.
type supervisor struct {
	config  *Config
	dir     string
	store   *rendezvous.Server
	console *console
	clock   flight.Clock
	roster
	events chan event

	stall      stallWatch
	progress   progress
	killAt     time.Time
	finishedAt time.Time
}

func newSupervisor(c *Config, dir string, store *rendezvous.Server, out *console) *supervisor {
	s := &supervisor{
		config: c, dir: dir, store: store, console: out, clock: flight.NewClock(),
		events: make(chan event, 4*c.Ranks), progress: progress{began: time.Now()},
	}
	for i := range c.Ranks {
		s.slots = append(s.slots, &slot{rank: i})
		go s.awaitReport(i)
	}
	go s.awaitOrder()
	return s
}

// awaitReport passes on how a rank has ended. It ends with the store.
func (s *supervisor) awaitReport(rank int) {
	data, err := s.store.Get(keyDone(rank), -1)
	if err != nil {
		return
	}
	r, err := parseReport(data)
	if err != nil {
		r = &report{Rank: rank, Kind: KindInternal, Code: ExitInternal, Text: err.Error(), EndNanos: s.clock.Now()}
	}
	s.events <- event{rank: rank, report: r}
}

// awaitOrder passes on that a rank which joined was told to stop.
func (s *supervisor) awaitOrder() {
	data, err := s.store.Get(keyAbort, -1)
	if err != nil {
		return
	}
	var order abortOrder
	if json.Unmarshal(data, &order) == nil {
		s.events <- event{order: &order}
	}
}

// run returns when nothing is left to wait for, or too much time has passed. A
// run that ends well lasts until somebody has read what its guests printed.
func (s *supervisor) run(ctx context.Context) {
	defer s.console.draw("")
	ticker := time.NewTicker(samplePeriod)
	defer ticker.Stop()
	var timeout <-chan time.Time
	if s.config.Timeout > 0 {
		timer := time.NewTimer(s.config.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	cancelled := ctx.Done()
	for !s.over() {
		select {
		case e := <-s.events:
			s.handle(e)
		case now := <-ticker.C:
			s.tick(now)
		case <-cancelled:
			cancelled = nil
			s.giveUp(KindSignal, "stopped by a signal")
		case <-timeout:
			s.expire()
		}
		if s.overdue() {
			return
		}
	}
}

// expire ends a run that took too long. If ranks have not even joined, that is
// why. Guests that have ended were in time, whoever reads what they printed.
func (s *supervisor) expire() {
	if s.finished {
		return
	}
	for _, slot := range s.slots {
		if slot.process == nil && slot.exit == nil {
			s.missing = append(s.missing, slot.rank)
		}
	}
	if len(s.missing) > 0 {
		s.giveUp(KindLost, "a rank did not join")
		return
	}
	s.giveUp(KindTimeout, "the run took longer than "+s.config.Timeout.String())
}

// overdue reports whether processes are still there that should long have
// ended, or nobody takes the output of a run that was given up.
func (s *supervisor) overdue() bool {
	if s.order != nil {
		return time.Since(s.killAt) > reapGrace
	}
	return s.finished && time.Since(s.finishedAt) > 2*reapGrace && !s.allExited()
}

// over reports whether nothing is left to wait for.
func (s *supervisor) over() bool {
	for _, slot := range s.slots {
		if slot.printing {
			return false
		}
	}
	return s.allExited()
}

// allExited leaves out ranks that have not joined a run that was given up.
func (s *supervisor) allExited() bool {
	for _, slot := range s.slots {
		if slot.exit == nil && (s.order == nil || slot.process != nil) {
			return false
		}
	}
	return true
}

func (s *supervisor) handle(e event) {
	slot := s.slots[e.rank]
	switch {
	case e.report != nil:
		s.reported(slot, e.report)
	case e.printed:
		slot.printing = false
	case e.process != nil:
		slot.process = e.process
	case e.missing && s.order != nil: // it is too late to tell
	case e.missing:
		s.missing = append(s.missing, e.rank)
		slot.exit = &exitStatus{unknown: true, text: "never joined"}
		slot.exitAt = s.clock.Now()
		s.giveUp(KindLost, "a rank did not join")
	case e.order != nil && s.order == nil:
		s.giveUp(e.order.Kind, e.order.Text)
	case e.exit != nil:
		s.exited(slot, e.exit)
	}
}

func (s *supervisor) reported(slot *slot, r *report) {
	if slot.report != nil {
		return
	}
	slot.report = r
	switch {
	case r.failed():
		s.giveUp(r.Kind, r.Text)
		return
	case r.Kind == kindStopped && s.order == nil:
		s.stoppedEarly(slot)
		return
	}
	for _, other := range s.slots {
		if other.report == nil {
			return
		}
	}
	s.finish()
}

// stoppedEarly gives up a run of which a rank stopped before this launcher knew
// why: by the order of a rank that joined, or because it took the launcher for
// gone.
func (s *supervisor) stoppedEarly(slot *slot) {
	order := abortOrder{Kind: KindLost, Text: fmt.Sprintf("rank %d lost touch with the launcher", slot.rank)}
	if data, ok := s.store.Peek(keyAbort); ok {
		_ = json.Unmarshal(data, &order) // what cannot be read is an order all the same
	}
	s.giveUp(order.Kind, order.Text)
}

// finish lets the ranks go whose guests have ended.
func (s *supervisor) finish() {
	if !s.finished {
		s.finished, s.finishedAt = s.order == nil, time.Now()
		_ = s.store.Set(keyFinish, nil) // the store holds a few keys only
	}
}

func (s *supervisor) exited(slot *slot, status *exitStatus) {
	if data, ok := s.store.Peek(keyDone(slot.rank)); ok && slot.report == nil {
		if r, err := parseReport(data); err == nil {
			s.reported(slot, r)
		}
	}
	slot.exit, slot.exitAt = status, s.clock.Now()
	if slot.lost(s.finished) {
		s.giveUp(KindLost, "a rank was lost")
	}
}

// giveUp tells all ranks to stop and remembers what each did at that moment.
// The first reason counts.
func (s *supervisor) giveUp(kind, text string) {
	if s.order != nil {
		return
	}
	s.openLogs()
	s.decide(kind, text)
	data, err := json.Marshal(s.order)
	if err != nil {
		panic(err) // three plain fields
	}
	s.killAt = time.Now().Add(cmp.Or(s.config.stopGrace, killGrace))
	_ = s.store.Set(keyAbort, data) // SIGKILL follows in any case
	s.finish()
}

func (s *supervisor) tick(now time.Time) {
	s.openLogs()
	switch {
	case s.order != nil && now.After(s.killAt):
		s.killAll()
	case s.finished && now.Sub(s.finishedAt) > reapGrace:
		s.letGo()
	case s.order == nil && s.stall.observe(now, s.samples()):
		s.giveUp(KindDeadlock, "deadlock: no rank can move")
	case s.order == nil:
		s.showProgress(s.console, &s.progress, now)
	}
}

func (s *supervisor) killAll() {
	for _, slot := range s.slots {
		if slot.exit == nil && slot.process != nil {
			slot.killed = true
			slot.process.kill()
		}
	}
}

// letGo ends the processes that do not end by themselves though their guests
// have. Those that somebody else has started are that one's to wait for.
func (s *supervisor) letGo() {
	for _, slot := range s.slots {
		switch {
		case slot.exit != nil:
		case slot.printing:
			slot.killed = true
			slot.process.kill()
		default:
			slot.exit, slot.exitAt = &exitStatus{unknown: true, text: "its process did not end"}, s.clock.Now()
		}
	}
}

// conclude puts what the ranks report into the result.
func (s *supervisor) conclude(result *Result) {
	s.openLogs()
	s.fill(result)
}

// openLogs opens the flight files that have appeared.
func (s *supervisor) openLogs() {
	for _, slot := range s.slots {
		if slot.log == nil && slot.process != nil {
			slot.log, _ = flight.Open(flightPath(s.dir, slot.rank)) // not there yet, or not whole
		}
	}
}

func (s *supervisor) samples() []sample {
	samples := make([]sample, len(s.slots))
	for i, slot := range s.slots {
		if slot.log != nil && !slot.ended() {
			samples[i] = sampleOf(slot.log)
		}
		samples[i].ended = slot.ended()
	}
	return samples
}
