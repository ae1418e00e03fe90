package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// golden is what a workflow's golden.txt promises: a run, and the digests that
// every rank must report.
type golden struct {
	ranks, seed string
	args        []string
	digests     map[string]string
}

func parseGolden(t *testing.T, text string) golden {
	t.Helper()
	g := golden{digests: make(map[string]string)}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "ranks":
			g.ranks = fields[1]
		case len(fields) == 2 && fields[0] == "seed":
			g.seed = fields[1]
		case len(fields) == 3 && fields[0] == "digest":
			g.digests[fields[1]] = fields[2]
		case len(fields) > 0 && fields[0] == "args":
			g.args = fields[1:]
		case len(fields) > 0:
			t.Fatalf("not a line of a golden result: %q", line)
		}
	}
	if g.ranks == "" || len(g.digests) == 0 {
		t.Fatal("a golden result names the ranks and at least one digest")
	}
	return g
}

// TestWorkflowGoldens runs each workflow as its golden result says.
func TestWorkflowGoldens(t *testing.T) {
	goldens, err := filepath.Glob(filepath.Join(repoRoot, "workflows", "*", "golden.txt"))
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no golden results (%v)", err)
	}
	guests := newGuestBuilder(t.TempDir())
	for _, path := range goldens {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wasm, err := guests.build(name)
			if errors.Is(err, tck.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, wasm, parseGolden(t, string(text)))
		})
	}
}

func checkGolden(t *testing.T, wasm string, g golden) {
	t.Helper()
	args := append([]string{"--json", "-n", g.ranks, "--seed", g.seed, wasm}, g.args...)
	cmd := exec.Command("ccrun", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("ccrun %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	var result report
	if err := json.Unmarshal(stdout, &result); err != nil {
		t.Fatal(err)
	}
	for name, want := range g.digests {
		got := result.Digests[name]
		if len(got) != result.Ranks {
			t.Errorf("digest %s of %d ranks, want %d", name, len(got), result.Ranks)
		}
		for rank, digest := range got {
			if digest != want {
				t.Errorf("rank %d: digest %s is %s, the golden result has %s", rank, name, digest, want)
			}
		}
	}
}
