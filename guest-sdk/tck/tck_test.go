package tck

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guests are all directories that hold one.
func guests(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"cases/*", "../../workflows/*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				found = append(found, dir)
			}
		}
	}
	return found
}

func TestEveryGuestBuilds(t *testing.T) {
	out := t.TempDir()
	languages := map[string]bool{}
	for _, dir := range guests(t) {
		name := filepath.Base(dir)
		toolchain, _, err := plan(dir, name)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		languages[toolchain.Name] = true
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(out, name+".wasm")
			err := Build(t.Context(), dir, file, os.Environ())
			if errors.Is(err, ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			module, err := os.ReadFile(file)
			if err != nil || !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
				t.Errorf("not a WebAssembly module: %v", err)
			}
		})
	}
	for _, toolchain := range Toolchains() {
		if !languages[toolchain.Name] {
			t.Errorf("no guest is written in %s", toolchain.Name)
		}
	}
}

func TestMissingToolchainIsNamed(t *testing.T) {
	odd := Toolchain{Name: "odd", Programs: []string{"go", "no-such-compiler"}, Files: []string{"/no/such/file"}, Install: "pray"}
	if got, want := odd.Missing(), "odd: no no-such-compiler, /no/such/file (pray)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCompilerErrorsAreShown(t *testing.T) {
	toolchain := Toolchains()[0]
	if missing := toolchain.Missing(); missing != "" {
		t.Skip(missing)
	}
	dir := filepath.Join(t.TempDir(), "guest-sdk")
	for name, text := range map[string]string{"c/ccrun.h": "", "bad/main.go": "package main\n\nfunc main() { nothing() }\n", "bad/go.mod": "module bad\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	err := Build(t.Context(), filepath.Join(dir, "bad"), filepath.Join(dir, "bad.wasm"), os.Environ())
	if err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("building nonsense: %v", err)
	}
}

func TestNoSourceIsAnError(t *testing.T) {
	if err := Build(t.Context(), t.TempDir(), "x.wasm", nil); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestCIsCompiledThenLinked(t *testing.T) {
	commands := buildC(job{dir: "/d", out: "/o/w.wasm", root: "/r", sources: []string{"/d/a.c", "/d/b.c"}})
	if len(commands) != 3 {
		t.Fatalf("%d commands", len(commands))
	}
	link := commands[2].argv
	want := []string{"clang", "--target=wasm32-wasi", "--sysroot=/usr", "/o/w.wasm.0.o", "/o/w.wasm.1.o", "-o", "/o/w.wasm"}
	if !slices.Equal(link, want) {
		t.Errorf("links with %v, want %v", link, want)
	}
}
