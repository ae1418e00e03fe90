package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ccrun/ccrun/traces"
)

// output is one place that a run is written to, beside the summary.
type output struct{ name, file string }

// outputsValue gathers -o flags.
type outputsValue []output

// outputNames are those of this version; laterOutputs are reserved.
const outputNames = "otlp, json=FILE"

var laterOutputs = []string{"perfetto", "csv", "html"}

func (v *outputsValue) Set(text string) error {
	name, file, hasFile := strings.Cut(text, "=")
	for _, later := range laterOutputs {
		if name == later {
			return hinted("output "+later+" is not in this version", "the outputs are "+outputNames)
		}
	}
	switch {
	case name == "otlp" && hasFile:
		return hinted("otlp takes no file", "the endpoint is OTEL_EXPORTER_OTLP_ENDPOINT's")
	case name == "json" && file == "":
		return hinted("json needs a file", "-o json=spans.json")
	case name != "otlp" && name != "json":
		return hinted("no such output", "the outputs are "+outputNames)
	}
	*v = append(*v, output{name, file})
	return nil
}

func (v *outputsValue) String() string { return "" }

// check refuses, before the run, files that cannot be written after it.
func (v outputsValue) check() error {
	for _, o := range v {
		if o.name != "json" {
			continue
		}
		dir := filepath.Dir(o.file)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usageError{"--out " + quote("json="+o.file) + ": no directory " + quote(dir), "make it first"}
		}
		if info, err := os.Stat(o.file); err == nil && info.IsDir() {
			return usageError{"--out " + quote("json="+o.file) + ": it is a directory", "name a file in it"}
		}
	}
	return nil
}

// write carries out the outputs; OTLP also when the environment names an
// endpoint. A collector that is away is a warning: the run itself was fine.
func (v outputsValue) write(ctx context.Context, s *state, run *traces.Run, info traces.Info, spans traces.SpanOptions) error {
	var errs []error
	exported := false
	for _, o := range v {
		switch o.name {
		case "otlp":
			exportOTLP(ctx, s, run, info, spans, true)
			exported = true
		case "json":
			if _, err := traces.WriteJSONFile(o.file, run, info, spans); err != nil {
				errs = append(errs, fmt.Errorf("write %s: %w", o.file, err))
			}
		}
	}
	if !exported && wantsOTLP(s.env) {
		exportOTLP(ctx, s, run, info, spans, false)
	}
	return errors.Join(errs...)
}

func wantsOTLP(env func(string) string) bool {
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// exportOTLP sends spans and warns of those that did not arrive. That the
// environment turns exporting off is worth a word if a flag asked for it.
func exportOTLP(ctx context.Context, s *state, run *traces.Run, info traces.Info, spans traces.SpanOptions, asked bool) {
	stats, err := traces.ExportOTLP(ctx, run, info, spans)
	switch {
	case err != nil:
		fmt.Fprintf(s.stderr, "ccrun: warning: %v (%v)\n", err, stats)
	case stats.Disabled != "" && asked:
		fmt.Fprintf(s.stderr, "ccrun: warning: no spans were exported: %s\n", stats.Disabled)
	}
}
