package traces

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// tracedRun is a run with every kind of span in it.
func tracedRun(t testing.TB) *Run {
	t.Helper()
	rec := newRecording(t, 3, 0)
	ring{ranks: 3, slices: 2, iterations: 3, sliceBytes: 64, sliceNanos: 10, skew: 4, kind: op.Send}.record(rec)
	for _, line := range []string{
		"0 put 9000 9100 c=9 peer=1 bytes=64 chunk=7 slice=0 flow=0",
		"0 put 9000 9200 c=9 peer=1 bytes=64 chunk=7 slice=1 flow=1 status=2",
		"0 put 9200 9300 c=9 peer=1 bytes=64 chunk=7 slice=1 flow=1", // number 0 again
		"1 get 9300 9400 c=9 peer=2 bytes=64 chunk=8",
		"1 reduce 9300 9400 c=9 peer=2 bytes=64 chunk=9",
		"1 reduce 9400 9500 c=9 bytes=64",
		"1 copy 9500 9600 c=9 bytes=64",
		"1 copy 9500 9600 c=9 bytes=64",
		"0 collective 8900 9700 c=9 op=all_reduce name=mixed bytes=512 ranks=3 status=2",
		"1 mark 100 200 name=forward",
		"1 mark 100 200 name=forward",
	} {
		if err := rec.line(line); err != nil {
			t.Fatal(err)
		}
	}
	return rec.open(t)
}

// TestSpansFitTheSchema checks what every backend relies on: identifiers are
// unique in a trace, parents exist and enclose their children, links of a trace
// resolve, and names, kinds and attributes are the schema's.
func TestSpansFitTheSchema(t *testing.T) {
	spans := slices.Collect(Spans(tracedRun(t), Info{RunID: "a"}, SpanOptions{Level: flight.LevelMessage}))
	if traces := checkSpans(t, spans); traces != 5 {
		t.Errorf("%d traces, want 4 collectives and the run", traces)
	}
}

// checkSpans checks every span, and gives the number of traces.
func checkSpans(t *testing.T, spans []*Span) (traces int) {
	t.Helper()
	byTrace := map[TraceID]map[SpanID]*Span{}
	for _, s := range spans {
		if byTrace[s.Trace] == nil {
			byTrace[s.Trace] = map[SpanID]*Span{}
		}
		if byTrace[s.Trace][s.ID] != nil {
			t.Errorf("two spans have identifier %s: %s and %s", s.ID, s.Name, byTrace[s.Trace][s.ID].Name)
		}
		byTrace[s.Trace][s.ID] = s
	}
	for _, s := range spans {
		checkSpan(t, s, byTrace)
	}
	return len(byTrace)
}

func checkSpan(t *testing.T, s *Span, byTrace map[TraceID]map[SpanID]*Span) {
	t.Helper()
	if s.Parent != (SpanID{}) {
		parent := byTrace[s.Trace][s.Parent]
		switch {
		case parent == nil:
			t.Errorf("%s: no parent", s.Name)
		case s.Start < parent.Start || s.End > parent.End:
			t.Errorf("%s %d..%d is not inside its parent %s %d..%d", s.Name, s.Start, s.End, parent.Name, parent.Start, parent.End)
		}
	}
	for _, link := range s.Links {
		if byTrace[link.Trace][link.Span] == nil {
			t.Errorf("%s: a link leads nowhere", s.Name)
		}
	}
	row := schemaOf(s.Name)
	if row == nil {
		t.Errorf("%s: not in the schema", s.Name)
		return
	}
	if row.kind != s.Kind {
		t.Errorf("%s: kind %s, in the schema %s", s.Name, s.Kind, row.kind)
	}
	for _, a := range s.Attributes {
		if !slices.Contains(row.attributes, a.Key) {
			t.Errorf("%s: attribute %s is not in the schema", s.Name, a.Key)
		}
	}
}

// schemaOf finds the row of a span by its name.
func schemaOf(name string) *spanSchema {
	operation, isRank := strings.CutSuffix(name, " rank")
	switch {
	case isRank && collectiveNamed(operation):
		return &schema[termRank]
	case collectiveNamed(name):
		return &schema[termCollective]
	case name == "forward":
		return &schema[termMark]
	}
	for i := range schema {
		if schema[i].name == name {
			return &schema[i]
		}
	}
	return nil
}

// TestSchemaIsUsed finds rows and attributes that no span has any more.
func TestSchemaIsUsed(t *testing.T) {
	used := map[*spanSchema]map[string]bool{}
	for s := range Spans(tracedRun(t), Info{RunID: "a"}, SpanOptions{Level: flight.LevelMessage}) {
		row := schemaOf(s.Name)
		if row == nil {
			t.Fatalf("%s: not in the schema", s.Name)
		}
		if used[row] == nil {
			used[row] = map[string]bool{}
		}
		for _, a := range s.Attributes {
			used[row][a.Key] = true
		}
	}
	for i := range schema {
		for _, key := range schema[i].attributes {
			if !used[&schema[i]][key] {
				t.Errorf("%s: no span has %s", schema[i].name, key)
			}
		}
	}
}

func TestReadmeHoldsTheSchema(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := WriteSchema(&table); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, table.Bytes()) {
		t.Errorf("the table of traces/README.md is not that of schema.go; it should be\n%s", &table)
	}
}

// TestSpanIdentifiersAreStable guards the promise that others may compute them.
func TestSpanIdentifiersAreStable(t *testing.T) {
	id := newIdentity("run-1", 0, 3)
	if got, want := id.trace.String(), "b5ac29341950c022f55b2570fbab87c1"; got != want {
		t.Errorf("trace %s, want %s", got, want)
	}
	if got, want := id.span(place{term: termSliceRecv, rank: 2, peer: 1, step: 1, chunk: 4, slice: 5}).String(), "921788080763a23c"; got != want {
		t.Errorf("span %s, want %s", got, want)
	}
}

// TestSpanIdentifiersDependOnTheGroup keeps the first collectives of two
// communicators apart.
func TestSpanIdentifiersDependOnTheGroup(t *testing.T) {
	world, group, other := newIdentity("run-1", 0, 1), newIdentity("run-1", 1, 1), newIdentity("run-1", 256, 1)
	at := place{term: termCollective}
	if world.trace == group.trace || group.trace == other.trace || world.span(at) == group.span(at) || group.span(at) == other.span(at) {
		t.Errorf("groups 0, 1 and 256: traces %s, %s, %s", world.trace, group.trace, other.trace)
	}
}

func TestSpansDependOnTheRunOnly(t *testing.T) {
	run := tracedRun(t)
	first := slices.Collect(Spans(run, Info{RunID: "a"}, SpanOptions{}))
	again := slices.Collect(Spans(run, Info{RunID: "a"}, SpanOptions{}))
	other := slices.Collect(Spans(run, Info{RunID: "b"}, SpanOptions{}))
	for i := range first {
		if first[i].ID != again[i].ID || first[i].Trace != again[i].Trace {
			t.Fatalf("span %d differs the second time", i)
		}
		if first[i].Trace == other[i].Trace || first[i].ID == other[i].ID {
			t.Fatalf("span %d is the same in another run", i)
		}
	}
}

// TestLimits counts what is left out: made and dropped add up to everything.
func TestLimits(t *testing.T) {
	run := tracedRun(t)
	all := 0
	for range Spans(run, Info{}, SpanOptions{Level: flight.LevelMessage}) {
		all++
	}
	for _, o := range []SpanOptions{{PerCollective: 40}, {PerCollective: 20}, {PerCollective: 1}, {Total: 100}, {Total: 1}} {
		o.Level = flight.LevelMessage
		made := 0
		dropped := walk(run, &Info{}, o, func(*Span) bool { made++; return true })
		if made+int(dropped) != all || dropped == 0 {
			t.Errorf("%+v: %d made, %d dropped, of %d", o, made, dropped, all)
		}
		if o.Total > 0 && made > o.Total {
			t.Errorf("%+v: %d made", o, made)
		}
	}
}

// TestLimitIsInclusive gives a collective exactly as many spans as it has.
func TestLimitIsInclusive(t *testing.T) {
	rec := newRecording(t, 2, 0)
	ring{ranks: 2, slices: 1, iterations: 1, sliceBytes: 64, sliceNanos: 10, kind: op.Put}.record(rec)
	run := rec.open(t)
	const whole = 13 // 1 collective, 2 ranks, 4 ends of chunks, 2 flows, 2 slices, 2 messages
	for limit, want := range map[int]int{whole: whole + 1, whole - 1: whole - 2 + 1} {
		made := 0
		dropped := walk(run, &Info{}, SpanOptions{Level: flight.LevelMessage, PerCollective: limit}, func(*Span) bool { made++; return true })
		if made != want || int(dropped) != whole+1-want {
			t.Errorf("limit %d: %d made and %d dropped, want %d and %d", limit, made, dropped, want, whole+1-want)
		}
	}
}

func TestSpansStopWhenAsked(t *testing.T) {
	n := 0
	for range Spans(tracedRun(t), Info{}, SpanOptions{}) {
		if n++; n == 5 {
			break
		}
	}
	if n != 5 {
		t.Errorf("%d spans", n)
	}
}

func TestParseTraceParent(t *testing.T) {
	for text, want := range map[string]bool{
		testTraceParent: true,
		"":              false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331":         false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x":    false,
		"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what": true,
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":      false,
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01":      false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":      false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01":      false,
		"00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01":       false,
		"00-zaf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":      false,
	} {
		if _, _, ok := parseTraceParent(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

func TestResources(t *testing.T) {
	run := tracedRun(t)
	env := map[string]string{
		"OTEL_RESOURCE_ATTRIBUTES": "service.name=ignored,deployment.environment=test%20bed,broken,ccl.rank=7",
		"OTEL_SERVICE_NAME":        "job",
	}
	info := Info{RunID: "r", Device: "cpu", Host: "node1", Labels: map[string]string{"a": "b"}, Env: func(k string) string { return env[k] }}
	res := newResources(run, &info)
	var text []string
	for _, a := range res.byRank[2].Attributes {
		text = append(text, a.Key+"="+attributeText(&a))
	}
	got := strings.Join(text, "\n")
	want := "service.name=job-rank-02\nservice.instance.id=r-rank2\nccl.rank=2\nprocess.pid=1002\n" +
		"service.namespace=ccrun\nccl.run.id=r\nccl.size=3\nccl.transport=cpu\nhost.name=node1\nhost.id=node1\nip=node1\n" +
		"ccl.label.a=b\ndeployment.environment=test bed"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if res.run.Service != "job" {
		t.Errorf("the run's service is %s", res.run.Service)
	}
}
