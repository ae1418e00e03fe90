//go:build ignore

// Command tests runs `go test` with its own arguments and prints what go test
// prints without -v: the output of packages and of failed tests. At the end it
// lists the skipped tests with their reasons and, alone on a line, how many
// passed and failed. It exits as go test does.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
}

// report gathers the events of a run.
type report struct {
	out            io.Writer
	output         map[string][]string // of tests that still run
	skips          []string
	failures       map[string]int // of tests, by package
	passed, failed int
}

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests: error:", err)
		os.Exit(1)
	}
	r := &report{out: os.Stdout, output: make(map[string][]string), failures: make(map[string]int)}
	r.read(stdout)
	err = cmd.Wait()
	r.close()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
}

func (r *report) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			r.out.Write(line) // not an event: go test's own complaint
			continue
		}
		r.add(e)
	}
}

func (r *report) add(e event) {
	name := e.Package + " " + e.Test
	switch {
	case e.Action == "output" && e.Test != "":
		r.output[name] = append(r.output[name], e.Output)
	case e.Action == "output" || e.Action == "build-output":
		if e.Output != "PASS\n" {
			io.WriteString(r.out, e.Output)
		}
	case e.Test == "":
		if e.Action == "fail" && r.failures[e.Package] == 0 {
			r.failed++ // it did not build, crashed or hung
		}
	case e.Action == "pass":
		r.passed++
		delete(r.output, name)
	case e.Action == "skip":
		r.skips = append(r.skips, name+": "+reason(r.output[name]))
		delete(r.output, name)
	case e.Action == "fail":
		r.failed++
		r.failures[e.Package]++
		io.WriteString(r.out, strings.Join(r.output[name], ""))
		delete(r.output, name)
	}
}

// reason is the last thing that a skipped test said.
func reason(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "=== ") {
			return line
		}
	}
	return "no reason given"
}

func (r *report) close() {
	for _, lines := range r.output { // tests that a crash cut off
		io.WriteString(r.out, strings.Join(lines, ""))
	}
	if len(r.skips) > 0 {
		fmt.Fprintf(r.out, "\n%d skipped:\n", len(r.skips))
		for _, line := range r.skips {
			fmt.Fprintln(r.out, " ", line)
		}
	}
	fmt.Fprintf(r.out, "%d passed, %d failed\n", r.passed, r.failed)
}
