package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

func reportCommand(s *state) *cli.Command {
	o := defaultOptions()
	return &cli.Command{
		Name:      "report",
		Usage:     "print the summary of a kept run again, or write it out in another form",
		UsageText: "ccrun report [flags] DIR",
		Description: `   ccrun --run-dir my_run -n 4 ring_allgather.wasm
   ccrun report my_run
   ccrun report --json --threshold 'cct.p99<5ms' my_run
   ccrun report -o json=spans.json my_run
   ccrun report --threshold straggler==none --threshold 'path.wait<20%' my_run

Metrics of --threshold, with STAT one of ` + traces.ThresholdStats() + `:
` + traces.ThresholdMetrics(),
		Flags: []cli.Flag{
			valueFlag(&o.outputs, "also write the run to `OUTPUT`: "+keptOutputNames()+" (repeatable)", "out", "o"),
			valueFlag(&o.thresholds, "exit with 99 unless `CONDITION` holds: 'cct.p99<5ms' (repeatable)", "threshold"),
			valueFlag(&o.trace, "export spans of `LEVEL` and what is coarser: collective, flow, slice, message", "trace"),
			valueFlag(&o.spansMax, "export `N` spans of a collective at most, and 100 times as many of the run", "trace-max-spans"),
			boolFlag(&o.json, "print one JSON object", "json"),
			boolFlag(&o.silent, "print no summary", "quiet", "q"),
		},
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "run directory")
			if err != nil {
				return err
			}
			return reportRun(c, s, o, dir)
		},
	}
}

// reportRun does for a kept run what the end of a run does. The exit code
// tells of thresholds only: the run's own is part of the report.
func reportRun(c *cli.Context, s *state, o *runOptions, dir string) error {
	if err := errors.Join(o.outputs.check(), o.outputs.refuseLive()); err != nil {
		return err
	}
	r, err := readReport(dir)
	if err != nil {
		return err
	}
	if r.ExitCode == runner.ExitThreshold {
		r.ExitCode = runner.ExitOK // the run was fine; other thresholds are looked at here
	}
	defer endOnSignal(s, o.outputs.removeParts)()
	run, err := traces.Open(dir)
	if err != nil {
		return usageError{err.Error(), "give the directory that ccrun --keep or --run-dir left"}
	}
	defer run.Close()
	r.summarize(run, o.thresholds)
	r.TraceParent = cmp.Or(r.TraceParent, o.outputs.traceParent(s))
	if r.Ranks == 0 {
		r.Ranks = run.Size()
	}
	e := &export{ctx: c.Context, state: s, run: run, info: r.info(r.Labels, s.env), spans: o.spans(), quiet: o.silent, report: r}
	failed := o.outputs.write(e)
	r.Spans = e.counts
	if err := r.write(s, o); err != nil {
		return err
	}
	if len(failed) > 0 {
		return s.complainOf(failed)
	}
	for _, outcome := range r.Thresholds {
		if outcome.Crossed {
			return codeError(runner.ExitThreshold)
		}
	}
	return nil
}

// removeParts removes what was written so far of outputs that are not whole.
func (v outputsValue) removeParts() {
	for i := range v {
		if v[i].kind.argument == "FILE" {
			traces.RemovePart(v[i].argument)
		}
	}
}

// readReport reads what the run itself left. A run that was killed leaves
// nothing but flight files.
func readReport(dir string) (*report, error) {
	r := &report{Summary: &traces.Summary{}, Digests: map[string][]string{}, Workflow: filepath.Base(dir), Device: "cpu"}
	text, err := os.ReadFile(filepath.Join(dir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return r, nil
}
