package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

// report is a run as --json prints it. Fields are only ever added.
type report struct {
	RunID    string              `json:"run_id"`
	Device   string              `json:"device"`
	Preset   string              `json:"preset"`
	Ranks    int                 `json:"ranks"`
	ExitCode int                 `json:"exit_code"`
	Verdict  *verdictReport      `json:"verdict"`
	Verified *bool               `json:"verified"`
	Digests  map[string][]string `json:"digests"`
	WallSecs float64             `json:"wall_s"`

	// Of simulated runs.
	VirtualSecs *float64          `json:"virtual_s,omitempty"`
	Simulation  *simulationReport `json:"simulation,omitempty"`

	*traces.Summary

	Thresholds []thresholdOutcome `json:"thresholds"`
	Workflow   string             `json:"workflow"`
	Launcher   string             `json:"launcher"`
	Labels     map[string]string  `json:"labels,omitempty"`
	Fault      string             `json:"fault,omitempty"` // what was made wrong on purpose
	Spans      []spanReport       `json:"spans,omitempty"`
	// TraceParent is what the run is a child of, for later reports.
	TraceParent string `json:"trace_parent,omitempty"`
}

// verdictReport is why a run ended badly.
type verdictReport struct {
	Kind  string               `json:"kind"`
	Text  string               `json:"text"`
	Ranks []runner.RankVerdict `json:"ranks"`
}

// recordFile holds the report in a run directory that is kept.
const recordFile = "run.json"

func newReport(path string, result *runner.Result) *report {
	r := &report{
		RunID: result.RunID, Device: result.Device, Ranks: result.Ranks, ExitCode: result.ExitCode,
		Verified: result.Verified, Digests: result.Digests, WallSecs: result.Wall.Seconds(),
		Workflow: filepath.Base(path), Launcher: result.Launcher, Labels: result.Labels, Fault: result.Fault,
		Summary: &traces.Summary{}, Thresholds: []thresholdOutcome{},
	}
	if sim := result.Simulation; sim != nil {
		secs := sim.Virtual.Seconds()
		r.Preset, r.VirtualSecs, r.Simulation = fmt.Sprintf("%sx%d", sim.Preset.Name, sim.Nodes), &secs, newSimulationReport(sim)
	}
	if v := result.Verdict; v != nil {
		r.Verdict = &verdictReport{v.Kind, v.Text, v.Ranks}
	}
	if r.Digests == nil {
		r.Digests = map[string][]string{}
	}
	r.Memory.GuestPeak = result.GuestPeakBytes
	return r
}

// summarize fills in what the flight files say. A crossed threshold only
// counts when nothing worse happened.
func (r *report) summarize(run *traces.Run, thresholds thresholdsValue) {
	guestPeak := r.Memory.GuestPeak
	r.Summary = traces.Summarize(run)
	r.Memory.GuestPeak = guestPeak
	r.Thresholds = thresholds.outcomes(r.Summary)
	for _, outcome := range r.Thresholds {
		if outcome.Crossed && r.ExitCode == runner.ExitOK {
			r.ExitCode = runner.ExitThreshold
		}
	}
}

// info is what spans say of the run.
func (r *report) info(labels map[string]string, env func(string) string) traces.Info {
	host, _ := os.Hostname() // it can be left out
	if r.Simulation != nil {
		host = r.Device // the same wherever it is simulated
	}
	return traces.Info{
		RunID: r.RunID, Device: r.Device, Preset: r.Preset, Labels: labels, Fault: r.Fault,
		TraceParent: r.TraceParent, ServiceVersion: version,
		Host: host, Env: env,
	}
}

// write prints the report as the flags ask for, and why the run failed.
func (r *report) write(s *state, o *runOptions) error {
	if r.Verdict != nil {
		s.complain(indentMore(r.Verdict.Text), verdictHints[r.Verdict.Kind])
	}
	switch {
	case o.json:
		return json.NewEncoder(s.stdout).Encode(r)
	case o.silent:
		return nil
	}
	var b bytes.Buffer
	if err := r.writeText(&b, s.stdoutTerminal); err != nil {
		return err
	}
	_, err := s.stdout.Write(b.Bytes())
	return err
}

// verdictHints are what to do about verdicts.
var verdictHints = map[string]string{
	runner.KindLimit:    "--memory raises the limit of a workflow's own memory, --buffer-memory that of its buffers",
	runner.KindDeadlock: "`ccrun check`, with the same workflow and arguments, looks for the cause",
	runner.KindTimeout:  "--timeout raises the limit of the run, --op-timeout that of one operation",
}

// indentMore sets the lines after the first one off.
func indentMore(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

func (r *report) writeText(w io.Writer, color bool) error {
	fmt.Fprintf(w, "\n%s: %d ranks on %s, %s, %s, run %s\n", r.Workflow, r.Ranks, r.where(), r.outcome(), r.duration(), r.RunID)
	if r.Fault != "" {
		fmt.Fprintf(w, "made wrong on purpose: %s\n", r.Fault)
	}
	if err := r.Summary.WriteTable(w, color); err != nil {
		return err
	}
	for _, threshold := range r.Thresholds {
		mark := "holds"
		if threshold.Crossed {
			mark = "CROSSED"
		}
		fmt.Fprintf(w, "threshold %s: %s\n", mark, threshold.Text)
	}
	if r.Simulation != nil {
		for _, line := range r.Simulation.lines() {
			fmt.Fprintln(w, line)
		}
	}
	return nil
}

// where is the device, with the machine that is simulated.
func (r *report) where() string {
	if r.Preset == "" {
		return r.Device
	}
	return r.Device + ":" + r.Preset
}

// duration is how long the run took, in its own time.
func (r *report) duration() string {
	if r.VirtualSecs == nil {
		return seconds(r.WallSecs)
	}
	virtual := time.Duration(math.Round(*r.VirtualSecs * float64(time.Second)))
	return fmt.Sprintf("%v of virtual time in %s", virtual, seconds(r.WallSecs))
}

// elapsedSecs is what exported files say that the run took: of a simulated run
// nothing that another one would not say.
func (r *report) elapsedSecs() float64 {
	if r.VirtualSecs != nil {
		return *r.VirtualSecs
	}
	return r.WallSecs
}

// outcome is the run in a word or two.
func (r *report) outcome() string {
	switch {
	case r.Verdict != nil:
		return r.Verdict.Kind
	case r.ExitCode != runner.ExitOK && r.ExitCode != runner.ExitThreshold:
		return fmt.Sprintf("exit code %d", r.ExitCode)
	case r.Verified == nil:
		return "nothing verified"
	case *r.Verified:
		return "verified"
	}
	return "verification failed"
}

// seconds is a time for people.
func seconds(secs float64) string {
	return time.Duration(secs * float64(time.Second)).Round(time.Millisecond).String()
}

// keep leaves the report in a run directory that stays. The run was fine even
// if there is no room for it.
func (r *report) keep(s *state, dir string, silent bool) {
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, recordFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		s.warn("report: %v", err)
	}
	if !silent {
		fmt.Fprintln(s.stderr, "ccrun: run directory kept:", dir)
	}
}
