package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	quiet bool // say nothing of what went well

	report *report // what else is known of the run

	counts []spanReport // of what was written
}

// outputKind is a row of what -o can name.
type outputKind struct {
	name     string
	argument string // what stands behind the equals sign, "" for nothing
	example  string
	write    func(e *export, argument string) error
	check    func(argument string) error // what can be told at once, nil for nothing
}

// outputKinds are in the order in which help shows them.
var outputKinds = []outputKind{
	{name: "otlp", example: "otlp", write: func(e *export, _ string) error { return e.otlp(true) }},
	{name: "json", argument: "FILE", example: "json=spans.json", write: (*export).json},
	{name: "perfetto", argument: "FILE", example: "perfetto=run.pftrace", write: func(e *export, path string) error { return traces.WritePerfettoFile(path, e.run, e.info) }},
	{name: "csv", argument: "FILE", example: "csv=run.csv", write: func(e *export, path string) error { return traces.WriteCSVFile(path, e.run) }},
	{name: "log", argument: "FILE", example: "log=run.log", write: func(e *export, path string) error { return traces.WriteLogFile(path, e.run) }},
	{name: "html", argument: "FILE", example: "html=run.html", write: (*export).html},
	{name: prometheusOutput, argument: "HOST:PORT", example: "prometheus=localhost:9464", write: servedAlready, check: checkAddress},
}

// outputNames lists what -o takes.
func outputNames() string { return listOutputs(outputKinds) }

// keptOutputNames lists what -o takes for a run that is over.
func keptOutputNames() string {
	return listOutputs(slices.DeleteFunc(slices.Clone(outputKinds), func(k outputKind) bool { return k.name == prometheusOutput }))
}

func listOutputs(kinds []outputKind) string {
	var names []string
	for i := range kinds {
		name := kinds[i].name
		if kinds[i].argument != "" {
			name += "=" + kinds[i].argument
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
	kind := findOutput(name)
	switch {
	case kind == nil:
		return hinted("no such output", "the outputs are "+outputNames())
	case kind.argument == "" && given:
		return hinted(name+" takes no file", "-o "+kind.example)
	case kind.argument != "" && argument == "":
		return hinted(name+" needs a "+strings.ToLower(kind.argument), "-o "+kind.example)
	}
	if kind.check != nil {
		if err := kind.check(argument); err != nil {
			return err
		}
	}
	*v = append(*v, output{kind, argument})
	return nil
}

func (v *outputsValue) String() string { return "" }

// names reports whether an output of that kind is asked for.
func (v outputsValue) names(kind string) bool {
	return slices.ContainsFunc(v, func(o output) bool { return o.kind.name == kind })
}

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

// failure is an output that was not written, or not all of it.
type failure struct {
	output string // as -o takes it
	err    error
}

// write carries out the outputs; OTLP also when the environment names an
// endpoint. One that fails does not keep the others from being written.
func (v outputsValue) write(e *export) (failed []failure) {
	note := func(output string, err error) {
		if err != nil {
			failed = append(failed, failure{output, err})
		}
	}
	for i := range v {
		note(v[i].String(), v[i].kind.write(e, v[i].argument))
	}
	switch {
	case v.names("otlp"):
	case v.wantsOTLP(e.state.env):
		note("otlp", e.otlp(false))
	case e.state.env("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != "":
		note("otlp", e.otlpMetrics())
	}
	return failed
}

// exitOutput is the exit code of a command whose job an output is, and which
// could not write it.
const exitOutput = 1

// complainOf tells of outputs that are the job itself, and gives the exit code
// as an error.
func (s *state) complainOf(failed []failure) error {
	for _, f := range failed {
		s.complain(fmt.Sprintf("-o %s: %v", f.output, f.err), "")
	}
	return codeError(exitOutput)
}
