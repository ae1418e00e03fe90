package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
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

// buildGuest compiles a workflow or a test guest to dir/NAME.wasm.
func buildGuest(name, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	out := filepath.Join(dir, name+".wasm")
	for _, parent := range []string{"workflows", "guest-sdk/tck/cases"} {
		source := filepath.Join(repoRoot, parent, name)
		if _, err := os.Stat(source); err != nil {
			continue
		}
		cmd := exec.Command("go", "build", "-o", out, ".")
		cmd.Dir = source
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build guest %s: %w\n%s", name, err, strings.TrimSpace(string(text)))
		}
		return out, nil
	}
	return "", errors.New("no guest is called " + name)
}
