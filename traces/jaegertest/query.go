package jaegertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Span is a span as Jaeger shows it. Identifiers are hexadecimal, values of
// tags the text that JSON has for them.
type Span struct {
	Trace, ID, Parent string
	Name, Kind        string
	Service           string
	Start, Duration   int64             // microseconds, cut off
	Links             []string          // TRACE/SPAN, sorted
	Tags              map[string]string // attributes of the span
	Process           map[string]string // attributes of its resource
	Warnings          []string
}

// answer is what the query API says.
type answer struct {
	Data []struct {
		Spans     []jsonSpan
		Processes map[string]struct {
			ServiceName string
			Tags        []jsonTag
		}
		Warnings []string
	}
	Errors []struct{ Msg string }
}

type jsonSpan struct {
	TraceID, SpanID, OperationName string
	References                     []struct{ RefType, TraceID, SpanID string }
	StartTime, Duration            int64
	Tags                           []jsonTag
	ProcessID                      string
	Warnings                       []string
}

type jsonTag struct {
	Key   string
	Value json.RawMessage
}

// Trace gives the spans of a trace, with those of Jaeger's warnings that
// concern the trace as a whole at its first span.
func (s *Server) Trace(tb testing.TB, id string) []Span {
	tb.Helper()
	var a answer
	s.ask(tb, "/api/traces/"+id, &a)
	if len(a.Errors) > 0 || len(a.Data) != 1 {
		tb.Fatalf("trace %s: %d traces, %v", id, len(a.Data), a.Errors)
	}
	trace := &a.Data[0]
	spans := make([]Span, len(trace.Spans))
	for i := range trace.Spans {
		process := trace.Processes[trace.Spans[i].ProcessID]
		spans[i] = trace.Spans[i].span()
		spans[i].Service, spans[i].Process = process.ServiceName, tagMap(process.Tags)
	}
	spans[0].Warnings = append(spans[0].Warnings, trace.Warnings...)
	return spans
}

// span translates one span. What OpenTelemetry has fields for and Jaeger tags
// are not among the tags.
func (j *jsonSpan) span() Span {
	s := Span{
		Trace: j.TraceID, ID: j.SpanID, Name: j.OperationName, Start: j.StartTime, Duration: j.Duration,
		Tags: tagMap(j.Tags), Warnings: j.Warnings,
	}
	for _, r := range j.References {
		if r.RefType == "CHILD_OF" {
			s.Parent = r.SpanID
		} else {
			s.Links = append(s.Links, r.TraceID+"/"+r.SpanID)
		}
	}
	slices.Sort(s.Links)
	s.Kind = s.Tags["span.kind"]
	for _, key := range []string{"span.kind", "error", "otel.status_code", "otel.status_description", "otel.scope.name", "otel.scope.version"} {
		delete(s.Tags, key)
	}
	return s
}

func tagMap(tags []jsonTag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, tag := range tags {
		var text string
		if json.Unmarshal(tag.Value, &text) != nil {
			text = string(tag.Value)
		}
		out[tag.Key] = text
	}
	return out
}

// Services are those that Jaeger knows, sorted.
func (s *Server) Services(tb testing.TB) []string {
	tb.Helper()
	var a struct{ Data []string }
	s.ask(tb, "/api/services", &a)
	slices.Sort(a.Data)
	return a.Data
}

// OTLP gives a trace in OTLP's own JSON, where times have their nanoseconds.
func (s *Server) OTLP(tb testing.TB, id string) []byte {
	tb.Helper()
	var a struct{ Result json.RawMessage }
	s.ask(tb, "/api/v3/traces/"+id, &a)
	return a.Result
}

// Counts says how many spans Jaeger has taken, refused and stored.
func (s *Server) Counts(tb testing.TB) (accepted, refused, stored int64) {
	tb.Helper()
	for line := range strings.Lines(string(s.get(tb, s.metrics+"/metrics"))) {
		name, _, _ := strings.Cut(line, "{")
		fields := strings.Fields(line)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			continue
		}
		switch name {
		case "otelcol_receiver_accepted_spans_total":
			accepted += int64(value)
		case "otelcol_receiver_refused_spans_total", "otelcol_exporter_send_failed_spans_total":
			refused += int64(value)
		case "otelcol_exporter_sent_spans_total":
			stored += int64(value)
		}
	}
	return accepted, refused, stored
}

func (s *Server) ask(tb testing.TB, path string, into any) {
	tb.Helper()
	if err := json.Unmarshal(s.get(tb, s.query+path), into); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

func (s *Server) get(tb testing.TB, url string) []byte {
	tb.Helper()
	body, err := fetch(tb, url)
	if err != nil {
		tb.Fatalf("%s: %v\n%s", url, err, s.output.String())
	}
	return body
}

func fetch(tb testing.TB, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", answer.Status, body)
	}
	return body, err
}
