// Package tck builds guests for tests: [Build] compiles a directory with the
// toolchain of its language, [Toolchains] lists them and says what is missing
// here. The test guests are in cases/, one directory each; what runs them are
// the tests of cmd/ccrun and runner.
package tck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMissing is wrapped by errors of [Build] for a toolchain that is not
// installed: a reason to skip a test.
var ErrMissing = errors.New("toolchain not installed")

// Toolchain compiles guests of one language.
type Toolchain struct {
	Name     string
	Suffix   string   // of its source files
	Programs []string // that must be in PATH
	Files    []string // that must be there
	Install  string   // how to get them, on Debian
	commands func(job) []command
}

// job is one guest to build.
type job struct {
	dir, out string // absolute
	root     string // the directory that holds guest-sdk
	sources  []string
}

// command is one step of a build.
type command struct {
	env  []string
	argv []string
}

// Toolchains lists the languages that guests can be written in.
func Toolchains() []Toolchain {
	return []Toolchain{
		{
			Name: "go", Suffix: ".go", Programs: []string{"go"}, Install: "https://go.dev/dl", commands: buildGo,
		},
		{
			Name: "c", Suffix: ".c", Programs: []string{"clang", "wasm-ld"}, Files: []string{"/usr/lib/wasm32-wasi/libc.a"},
			Install: "apt-get install --no-install-recommends clang lld wasi-libc libclang-rt-14-dev-wasm32", commands: buildC,
		},
	}
}

func buildGo(j job) []command {
	return []command{{
		env:  []string{"GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-buildvcs=false"},
		argv: []string{"go", "build", "-o", j.out, "."},
	}}
}

// buildC compiles and links in two steps: a linker that is told to optimise
// may strip the names of functions.
func buildC(j job) []command {
	target := []string{"clang", "--target=wasm32-wasi", "--sysroot=/usr"}
	var commands []command
	link := append([]string{}, target...)
	for i, source := range j.sources {
		object := fmt.Sprintf("%s.%d.o", j.out, i)
		compile := append(append([]string{}, target...), "-O2", "-g", "-Wall", "-Wextra", "-Werror",
			"-I", filepath.Join(j.root, "guest-sdk", "c"), "-c", source, "-o", object)
		commands = append(commands, command{argv: compile})
		link = append(link, object)
	}
	return append(commands, command{argv: append(link, "-o", j.out)})
}

// Missing says what the toolchain lacks on this machine, "" if nothing.
func (t Toolchain) Missing() string {
	var missing []string
	for _, program := range t.Programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	for _, file := range t.Files {
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, file)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: no %s (%s)", t.Name, strings.Join(missing, ", "), t.Install)
}

// Build compiles the guest in dir to the file out. environ is the environment
// to build in, as os.Environ gives it. The error wraps [ErrMissing] if the
// toolchain is not installed, and holds the compiler's output if it fails.
func Build(ctx context.Context, dir, out string, environ []string) error {
	toolchain, j, err := plan(dir, out)
	if err != nil {
		return err
	}
	if missing := toolchain.Missing(); missing != "" {
		return fmt.Errorf("%w: %s", ErrMissing, missing)
	}
	for _, c := range toolchain.commands(j) {
		cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
		cmd.Dir = j.dir
		cmd.Env = append(append([]string{}, environ...), c.env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c.argv, " "), err, text)
		}
	}
	return nil
}

// plan finds the toolchain of a directory's language.
func plan(dir, out string) (Toolchain, job, error) {
	dir, err1 := filepath.Abs(dir)
	out, err2 := filepath.Abs(out)
	if err := errors.Join(err1, err2); err != nil {
		return Toolchain{}, job{}, err
	}
	for _, t := range Toolchains() {
		sources, err := filepath.Glob(filepath.Join(dir, "*"+t.Suffix))
		if err != nil {
			return Toolchain{}, job{}, err
		}
		if len(sources) > 0 {
			root, err := findRoot(dir)
			return t, job{dir: dir, out: out, root: root, sources: sources}, err
		}
	}
	return Toolchain{}, job{}, fmt.Errorf("no source of a guest in %s", dir)
}

// findRoot finds the directory above dir that holds guest-sdk.
func findRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "guest-sdk", "c", "ccrun.h")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no guest-sdk above %s", dir)
		}
	}
}
