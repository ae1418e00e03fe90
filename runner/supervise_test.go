package runner

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// fakeProcess counts how often it is killed.
type fakeProcess struct{ kills int }

func (p *fakeProcess) kill() { p.kills++ }

// watchOver makes a supervisor of ranks that run in no process, to whom events
// happen only as the test says.
func watchOver(t *testing.T, ranks int) *supervisor {
	t.Helper()
	dir := t.TempDir()
	store, err := rendezvous.Listen(filepath.Join(dir, socketName), "token")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s := &supervisor{config: &Config{Ranks: ranks, Timeout: time.Minute}, dir: dir, store: store, console: &console{}, clock: flight.NewClock()}
	for i := range ranks {
		s.slots = append(s.slots, &slot{rank: i, process: &fakeProcess{}, printing: true})
	}
	return s
}

func outcomeOf(s *supervisor) string {
	v := s.verdict()
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%d %s: %s", v.Code, v.Kind, v.Text)
}

func good(rank int) event { return event{rank: rank, report: &report{Rank: rank}} }

func exited(rank, code int) event {
	return event{rank: rank, exit: &exitStatus{code: code, text: fmt.Sprint("exited with code ", code)}}
}

func TestEndsOfRanks(t *testing.T) {
	stopped := event{rank: 1, report: &report{Rank: 1, Kind: kindStopped, Code: ExitRankLost, Text: "the launcher is gone"}}
	trapped := event{rank: 1, report: &report{Rank: 1, Kind: KindTrap, Code: ExitTrap, Text: "unreachable", EndNanos: 1}}
	unknown := event{rank: 1, exit: &exitStatus{unknown: true, code: -1, text: "its process has ended"}}
	noticed := event{rank: 0, report: &report{Rank: 0, Kind: KindExit, Code: 1, Text: "exited with code 1", EndNanos: 1}}
	killed := event{rank: 1, exit: &exitStatus{code: -1, text: "killed by SIGKILL"}}
	crashed := event{rank: 1, exit: &exitStatus{code: 2, text: "exited with code 2", lastWord: "fatal error: fault"}}
	disagreed := event{rank: 0, report: &report{Kind: KindDesync, Code: ExitDesync, Text: "sizes", Desync: "sizes", EndNanos: 2}}
	failedBefore := &report{Rank: 1, Kind: KindExit, Code: 1, Text: "exited with code 1", EndNanos: 1}
	knows := &report{Rank: 1, Kind: kindStopped, Desync: "stream_sync: sizes"}
	told := &report{Rank: 1, Kind: KindExit, Code: 3, Text: "exited with code 3", LastError: "told", EndNanos: 1}
	corrupted := event{report: &report{Kind: KindUnverified, Code: ExitUnverified, Text: "digest", Corrupt: "digest", LastError: "digest", EndNanos: 2}}
	suspects := &report{Rank: 1, Kind: kindStopped, Corrupt: "digest"}
	hung := &abortOrder{Kind: KindDeadlock, Code: ExitDeadlock, Text: "deadlock: no rank can move"}
	signalled := &abortOrder{Kind: KindSignal, Code: ExitSignal, Text: "stopped"}
	setup := event{order: &abortOrder{Kind: KindSetup, Code: ExitUsage, Text: "sizes disagree"}}
	for _, c := range []struct {
		name   string
		events []event
		want   string
	}{
		{"all well", []event{good(0), good(1), exited(0, 0), exited(1, 0)}, "none"},
		{"no word", []event{good(0), exited(1, 2)}, "111 rank lost: rank 1 was lost: exited with code 2"},
		{"bad end after a good word", []event{good(1), exited(1, 2)}, "111 rank lost: rank 1 was lost: exited with code 2"},
		{"bad end when all guests have ended", []event{good(0), good(1), exited(1, 2)}, "none"},
		{"good word, then an end nobody can judge", []event{good(1), unknown}, "none"},
		{"no word and an end nobody can judge", []event{unknown}, "111 rank lost: rank 1 was lost: its process has ended"},
		{"trap", []event{trapped, exited(1, ExitTrap)}, "107 trap: rank 1 trapped: unreachable"},
		{"stopped though nobody gave an order", []event{good(0), stopped, exited(1, ExitRankLost)}, "111 rank lost: rank 1 lost touch with the launcher"},
		{"killed, and a peer notices first", []event{noticed, killed, exited(0, 1)}, "111 rank lost: rank 1 was lost: killed by SIGKILL"},
		{"crashed, and a peer notices first", []event{noticed, crashed, exited(0, 1)}, "111 rank lost: rank 1 was lost: exited with code 2: fatal error: fault"},
		{"crashed, and then another", []event{noticed, crashed, {rank: 2, exit: killed.exit}, exited(0, 1)}, "111 rank lost: rank 1 was lost: exited with code 2: fatal error: fault"},
		{"gone from another launcher's, after a peer failed", []event{noticed, unknown}, "1 exit: rank 0 exited with code 1"},
		{"ranks disagree", []event{disagreed, good(1)}, "113 desync: ranks disagree: rank 0: sizes"},
		{"ranks disagree, and a peer fails first", []event{{rank: 1, report: failedBefore}, disagreed}, "113 desync: ranks disagree: rank 0: sizes"},
		{"ranks disagree, and then hang", []event{{order: hung}, {rank: 1, report: knows}}, "113 desync: ranks disagree: rank 1: stream_sync: sizes"},
		{"ranks disagree, and then a signal", []event{{order: signalled}, {rank: 1, report: knows}}, "105 signal: stopped"},
		{"bytes not as sent", []event{corrupted, good(1)}, "114 verification failed: verification failed: rank 0: digest"},
		{"bytes not as sent, and who is told ends first", []event{{rank: 1, report: told}, corrupted}, "114 verification failed: verification failed: rank 0: digest"},
		{"bytes not as sent, and then hang", []event{{order: hung}, {rank: 1, report: suspects}}, "114 verification failed: verification failed: rank 1: digest"},
		{"bytes not as sent, and ranks disagree", []event{corrupted, {rank: 1, report: knows}}, "113 desync: ranks disagree: rank 1: stream_sync: sizes"},
		{"bytes not as sent, and then a signal", []event{{order: signalled}, {rank: 1, report: suspects}}, "105 signal: stopped"},
		{"stopped as ordered", []event{setup, stopped, exited(1, ExitRankLost)}, "104 setup failed: sizes disagree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watchOver(t, 3)
			for _, e := range append([]event{good(2)}, c.events...) {
				s.handle(e)
			}
			if got := outcomeOf(s); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A rank's last word and its end come by different ways: the end may be first.
func TestEndThatOvertakesTheReport(t *testing.T) {
	s := watchOver(t, 2)
	for rank, rep := range []*report{{Rank: 0}, {Rank: 1, Kind: KindTrap, Code: ExitTrap, Text: "unreachable"}} {
		if err := s.store.Set(keyDone(rank), rep.encode(4096)); err != nil {
			t.Fatal(err)
		}
		s.handle(exited(rank, rep.Code))
	}
	if got, want := outcomeOf(s), "107 trap: rank 1 trapped: unreachable"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An order of a rank that joined reaches the other ranks before the launcher.
func TestStoppedRankThatOvertakesTheOrder(t *testing.T) {
	s := watchOver(t, 2)
	if err := s.store.Set(keyAbort, []byte(`{"kind":"signal","code":105,"text":"rank 1 was stopped by a signal"}`)); err != nil {
		t.Fatal(err)
	}
	s.handle(event{rank: 0, report: &report{Kind: kindStopped, Code: ExitSignal}})
	if got, want := outcomeOf(s), "105 signal: rank 1 was stopped by a signal"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Ranks that this launcher has killed are not to blame for it.
func TestKilledRanksAreNotLost(t *testing.T) {
	s := watchOver(t, 2)
	s.handle(event{order: &abortOrder{Kind: KindSetup, Code: ExitUsage, Text: "sizes disagree"}})
	s.tick(time.Now()) // not yet
	s.tick(s.killAt.Add(time.Millisecond))
	for rank := range s.slots {
		if kills := s.slots[rank].process.(*fakeProcess).kills; kills != 1 {
			t.Errorf("rank %d was killed %d times", rank, kills)
		}
		s.handle(event{rank: rank, exit: &exitStatus{code: -1, text: "killed by SIGKILL"}})
	}
	if got, want := outcomeOf(s), "104 setup failed: sizes disagree"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A run lasts until its output has been read if it ended well, and not for ever
// if it did not.
func TestOutputOutlivesRanks(t *testing.T) {
	printed := func(rank int) event { return event{rank: rank, printed: true} }
	ends := []event{good(0), good(1), exited(0, 0), exited(1, 0)}
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name          string
		events        []event
		order         bool
		over, overdue bool
	}{
		{"nobody reads", ends, false, false, false},
		{"one has been read", append(ends, printed(1)), false, false, false},
		{"all has been read", append(ends, printed(1), printed(0)), false, true, false},
		{"all has been read, and one does not end", []event{good(0), good(1), exited(1, 0), printed(0), printed(1)}, false, false, true},
		{"nobody reads what was given up", ends, true, false, true},
		{"one does not even die", []event{good(0), good(1), exited(0, 0)}, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watchOver(t, 2)
			if c.order {
				s.giveUp(KindSignal, "stopped by a signal")
				s.killAt = long
			}
			for _, e := range c.events {
				s.handle(e)
			}
			s.finishedAt = long
			s.expire()
			if over, overdue := s.over(), s.overdue(); over != c.over || overdue != c.overdue {
				t.Errorf("over %v, overdue %v", over, overdue)
			}
			if !c.order && s.order != nil {
				t.Errorf("the run timed out: %s", s.order.Text)
			}
		})
	}
}

// Processes that stay when their guests have ended are killed if they are this
// launcher's own.
func TestProcessesThatDoNotEnd(t *testing.T) {
	s := watchOver(t, 2)
	s.slots[1].printing = false // it has joined
	s.handle(good(0))
	s.handle(good(1))
	for _, since := range []time.Duration{reapGrace / 2, reapGrace + time.Millisecond} {
		if s.over() || s.slots[0].process.(*fakeProcess).kills != 0 {
			t.Fatal("not even started to wait")
		}
		s.tick(s.finishedAt.Add(since))
	}
	if kills := s.slots[0].process.(*fakeProcess).kills; kills != 1 {
		t.Errorf("this launcher's own process was killed %d times", kills)
	}
	s.handle(event{rank: 0, exit: &exitStatus{code: -1, text: "killed by SIGKILL"}})
	s.handle(event{rank: 0, printed: true})
	if kills := s.slots[1].process.(*fakeProcess).kills; kills != 0 || !s.over() || outcomeOf(s) != "none" {
		t.Errorf("killed %d times, over %v, verdict %s", kills, s.over(), outcomeOf(s))
	}
}
