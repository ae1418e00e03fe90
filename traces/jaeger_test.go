package traces

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/traces/jaegertest"
)

// TestJaeger exports every term of the schema to a real Jaeger, over both
// protocols, and reads it back.
func TestJaeger(t *testing.T) {
	server := jaegertest.Start(t)
	run := tracedRun(t)
	for protocol, endpoint := range map[string]string{"grpc": server.GRPC, "http/protobuf": server.HTTP} {
		t.Run(strings.ReplaceAll(protocol, "/", "_"), func(t *testing.T) {
			info := exportInfo(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
			info.RunID = "run over " + protocol
			info.TraceParent = "" // Jaeger warns of a parent that it does not have
			options := SpanOptions{Level: flight.LevelMessage}
			stats, err := ExportOTLP(t.Context(), run, info, options)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Collect(Spans(run, info, options))
			got := readBack(t, server, want)
			if int64(len(got)) != stats.Spans || len(got) != len(want) {
				t.Errorf("Jaeger has %d spans of %d, %v", len(got), len(want), stats)
			}
			checkSchema(t, got)
			for _, s := range got {
				if len(s.Warnings) > 0 {
					t.Errorf("%s: Jaeger warns: %q", s.Name, s.Warnings)
				}
			}
			for _, s := range want {
				expected := asShown(s)
				shown := got[expected.ID]
				shown.Process = nil
				if !reflect.DeepEqual(shown, expected) {
					t.Fatalf("Jaeger shows\n%+v\nwant\n%+v", shown, expected)
				}
			}
			compareWhole(t, server, run, info, options)
		})
	}
	if got, want := server.Services(t), []string{"ccrun", "rank-00", "rank-01", "rank-02"}; !slices.Equal(got, want) {
		t.Errorf("services %q, want %q", got, want)
	}
	accepted, refused, stored := server.Counts(t)
	if accepted != stored || refused != 0 {
		t.Errorf("Jaeger took %d spans, stored %d and refused %d", accepted, stored, refused)
	}
}

// compareWhole compares all that Jaeger has kept, to the nanosecond, with the
// file that holds the same spans.
func compareWhole(t *testing.T, server *jaegertest.Server, run *Run, info Info, options SpanOptions) {
	t.Helper()
	var file bytes.Buffer
	if _, err := WriteJSON(&file, run, info, options); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	var kept []*tracepb.ResourceSpans
	for s := range Spans(run, info, options) {
		if id := s.Trace.String(); !ids[id] {
			ids[id] = true
			kept = append(kept, decodeLines(t, server.OTLP(t, id))...)
		}
	}
	compare(t, "jaeger", canonical(kept), canonical(decodeLines(t, file.Bytes())))
}

// readBack asks for all traces of these spans, and gives what Jaeger has by
// identifier.
func readBack(t *testing.T, server *jaegertest.Server, spans []*Span) map[string]jaegertest.Span {
	t.Helper()
	traces := map[string]bool{}
	got := map[string]jaegertest.Span{}
	for _, s := range spans {
		if id := s.Trace.String(); !traces[id] {
			traces[id] = true
			for _, shown := range server.Trace(t, id) {
				if _, twice := got[shown.ID]; twice {
					t.Errorf("%s: identifier %s is there twice", shown.Name, shown.ID)
				}
				got[shown.ID] = shown
			}
		}
	}
	return got
}

// asShown is a span as Jaeger ought to show it.
func asShown(s *Span) jaegertest.Span {
	out := jaegertest.Span{
		Trace: s.Trace.String(), ID: s.ID.String(), Name: s.Name, Kind: s.Kind.String(), Service: s.Resource.Service,
		Start: s.Start / 1000, Duration: (s.End - s.Start) / 1000, Tags: map[string]string{},
	}
	if s.Parent != (SpanID{}) {
		out.Parent = s.Parent.String()
	}
	for _, link := range s.Links {
		out.Links = append(out.Links, link.Trace.String()+"/"+link.Span.String())
	}
	slices.Sort(out.Links)
	for _, a := range s.allAttributes() {
		out.Tags[a.Key] = attributeText(&a)
		if a.Kind == AttributeFloat {
			out.Tags[a.Key] = strconv.FormatFloat(a.Float, 'f', -1, 64)
		}
	}
	return out
}

// optionalAttributes are those that not every span of their row has.
var optionalAttributes = map[string]bool{"ccl.reduce_op": true, "peer.service": true, "error.type": true}

// checkSchema holds spans against every row of the schema.
func checkSchema(t *testing.T, spans map[string]jaegertest.Span) {
	t.Helper()
	seen := map[*spanSchema]map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(spans)) {
		s := spans[id]
		row := schemaOf(s.Name)
		if row == nil {
			t.Errorf("%s: not in the schema", s.Name)
			continue
		}
		if seen[row] == nil {
			seen[row] = map[string]bool{}
		}
		for key := range s.Tags {
			seen[row][key] = true
		}
		if err := row.check(&s, spans); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for i := range schema {
		for _, key := range schema[i].attributes {
			if !seen[&schema[i]][key] {
				t.Errorf("%s: no span has %s", schema[i].name, key)
			}
		}
	}
}

// check says what of a span is not as its row has it.
func (row *spanSchema) check(s *jaegertest.Span, spans map[string]jaegertest.Span) error {
	if s.Kind != row.kind.String() {
		return fmt.Errorf("kind %s, not %s", s.Kind, row.kind)
	}
	for _, key := range row.attributes {
		if _, ok := s.Tags[key]; !ok && !optionalAttributes[key] {
			return fmt.Errorf("no attribute %s", key)
		}
	}
	for key := range s.Tags {
		if !slices.Contains(row.attributes, key) && !optionalAttributes[key] {
			return fmt.Errorf("attribute %s is not in the schema", key)
		}
	}
	if parents := termsIn(row.parent); len(parents) == 0 && s.Parent != "" || len(parents) > 0 && !isOne(spans[s.Parent].Name, parents) {
		return fmt.Errorf("parent %q, not one of %q", spans[s.Parent].Name, parents)
	}
	for _, link := range s.Links {
		_, id, _ := strings.Cut(link, "/")
		if targets := termsIn(row.link); !isOne(spans[id].Name, targets) {
			return fmt.Errorf("link to %q, not one of %q", spans[id].Name, targets)
		}
	}
	return nil
}

// termsIn are the terms that a cell of the table names: what stands before
// conditions.
func termsIn(cell string) []string {
	var terms []string
	for part := range strings.SplitSeq(strings.ReplaceAll(cell, ", or ", ";"), ";") {
		part = strings.TrimSpace(part)
		part = part[:strings.IndexAny(part+",", ",:")]
		part, _, _ = strings.Cut(part, " if ")
		if part != "" && part != "none" && part != "TRACEPARENT" {
			terms = append(terms, part)
		}
	}
	return terms
}

// isOne reports whether a span's name is that of one of the terms.
func isOne(name string, terms []string) bool {
	row := schemaOf(name)
	if row == nil {
		return false
	}
	switch row {
	case &schema[termCollective]:
		return slices.Contains(terms, "collective")
	case &schema[termRank]:
		return slices.Contains(terms, "rank")
	}
	return slices.Contains(terms, row.name) || strings.HasPrefix(row.name, "slice ") && slices.Contains(terms, "slice")
}

func TestTermsInCells(t *testing.T) {
	for i := range schema {
		for _, cell := range []string{schema[i].parent, schema[i].link} {
			for _, term := range termsIn(cell) {
				if schemaOf(term) == nil && term != "collective" && term != "rank" && term != "slice" {
					t.Errorf("%q: no such term: %q", cell, term)
				}
			}
		}
	}
}
