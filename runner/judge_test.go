package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/sys"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
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
		{"wrong data", guest.Exit{}, false, report{Results: module.Results{Mismatches: 3}}, "verification failed/114/3 elements differ from what they should be"},
		{"wrong data and an exit code", exit(3), false, report{Results: module.Results{Mismatches: 3}}, "exit/3/exited with code 3"},
		{"exit", exit(95), false, report{}, "exit/95/exited with code 95"},
		{"exit with our code", exit(112), false, report{}, "trap/107/exited with code 112, and a guest's own are 1 to 95"},
		{"exit with a huge code", exit(1 << 31), false, report{}, "trap/107/exited with code 2147483648, and a guest's own are 1 to 95"},
		{"trap", trap, false, report{}, "trap/107/unreachable"},
		{"trap out of memory", trap, true, report{GuestPeakBytes: 65536}, "limit exceeded/115/its memory limit is used up: it has 65536 bytes and asked for more"},
		{"abort", abort(42), false, report{}, "abort/42/enough"},
		{"abort with our code", abort(107), false, report{}, "abort/95/enough"},
		{"mismatch", exit(1), false, report{LastError: mismatch}, "desync/113/" + mismatch},
	} {
		kind, code, text := ending(c.exit, c.refused, &c.rep)
		if got := fmt.Sprintf("%s/%d/%s", kind, code, text); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestReportFitsTheRendezvous(t *testing.T) {
	long := strings.Repeat("x\"", 1<<16)
	r := &report{Rank: 1, Kind: KindTrap, Code: ExitTrap, Text: long, LastError: long}
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
