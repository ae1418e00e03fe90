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
	"io"
	"os"
	"os/signal"
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
	signals        <-chan os.Signal
	exit           func(code int)
	self           string // path of this program
	tempDir        string
	cacheDir       string // "" if there is no place for one
}

func main() {
	os.Exit(execute(context.Background(), processState()))
}

func processState() *state {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
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
		stdout:         os.Stdout,
		stderr:         os.Stderr,
		stdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		signals:        signals,
		exit:           os.Exit,
		self:           self,
		tempDir:        os.TempDir(),
		cacheDir:       cache,
	}
}
