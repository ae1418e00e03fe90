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

// export is a run on its way to the outputs.
type export struct {
	ctx   context.Context
	state *state
	run   *traces.Run
	info  traces.Info
	spans traces.SpanOptions
}

// outputKind is a row of what -o can name.
type outputKind struct {
	name     string
	argument string // what stands behind the equals sign, "" for nothing
	example  string
	write    func(e *export, argument string) error
}

// outputKinds are in the order in which help shows them.
var outputKinds = []outputKind{
	{"otlp", "", "otlp", func(e *export, _ string) error {
		e.otlp(true)
		return nil
	}},
	{"json", "FILE", "json=spans.json", func(e *export, path string) error {
		_, err := traces.WriteJSONFile(path, e.run, e.info, e.spans)
		return err
	}},
}

// laterOutputs are reserved.
var laterOutputs = []string{"perfetto", "csv", "html"}

// outputNames lists what -o takes.
func outputNames() string {
	var names []string
	for i := range outputKinds {
		name := outputKinds[i].name
		if outputKinds[i].argument != "" {
			name += "=" + outputKinds[i].argument
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func findOutput(name string) *outputKind {
	for i := range outputKinds {
		if outputKinds[i].name == name {
			return &outputKinds[i]
		}
	}
	return nil
}

// output is one place that a run is written to, beside the summary.
type output struct {
	kind     *outputKind
	argument string
}

// String is the output as the flag gave it.
func (o *output) String() string {
	if o.argument == "" {
		return o.kind.name
	}
	return o.kind.name + "=" + o.argument
}

// outputsValue gathers -o flags.
type outputsValue []output

func (v *outputsValue) Set(text string) error {
	name, argument, given := strings.Cut(text, "=")
	for _, later := range laterOutputs {
		if name == later {
			return hinted("output "+later+" is not in this version", "the outputs are "+outputNames())
		}
	}
	kind := findOutput(name)
	switch {
	case kind == nil:
		return hinted("no such output", "the outputs are "+outputNames())
	case kind.argument == "" && given:
		return hinted(name+" takes no file", "-o "+kind.example)
	case kind.argument != "" && argument == "":
		return hinted(name+" needs a "+strings.ToLower(kind.argument), "-o "+kind.example)
	}
	*v = append(*v, output{kind, argument})
	return nil
}

func (v *outputsValue) String() string { return "" }

// check refuses, before the run, files that cannot be written after it.
func (v outputsValue) check() error {
	for i := range v {
		o := &v[i]
		if o.kind.argument != "FILE" {
			continue
		}
		dir := filepath.Dir(o.argument)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usageError{"--out " + quote(o.String()) + ": no directory " + quote(dir), "make it first"}
		}
		if info, err := os.Stat(o.argument); err == nil && info.IsDir() {
			return usageError{"--out " + quote(o.String()) + ": it is a directory", "name a file in it"}
		}
	}
	return nil
}

// write carries out the outputs; OTLP also when the environment names an
// endpoint.
func (v outputsValue) write(e *export) error {
	var errs []error
	exported := false
	for i := range v {
		exported = exported || v[i].kind.name == "otlp"
		if err := v[i].kind.write(e, v[i].argument); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", v[i].argument, err))
		}
	}
	if !exported && wantsOTLP(e.state.env) {
		e.otlp(false)
	}
	return errors.Join(errs...)
}

func wantsOTLP(env func(string) string) bool {
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// otlp sends spans and warns of those that did not arrive: the run itself was
// fine. That the environment turns exporting off is worth a word if a flag
// asked for it.
func (e *export) otlp(asked bool) {
	stats, err := traces.ExportOTLP(e.ctx, e.run, e.info, e.spans)
	switch {
	case err != nil:
		fmt.Fprintf(e.state.stderr, "ccrun: warning: %v (%v)\n", err, stats)
	case stats.Disabled != "" && asked:
		fmt.Fprintf(e.state.stderr, "ccrun: warning: no spans were exported: %s\n", stats.Disabled)
	}
}
