package main

import (
	"context"
	"fmt"

	"github.com/ccrun/ccrun/traces"
)

// spanReport is what became of the spans of one output, as --json tells it:
// made = exported + failed, and dropped are those that were not made for the
// limits.
type spanReport struct {
	Output   string `json:"output"`
	Exported int64  `json:"exported"`
	Failed   int64  `json:"failed"`
	Dropped  int64  `json:"dropped"`
	Disabled string `json:"disabled,omitempty"`
}

// wantsOTLP reports whether spans go to a collector: a flag or the environment
// asks for it.
func (v outputsValue) wantsOTLP(env func(string) string) bool {
	return v.names("otlp") || env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// probe looks before the run whether a collector is there, and warns if not:
// who waits for a long run may want to start one meanwhile. It reports whether
// it has warned.
func (v outputsValue) probe(ctx context.Context, s *state) (warned bool) {
	if !v.wantsOTLP(s.env) {
		return false
	}
	err := traces.ProbeOTLP(ctx, traces.Info{Env: s.env})
	if err != nil {
		s.warn("%v; the run goes on, and its records are kept unless one is there at the end", err)
	}
	return err != nil
}

// json writes spans to a file.
func (e *export) json(path string) error {
	stats, err := traces.WriteJSONFile(path, e.run, e.info, e.spans)
	e.count("json="+path, stats)
	return err
}

// otlp sends spans and metrics to the collector that the environment names.
// Where spans did not get through, metrics are not tried.
func (e *export) otlp(asked bool) error {
	if err := e.otlpSpans(asked); err != nil {
		return err
	}
	return e.otlpMetrics()
}

// otlpMetrics sends metrics, unless they are not wanted.
func (e *export) otlpMetrics() error {
	stats, err := traces.ExportMetrics(e.ctx, e.run, e.info)
	switch {
	case err != nil:
		return fmt.Errorf("%w (%v)", err, stats)
	case stats.Disabled == "" && !e.quiet:
		fmt.Fprintf(e.state.stderr, "ccrun: %d points of metrics exported to %s\n", stats.Points, stats.Collector)
	}
	return nil
}

// otlpSpans sends spans. That the environment turns this off is worth a word
// if a flag asked for it.
func (e *export) otlpSpans(asked bool) error {
	stats, err := traces.ExportOTLP(e.ctx, e.run, e.info, e.spans)
	e.count("otlp", stats)
	switch {
	case err != nil:
		return fmt.Errorf("%w (%v)", err, stats)
	case stats.Disabled != "":
		if asked {
			e.state.warn("no spans were exported: %s", stats.Disabled)
		}
	case !e.quiet:
		fmt.Fprintf(e.state.stderr, "ccrun: %d spans exported to %s\n", stats.Spans, traces.CollectorName(e.info))
	}
	return nil
}

// count keeps what became of spans, and tells of those that were left out.
func (e *export) count(output string, stats traces.ExportStats) {
	e.counts = append(e.counts, spanReport{output, stats.Spans, stats.Failed, stats.Dropped, stats.Disabled})
	if stats.Dropped > 0 {
		e.state.warn("-o %s: %d spans were left out, which are too many for one collective or the run; --trace-max-spans allows more", output, stats.Dropped)
	}
}

// traceParent is the trace context of who started the run, "" if there is none
// or nobody can read it, which is worth a word if there are spans.
func (v outputsValue) traceParent(s *state) string {
	text := s.env("TRACEPARENT")
	if traces.ValidTraceParent(text) {
		return text
	}
	if text != "" && (v.wantsOTLP(s.env) || v.names("json")) {
		s.warn("TRACEPARENT %s is ignored: it is no W3C trace context", quote(text))
	}
	return ""
}
