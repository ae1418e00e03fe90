package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/tck"
)

// workflowsBuilt calls test with the module of each workflow that has the named
// file, that file, and what runs ccrun.
func workflowsBuilt(t *testing.T, file string, test func(t *testing.T, wasm, path string, run jsonRunner)) {
	paths, err := filepath.Glob(filepath.Join(repoRoot, "workflows", "*", file))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s (%v)", file, err)
	}
	guests, run := newGuestBuilder(t.TempDir()), jsonRunner{t.TempDir()}
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			wasm, err := guests.build(name)
			if errors.Is(err, tck.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			test(t, wasm, path, run)
		})
	}
}

// jsonRunner runs ccrun, with one cache of compiled guests.
type jsonRunner struct{ cache string }

// run runs ccrun with --json and gives what it says.
func (j jsonRunner) run(t *testing.T, args ...string) report {
	t.Helper()
	cmd := exec.Command("ccrun", append([]string{"--json"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CACHE_HOME="+j.cache)
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
	return result
}

// TestWorkflowsOnBothDevices runs each workflow with the arguments of its golden
// result on real ranks and on simulated ones: the same bytes of Wasm, the same
// bytes of data.
func TestWorkflowsOnBothDevices(t *testing.T) {
	workflowsBuilt(t, "golden.txt", func(t *testing.T, wasm, path string, ccrun jsonRunner) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		g := parseGolden(t, string(text))
		for _, ranks := range []string{"2", "4"} {
			args := append([]string{"-n", ranks, "--seed", g.seed, wasm}, g.args...)
			real := ccrun.run(t, append([]string{"--device", "cpu"}, args...)...)
			for _, machine := range []string{"sim:h100", "sim:cpu"} {
				simulated := ccrun.run(t, append([]string{"--device", machine, "--data"}, args...)...)
				if len(real.Digests) == 0 || !maps.EqualFunc(real.Digests, simulated.Digests, sameStrings) {
					t.Errorf("%s ranks: digests %v on cpu, %v on %s", ranks, real.Digests, simulated.Digests, machine)
				}
				if real.Verified == nil || simulated.Verified == nil || !*real.Verified || !*simulated.Verified {
					t.Errorf("%s ranks: not verified on cpu or on %s", ranks, machine)
				}
			}
		}
	})
}

func sameStrings(a, b []string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// logLinesMax keeps golden logs readable.
const logLinesMax = 200

// TestSimulatedWorkflowLogs compares what each workflow does on simulated ranks,
// and when, with a golden log. The lines above its first empty one say what is
// run; those below are rewritten with -rewrite.
func TestSimulatedWorkflowLogs(t *testing.T) {
	workflowsBuilt(t, "sim.golden", func(t *testing.T, wasm, path string, ccrun jsonRunner) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, want, _ := bytes.Cut(text, []byte("\n\n"))
		command := strings.Fields(string(head))
		if len(command) < 2 || command[0] != "ccrun" {
			t.Fatalf("%s begins with %q, not with the arguments of ccrun", path, head)
		}
		out := filepath.Join(t.TempDir(), "log")
		args := []string{"-o", "log=" + out}
		for _, arg := range command[1:] {
			if strings.HasSuffix(arg, ".wasm") {
				arg = wasm
			}
			args = append(args, arg)
		}
		ccrun.run(t, args...)
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(got, []byte("\n")); lines == 0 || lines > logLinesMax {
			t.Errorf("the log has %d lines, want 1 to %d", lines, logLinesMax)
		}
		switch {
		case bytes.Equal(got, want):
		case *rewrite:
			if err := os.WriteFile(path, append(append(head, "\n\n"...), got...), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("the log is not that of %s: %s\n(-rewrite writes it anew)", path, firstDifference(string(got), string(want)))
		}
	})
}

// firstDifference names the first line that differs.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n\t%s\nwant\n\t%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g)-1, len(w)-1)
}

// TestSimulationsAreIdentical simulates a workflow twenty times, on one
// processor and on two: its files are the same to the byte.
func TestSimulationsAreIdentical(t *testing.T) {
	wasm, err := newGuestBuilder(t.TempDir()).build("ring_allgather")
	if err != nil {
		t.Fatal(err)
	}
	const runs = 20
	cache, outputs := t.TempDir(), []string{"json", "csv", "log", "perfetto", "html"}
	first := make(map[string][]byte)
	for i := range runs {
		dir := t.TempDir()
		args := []string{"-q", "--device", "sim:h100x2", "--seed", "5", "--jitter", "10%", "--run-dir", filepath.Join(dir, "run")}
		for _, output := range outputs {
			args = append(args, "-o", output+"="+filepath.Join(dir, output))
		}
		cmd := exec.Command("ccrun", append(args, wasm, "-bytes", "64KiB", "-slice", "16KiB", "-iters", "2")...)
		cmd.Env = append(os.Environ(), "TMPDIR="+dir, "XDG_CACHE_HOME="+cache, fmt.Sprintf("GOMAXPROCS=%d", 1+i%2))
		stdout, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, stdout)
		}
		files := map[string][]byte{"output": stdout}
		for _, name := range append(outputs, "run/rank-0000.flight", "run/rank-0015.flight") {
			if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range files {
			switch {
			case i == 0:
				first[name] = content
			case !bytes.Equal(content, first[name]):
				t.Errorf("run %d: %s is not what it was", i, name)
			}
		}
	}
}
