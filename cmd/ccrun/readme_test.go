package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/runner"
)

// step is a command of a README's session and what the README says it prints.
type step struct{ command, output string }

// session extracts the console blocks of a README.
func session(text string) []step {
	var steps []step
	inside := false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console\n"
		case inside && isCommand:
			steps = append(steps, step{command: strings.TrimSpace(command)})
		case inside && len(steps) > 0:
			steps[len(steps)-1].output += line
		}
	}
	return steps
}

// measured is what differs from run to run and from machine to machine.
var measured = regexp.MustCompile(`\b[0-9a-f]{16}\b|[0-9]+(\.[0-9]+)?( ?([kMGT]?B/s|[num]?s|µs|[KMGT]i?B)\b| ?%)?`)

// explained is what runs differ in by more than numbers: whose doing the time
// was, and whether a pair of ranks stands out.
var explained = regexp.MustCompile(`(?m)(^  path of the \w+:|max/mean [0-9.]+).*$`)

// masked makes outputs of two runs comparable.
func masked(output, bin string) string {
	output = strings.ReplaceAll(output, bin, "bin")
	output = explained.ReplaceAllString(output, "$1")
	return regexp.MustCompile(` +`).ReplaceAllString(measured.ReplaceAllString(output, "#"), " ")
}

// TestReadmeSession runs what the README shows. Only bin/ lies elsewhere, so
// that a test leaves the working tree alone.
func TestReadmeSession(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "bin")
	steps := session(readme(t, "README.md"))
	if len(steps) < 3 {
		t.Fatalf("the README shows %d commands, want a session", len(steps))
	}
	for _, s := range steps {
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(s.command, "bin/", bin+"/"))
		cmd.Dir = repoRoot
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.command, err, output)
		}
		if got, want := masked(string(output), bin), masked(s.output, bin); got != want {
			t.Errorf("$ %s\nprints\n%s\nbut the README shows\n%s", s.command, strings.ReplaceAll(string(output), bin, "bin"), s.output)
		}
	}
}

func readme(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repoRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeLinks holds that what READMEs point to is there.
func TestReadmeLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	for _, name := range []string{"README.md", "workflows/README.md", "traces/README.md", "host/RATIONALE.md"} {
		for _, m := range link.FindAllStringSubmatch(readme(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(repoRoot, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s points to %s, which is not there", name, m[1])
			}
		}
	}
}

// TestReadmeExitCodes holds that the README tells of every exit code.
func TestReadmeExitCodes(t *testing.T) {
	text := readme(t, "README.md")
	codes := []int{
		runner.ExitOK, runner.ExitThreshold, runner.ExitUsage, runner.ExitSignal, runner.ExitTrap, runner.ExitRankLost,
		runner.ExitDeadlock, runner.ExitDesync, runner.ExitUnverified, runner.ExitLimit, runner.ExitABI, runner.ExitTimeout, runner.ExitInternal,
	}
	for _, code := range codes {
		if !strings.Contains(text, "| "+strconv.Itoa(code)+" |") {
			t.Errorf("README.md does not say what exit code %d means", code)
		}
	}
}

// TestWorkflowsIndex holds that the index lists each workflow, and that each
// explains itself.
func TestWorkflowsIndex(t *testing.T) {
	index := readme(t, "workflows/README.md")
	entries, err := os.ReadDir(filepath.Join(repoRoot, "workflows"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		name := entry.Name()
		if !strings.Contains(index, "("+name) {
			t.Errorf("workflows/README.md has no line that links to %s", name)
		}
		if _, err := os.Stat(filepath.Join(repoRoot, "workflows", name, "README.md")); err != nil {
			t.Errorf("workflows/%s has no README.md", name)
		}
	}
}
