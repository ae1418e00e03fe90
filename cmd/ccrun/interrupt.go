package main

import (
	"context"
	"fmt"

	"github.com/ccrun/ccrun/runner"
)

// interruptible gives a context that the first signal cancels, so that the run
// is stopped in order. The second signal ends the process at once; the ranks
// die with it.
func interruptible(parent context.Context, s *state) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-ctx.Done():
			return
		case sig := <-s.signals:
			fmt.Fprintf(s.stderr, "ccrun: %s: stopping the ranks; once more ends ccrun at once\n", sig)
			cancel()
		}
		<-s.signals
		s.exit(runner.ExitSignal)
	}()
	return ctx, cancel
}
