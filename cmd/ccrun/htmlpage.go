package main

import (
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

// html writes the page that shows the run.
func (e *export) html(path string) error {
	return traces.WriteHTMLFile(path, e.run, e.info, e.report.page())
}

// page is what a page says of the run beside its records.
func (r *report) page() traces.HTMLPage {
	p := traces.HTMLPage{
		Workflow: r.Workflow, Outcome: r.outcome(), Good: r.ExitCode == runner.ExitOK,
		WallSecs: r.elapsedSecs(), Summary: r.Summary,
	}
	if r.Verdict != nil {
		p.Verdict = r.Verdict.Text
	}
	if r.Simulation != nil {
		p.Simulation = r.Simulation.lines()
	}
	for _, threshold := range r.Thresholds {
		mark := "holds"
		if threshold.Crossed {
			mark = "crossed"
		}
		p.Thresholds = append(p.Thresholds, "Threshold "+mark+": "+threshold.Text)
	}
	return p
}
