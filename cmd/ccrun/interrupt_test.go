package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/runner"
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

func TestInterruptible(t *testing.T) {
	signals, exits := make(chan os.Signal), make(chan int)
	stderr := new(lockedText)
	s := &state{stderr: stderr, signals: signals, exit: func(code int) { exits <- code }}
	ctx, stop := interruptible(context.Background(), s)
	defer stop()
	if ctx.Err() != nil {
		t.Fatal("stopped before any signal")
	}
	deadline := time.After(10 * time.Second)
	for _, step := range []struct {
		name string
		wait func() bool
	}{
		{"the first signal stops", func() bool {
			select {
			case <-ctx.Done():
				return true
			case <-deadline:
				return false
			}
		}},
		{"the second one exits", func() bool {
			select {
			case code := <-exits:
				return code == runner.ExitSignal
			case <-deadline:
				return false
			}
		}},
	} {
		select {
		case signals <- os.Interrupt:
		case <-deadline:
			t.Fatalf("%s: nobody takes the signal", step.name)
		}
		if !step.wait() {
			t.Fatalf("%s: it does not", step.name)
		}
	}
	if got, want := stderr.text.String(), "ccrun: interrupt: stopping the ranks; once more ends ccrun at once\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
