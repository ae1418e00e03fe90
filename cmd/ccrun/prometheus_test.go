package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// liveRun is a run that serves metrics.
type liveRun struct {
	cmd    *exec.Cmd
	wasm   string
	url    string
	stderr *bufio.Reader
}

// startLive starts a run that lasts until the test is over, and reads where
// its metrics are. It records collectives only, for which there is room to the
// end.
func startLive(t *testing.T) *liveRun {
	t.Helper()
	wasm, err := newGuestBuilder(t.TempDir()).build("ring_allgather")
	if errors.Is(err, tck.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	r := &liveRun{wasm: wasm, cmd: exec.Command("ccrun", "-o", "prometheus=127.0.0.1:0", "--quiet", "--run-dir", dir, "-n", "2",
		"--trace", "collective", wasm, "-bytes", "64KiB", "-slice", "16KiB", "-iters", "1000000", "-verify", "last")}
	r.cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	pipe, err := r.cmd.StderrPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, r.stderr)
		_ = r.cmd.Wait() // it was interrupted
	})
	r.stderr = bufio.NewReader(pipe)
	line, err := r.stderr.ReadString('\n')
	var found bool
	if r.url, found = strings.CutPrefix(strings.TrimSpace(line), "ccrun: metrics at "); err != nil || !found {
		t.Fatalf("said %q, %v", line, err)
	}
	return r
}

func (r *liveRun) scrape(t *testing.T) string {
	t.Helper()
	answer, err := http.Get(r.url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var collectiveCount = regexp.MustCompile(`(?m)^ccl_collective_duration_seconds_count\{.*ccl_operation="all_gather",ccl_size="2"\} (\d+)$`)

// TestPrometheus scrapes a run while it lasts: its collectives become more. Who
// wants the same address is refused before anything is run.
func TestPrometheus(t *testing.T) {
	r := startLive(t)
	deadline := time.After(scriptDeadline)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, rises := 0, 0
	for rises < 3 {
		select {
		case <-deadline:
			t.Fatalf("%d rises within %v; the last answer:\n%s", rises, scriptDeadline, r.scrape(t))
		case <-tick.C:
		}
		m := collectiveCount.FindStringSubmatch(r.scrape(t))
		if m == nil {
			continue
		}
		count, err := strconv.Atoi(m[1])
		if err != nil || count < last {
			t.Fatalf("%d collectives after %d, %v", count, last, err)
		}
		if count > last {
			last, rises = count, rises+1
		}
	}
	address := strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/metrics")
	second := exec.Command("ccrun", "-o", "prometheus="+address, r.wasm, "-iters", "1")
	second.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	text, err := second.CombinedOutput()
	want := "ccrun: error: --out \"prometheus=" + address + "\": the address is in use\nccrun: hint: name another address; port 0 takes one that is free\n"
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 104 || string(text) != want {
		t.Errorf("a second run at the address: %v\n%s\nwant\n%s", err, text, want)
	}
}
