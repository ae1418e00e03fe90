package traces

import (
	"iter"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Span is a span of OpenTelemetry in a neutral form, which the exporters
// translate.
type Span struct {
	Trace        TraceID
	ID           SpanID
	Parent       SpanID // zero if none
	ParentRemote bool   // the parent is not of this run
	Name         string
	Kind         SpanKind
	Start        int64 // Unix nanoseconds
	End          int64
	Attributes   []Attribute
	Links        []Link
	Failure      string // error.type, "" if all went well
	Resource     *Resource
}

// Link refers to another span, of any trace.
type Link struct {
	Trace TraceID
	Span  SpanID
}

// SpanOptions say how much of a run becomes spans. The zero value is the usual
// choice.
type SpanOptions struct {
	// Level is the smallest term that gets spans of its own; LevelOff stands
	// for LevelSlice.
	Level flight.Level
	// PerCollective is the largest number of spans of one collective; one that
	// has more is stepped down by levels until it fits. 0 stands for 10,000,
	// which is what trace stores and their pages can show.
	PerCollective int
	// Total is the largest number of spans of the run, of which later
	// collectives get what earlier ones have left. 0 stands for 1,000,000.
	Total int
}

func (o SpanOptions) withDefaults() SpanOptions {
	if o.Level == flight.LevelOff || o.Level > flight.LevelMessage {
		o.Level = flight.LevelSlice
	}
	if o.PerCollective <= 0 {
		o.PerCollective = 10_000
	}
	if o.Total <= 0 {
		o.Total = 1_000_000
	}
	return o
}

// Spans yields the spans of a run: those of each collective, in order, parents
// first; then the guest's marks; then the run itself. traces/README.md has the
// schema.
func Spans(r *Run, info Info, o SpanOptions) iter.Seq[*Span] {
	return func(yield func(*Span) bool) { walk(r, &info, o, yield) }
}

// walk is Spans, and how many spans were left out for the limits.
func walk(r *Run, info *Info, o SpanOptions, yield func(*Span) bool) (dropped int64) {
	if len(r.logs) == 0 {
		return 0
	}
	e := newEmitter(r, info, o.withDefaults(), yield)
	collectives := r.Collectives()
	for _, c := range collectives {
		if e.stopped {
			return e.dropped
		}
		e.collective(c)
	}
	e.marks()
	e.runSpan(len(collectives))
	return e.dropped
}

// emitter makes spans and hands them on.
type emitter struct {
	run       *Run
	info      *Info
	options   SpanOptions
	yield     func(*Span) bool
	resources *resources
	runID     identity // of the run's own trace, if it has one
	runSpanID SpanID
	runTrace  TraceID
	parent    SpanID // of the run's span, of another trace
	// wallOffset turns a record's time into Unix time. It is the same for all
	// ranks, which share a clock: each rank's own estimate would turn cause and
	// effect around.
	wallOffset int64
	emitted    int
	dropped    int64
	stopped    bool
}

func newEmitter(r *Run, info *Info, o SpanOptions, yield func(*Span) bool) *emitter {
	e := &emitter{
		run: r, info: info, options: o, yield: yield, resources: newResources(r, info),
		runID: newIdentity(info.RunID, 0, 0), wallOffset: r.logs[0].WallOffset(),
	}
	e.runSpanID, e.runTrace = e.runID.span(place{term: termRun}), e.runID.trace
	if trace, parent, ok := parseTraceParent(info.TraceParent); ok {
		e.runTrace, e.parent = trace, parent
	}
	return e
}

// stretch is a time from start to end, of records.
type stretch struct{ start, end int64 }

// within makes a stretch of no length, as the clock gives it for what is
// short, one nanosecond long without leaving that of its parent. Trace stores
// take an end that is not after the start for an error.
func (s stretch) within(parent stretch) stretch {
	switch {
	case s.end > s.start:
		return s
	case s.start < parent.end:
		return stretch{s.start, s.start + 1}
	default:
		return stretch{s.start - 1, s.start}
	}
}

// emit completes a span, which takes a time that is still that of records, and
// hands it on.
func (e *emitter) emit(t term, at stretch, s *Span) {
	if e.stopped {
		return
	}
	s.Kind = schema[t].kind
	s.Start = e.wall(at.start)
	s.End = max(s.Start+1, e.wall(at.end))
	if s.Name == "" {
		s.Name = schema[t].name
	}
	e.emitted++
	if !e.yield(s) {
		e.stopped = true
	}
}

// wall is Unix time, 0 for what would lie before or beyond it.
func (e *emitter) wall(nanos int64) int64 { return max(0, e.wallOffset+nanos) }

// left is how many more spans the run may have, one being kept for the run's
// own.
func (e *emitter) left() int { return max(0, e.options.Total-1-e.emitted) }

// marks emits the guest's own spans as children of the run.
func (e *emitter) marks() {
	budget := min(e.options.PerCollective, e.left())
	whole := e.run.whole()
	for _, log := range e.run.logs {
		ordinal := uint32(0)
		for rec := range log.Records() {
			if op.Kind(rec.Kind) != op.Mark || !believable(&rec) {
				continue
			}
			ordinal++
			if budget == 0 {
				e.dropped++
				continue
			}
			budget--
			e.emit(termMark, stretch{rec.Start, rec.End}.within(whole), &Span{
				Trace: e.runTrace, ID: e.runID.span(place{term: termMark, rank: int32(log.Rank), message: ordinal}), Parent: e.runSpanID,
				Name: markName(log, &rec), Failure: failure(rec.Status),
				Attributes: []Attribute{intAttr("ccl.rank", log.Rank)}, Resource: e.resources.byRank[log.Rank],
			})
		}
	}
}

// markName is what the guest called a mark. A file has room for 255 names, and
// those beyond are empty.
func markName(log *flight.Log, rec *flight.Record) string {
	if name := printable(log.Name(uint16(rec.Aux))); name != "" {
		return name
	}
	return "(unnamed)"
}

// runSpan emits the span that all others are linked to.
func (e *emitter) runSpan(collectives int) {
	e.emit(termRun, e.run.whole(), &Span{
		Trace: e.runTrace, ID: e.runSpanID, Parent: e.parent, ParentRemote: e.parent != SpanID{},
		Attributes: []Attribute{
			textAttr("ccl.run.id", printable(e.info.RunID)), intAttr("ccl.size", e.run.size),
			intAttr("ccl.collectives", collectives), intAttr("ccl.spans.dropped", e.dropped),
		},
		Resource: e.resources.run,
	})
}

// whole is the time of the run's span.
func (r *Run) whole() stretch {
	start, end := r.extent()
	return stretch{start, max(start+1, end)}
}

// extent is the time from the first record's start to the last one's end.
func (r *Run) extent() (start, end int64) {
	start = maxTime
	for _, log := range r.logs {
		for rec := range log.Records() {
			if believable(&rec) {
				start, end = min(start, rec.Start), max(end, rec.End)
			}
		}
	}
	return min(start, end), end
}

// failure is the error.type of a record's status.
func failure(status uint8) string {
	switch status {
	case flight.StatusOK:
		return ""
	case flight.StatusTimeout:
		return "timeout"
	case flight.StatusAborted:
		return "aborted"
	default:
		return "failed"
	}
}
