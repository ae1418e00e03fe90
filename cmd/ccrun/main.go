// Command ccrun runs one user-written Wasm module on every rank of a node. The
// module scripts communication; ccrun carries it out, records every operation
// and says what it cost.
//
// Begin with [newApp], the list of commands. The package reads flags, prints
// results and maps errors to exit codes; packages runner and traces do the
// work. It is the only one that touches the process: arguments, environment,
// terminal, signals.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"
)

// state is the world as the commands see it.
type state struct {
	args           []string
	environ        []string
	env            func(string) string
	stdout, stderr io.Writer
	stdoutTerminal bool
	stderrTerminal bool
	signals        func() <-chan os.Signal // from then on, signals do not end the process
	exit           func(code int)
	self           string // path of this program
	tempDir        string
	cacheDir       string // "" if there is no place for one
}

func main() {
	os.Exit(execute(context.Background(), processState()))
}

func processState() *state {
	// A write to a pipe that nobody reads is to fail, not to end the process,
	// which would leave the run directory behind.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		cache += "/ccrun"
	}
	return &state{
		args:           os.Args,
		environ:        os.Environ(),
		env:            os.Getenv,
		stdout:         &abandonable{out: os.Stdout},
		stderr:         os.Stderr,
		stdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		signals:        stopSignals,
		exit:           os.Exit,
		self:           self,
		tempDir:        os.TempDir(),
		cacheDir:       cache,
	}
}

// stopSignals passes on the signals that end a run, but for those that whoever
// started this process has told it to ignore, as nohup does. A command that does
// not ask for them is ended by the system.
func stopSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals
}

// abandonable is an output whose reader may leave, as head does when it has
// seen enough: nothing is written from then on, and that is no error.
type abandonable struct {
	out       io.Writer
	abandoned atomic.Bool
}

// Write implements io.Writer.
func (a *abandonable) Write(p []byte) (int, error) {
	if a.abandoned.Load() {
		return len(p), nil
	}
	n, err := a.out.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		a.abandoned.Store(true)
		return len(p), nil
	}
	return n, err
}
