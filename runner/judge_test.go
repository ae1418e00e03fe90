package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

func TestEnding(t *testing.T) {
	exit := func(code uint32) guest.Exit { return guest.Exit{Err: sys.NewExitError(code), Code: code} }
	trap := guest.Exit{Err: errors.New("x"), Trap: "unreachable"}
	abort := func(code int) guest.Exit {
		return guest.Exit{Err: fmt.Errorf("call: %w", &module.AbortError{Code: code, Text: "enough"}), Trap: "guest aborted"}
	}
	mismatch := "stream_sync: recv: " + device.ErrMismatch.Error()
	for _, c := range []struct {
		name    string
		exit    guest.Exit
		refused bool
		rep     report
		want    string
	}{
		{"well", guest.Exit{}, false, report{}, "/0/"},
		{"well after a refused request", guest.Exit{}, true, report{LastError: mismatch}, "/0/"},
		{"well though ranks disagree", guest.Exit{}, false, report{Desync: mismatch, Results: module.Results{Mismatches: 3}}, "desync/113/" + mismatch},
		{"wrong data", guest.Exit{}, false, report{Results: module.Results{Mismatches: 3}}, "verification failed/114/3 elements differ from what they should be"},
		{"wrong data and an exit code", exit(3), false, report{Results: module.Results{Mismatches: 3}}, "exit/3/exited with code 3"},
		{"exit", exit(95), false, report{}, "exit/95/exited with code 95"},
		{"exit with our code", exit(112), false, report{}, "trap/107/exited with code 112, and a guest's own are 1 to 95"},
		{"exit with a huge code", exit(1 << 31), false, report{}, "trap/107/exited with code 2147483648, and a guest's own are 1 to 95"},
		{"trap", trap, false, report{}, "trap/107/unreachable"},
		{"trap out of memory", trap, true, report{GuestPeakBytes: 65536}, "limit exceeded/115/its memory limit is used up: it has 65536 bytes and asked for more"},
		{"abort", abort(42), false, report{}, "abort/42/enough"},
		{"abort with our code", abort(107), false, report{}, "abort/95/enough"},
		{"mismatch, then another failure", exit(1), false, report{Desync: mismatch, LastError: "share_lookup: x"}, "desync/113/" + mismatch},
		{"mismatch, then an abort", abort(42), false, report{Desync: mismatch}, "desync/113/" + mismatch},
		{"bytes not as sent, and an exit code", exit(1), false, report{Corrupt: "digest", LastError: "x"}, "verification failed/114/digest"},
		{"bytes not as sent, and nobody minds", guest.Exit{}, false, report{Corrupt: "digest", Results: module.Results{Mismatches: 1}}, "verification failed/114/digest"},
		{"bytes not as sent, and a mismatch", exit(1), false, report{Corrupt: "digest", Desync: mismatch}, "desync/113/" + mismatch},
		{"words of a mismatch", exit(3), false, report{LastError: mismatch}, "exit/3/exited with code 3"},
	} {
		kind, code, text := ending(c.exit, c.refused, &c.rep)
		if got := fmt.Sprintf("%s/%d/%s", kind, code, text); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A call that fails because the rendezvous does is no order to stop.
func TestUnwoundGuest(t *testing.T) {
	unwound := guest.Exit{Err: fmt.Errorf("share_lookup: %w", device.ErrAborted), Trap: "share_lookup: unavailable"}
	for _, c := range []struct {
		name  string
		exit  guest.Exit
		order *abortOrder
		want  string
	}{
		{"ordered", unwound, &abortOrder{Kind: KindDeadlock, Code: ExitDeadlock, Text: "deadlock"}, "stopped/112/deadlock"},
		{"not ordered", unwound, nil, "internal error/70/a call failed as if the run had been given up: share_lookup: unavailable"},
		{"not ordered, at the end", guest.Exit{Err: device.ErrAborted}, nil,
			"internal error/70/a call failed as if the run had been given up: " + device.ErrAborted.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := loadedRank(t)
			if c.order != nil {
				r.order = c.order
				close(r.stop)
			} else {
				r.spec.UnwindGrace = time.Millisecond
			}
			rep := r.judge(c.exit)
			if got := fmt.Sprintf("%s/%d/%s", rep.Kind, rep.Code, rep.Text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			log, err := flight.Open(flightPath(r.spec.RunDir, 0))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			if log.State() != flight.StateAborted {
				t.Errorf("the flight file says %v", log.State())
			}
		})
	}
}

// loadedRank is a rank that is about to run a guest.
func loadedRank(t *testing.T) *rank {
	t.Helper()
	dir := t.TempDir()
	recorder, err := flight.Create(flightPath(dir, 0), flight.Meta{Size: 1}, 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recorder.Close() })
	path := write(t)
	data, err := guest.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime, _, err := compile(t.Context(), &spec{CacheDir: filepath.Join(dir, "cache"), MemoryBytes: 1 << 20}, path, data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.Close(context.Background()) })
	opener, err := pickDevice("cpu")
	if err != nil {
		t.Fatal(err)
	}
	store := rendezvous.NewStore()
	t.Cleanup(store.Close)
	dev, err := opener.Open(device.Config{Size: 1, Exchange: store, Recorder: recorder, MemoryBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return &rank{
		spec: &spec{UnwindGrace: time.Minute, RunDir: dir}, recorder: recorder, runtime: runtime, memory: runtime.Memory(), stop: make(chan struct{}),
		instance: module.New(module.Config{Size: 1, LocalSize: 1, Device: dev, Exchange: store, Recorder: recorder}),
	}
}

func TestReportFitsTheRendezvous(t *testing.T) {
	long := strings.Repeat("x\"", 1<<16)
	r := &report{Rank: 1, Kind: KindTrap, Code: ExitTrap, Text: long, LastError: long, Corrupt: long}
	for range 100 {
		r.Stack = append(r.Stack, guest.Frame{Function: long})
	}
	r.Results.Digests = map[string]string{long: "00"}
	data := r.encode(4096)
	if len(data) > 4096 {
		t.Errorf("%d bytes", len(data))
	}
	got, err := parseReport(data)
	if err != nil || got.Rank != 1 || got.Kind != KindTrap || got.Code != ExitTrap || !strings.HasPrefix(got.Text, "x\"x") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadSpecs(t *testing.T) {
	for _, text := range []string{"", "x", "{}", `{"rank":2,"size":2,"run_dir":"d","socket":"s"}`, `{"rank":-1,"size":2,"run_dir":"d","socket":"s"}`,
		`{"rank":0,"size":100000,"run_dir":"d","socket":"s"}`, `{"rank":0,"size":2}`} {
		var stderr strings.Builder
		env := func(string) string { return text }
		if code := RankMain(t.Context(), env, nil, &stderr); code != ExitUsage {
			t.Errorf("%s: exit code %d", text, code)
		}
		if line := stderr.String(); strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "ccrun: error: ") {
			t.Errorf("%s: %q", text, line)
		}
	}
}
