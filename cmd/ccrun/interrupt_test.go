package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

// lockedText is written by the goroutine that waits for signals.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// interrupted is a state whose signals and exits a test sees.
func interrupted(t *testing.T) (s *state, stderr *lockedText, send func(), exited func() int) {
	signals, exits := make(chan os.Signal), make(chan int, 1)
	stderr = new(lockedText)
	s = &state{
		stderr: stderr, env: func(string) string { return "" }, exit: func(code int) { exits <- code },
		signals: func() <-chan os.Signal { return signals },
	}
	deadline := time.After(10 * time.Second)
	send = func() {
		t.Helper()
		select {
		case signals <- os.Interrupt:
		case <-deadline:
			t.Fatal("nobody takes the signal")
		}
	}
	exited = func() int {
		t.Helper()
		select {
		case code := <-exits:
			return code
		case <-deadline:
			t.Fatal("it does not exit")
			return 0
		}
	}
	return s, stderr, send, exited
}

func TestInterruptible(t *testing.T) {
	for _, c := range []struct {
		over bool
		want string
	}{
		{false, "ccrun: interrupt: stopping the ranks; once more ends ccrun at once\n"},
		{true, "ccrun: interrupt: the run is over, writing what came out of it; once more ends ccrun at once\n"},
	} {
		s, stderr, send, exited := interrupted(t)
		var over atomic.Bool
		ctx, stop := interruptibleUntil(context.Background(), s, &over)
		defer stop()
		if ctx.Err() != nil {
			t.Fatal("stopped before any signal")
		}
		over.Store(c.over)
		send()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the first signal does not stop")
		}
		send()
		if code := exited(); code != runner.ExitSignal {
			t.Errorf("the second signal exits with %d", code)
		}
		if got := stderr.text.String(); got != c.want {
			t.Errorf("said %q, want %q", got, c.want)
		}
	}
}

// A signal ends a report at once, and leaves nothing half written.
func TestEndOnSignal(t *testing.T) {
	s, stderr, send, exited := interrupted(t)
	path := filepath.Join(t.TempDir(), "run.csv")
	outputs := outputsValue{{kind: findOutput("csv"), argument: path}, {kind: findOutput("otlp")}}
	begun, ended, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = traces.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "half")
			close(begun)
			<-end // as a disk is that is stuck
			return err
		})
	}()
	<-begun
	stop := endOnSignal(s, outputs.removeParts)
	defer stop()
	send()
	if code := exited(); code != runner.ExitSignal {
		t.Errorf("exits with %d", code)
	}
	if got, want := stderr.text.String(), "ccrun: error: stopped by a signal\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	close(end)
	<-ended
}
