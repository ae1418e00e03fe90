package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// guestBuilder builds each guest once for all scripts.
type guestBuilder struct {
	dir string

	mu     sync.Mutex
	builds map[string]func() (string, error)
}

func newGuestBuilder(dir string) *guestBuilder {
	return &guestBuilder{dir: dir, builds: make(map[string]func() (string, error))}
}

// command is `guest NAME...`: puts NAME.wasm in the working directory, built
// from the workflow or the test guest of that name.
func (b *guestBuilder) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: guest NAME...")
	}
	for _, name := range args {
		built, err := b.build(name)
		ts.Check(err)
		ts.Check(os.Link(built, ts.MkAbs(name+".wasm")))
	}
}

func (b *guestBuilder) build(name string) (string, error) {
	b.mu.Lock()
	build := b.builds[name]
	if build == nil {
		build = sync.OnceValues(func() (string, error) { return buildGuest(name, b.dir) })
		b.builds[name] = build
	}
	b.mu.Unlock()
	return build()
}

// buildGuest compiles a workflow or a test guest to dir/NAME.wasm. The error
// wraps tck.ErrMissing if the machine lacks the toolchain.
func buildGuest(name, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	out := filepath.Join(dir, name+".wasm")
	for _, parent := range []string{"workflows", "guest-sdk/tck/cases"} {
		source := filepath.Join(repoRoot, parent, name)
		if _, err := os.Stat(source); err == nil {
			return out, tck.Build(context.Background(), source, out, os.Environ())
		}
	}
	return "", errors.New("no guest is called " + name)
}
