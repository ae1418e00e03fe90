package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ccrun/ccrun/runner"
)

// interruptible gives a context that the first signal cancels, so that the run
// is stopped in order. The second signal ends the process at once; the ranks
// die with it.
func interruptible(parent context.Context, s *state) (context.Context, context.CancelFunc) {
	return interruptibleUntil(parent, s, new(atomic.Bool))
}

// interruptibleUntil is interruptible for a command that has more to do once
// its run is over. The first signal then stops nothing, as that is soon done or
// else worth waiting for, but says how to end it.
func interruptibleUntil(parent context.Context, s *state, over *atomic.Bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := s.signals()
	go func() {
		select {
		case <-ctx.Done():
			return
		case sig := <-signals:
			doing := "stopping the ranks"
			if over.Load() {
				doing = "the run is over, writing what came out of it"
			}
			fmt.Fprintf(s.stderr, "ccrun: %s: %s; once more ends ccrun at once\n", sig, doing)
			cancel()
		}
		<-signals
		s.exit(runner.ExitSignal)
	}()
	return ctx, cancel
}

// endOnSignal ends the process at the first signal until stopped. What may have
// been written in part is removed.
func endOnSignal(s *state, remove func()) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	signals := s.signals()
	go func() {
		select {
		case <-ctx.Done():
		case <-signals:
			remove()
			s.complain("stopped by a signal", "")
			s.exit(runner.ExitSignal)
		}
	}()
	return stop
}
