package traces

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelmetric "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ccrun/ccrun/host/op"
)

// outcome says whether a collective is measured, as in [CollectiveStats].
type outcome uint8

const (
	outcomeMeasured outcome = iota
	outcomeWarmup
	outcomeIncomplete
	outcomeDisagreeing
)

var outcomes = [...]string{
	outcomeMeasured: "measured", outcomeWarmup: "warmup", outcomeIncomplete: "incomplete", outcomeDisagreeing: "disagreeing",
}

func (c *Collective) outcome() outcome {
	switch {
	case c.Disagreement != "":
		return outcomeDisagreeing
	case !c.Complete:
		return outcomeIncomplete
	case c.Warmup:
		return outcomeWarmup
	}
	return outcomeMeasured
}

// stage is what becomes of a slice.
type stage uint8

const (
	stageSend stage = iota
	stageRecv
	stageReduce
	stageCopy
)

var stages = [...]string{stageSend: "send", stageRecv: "recv", stageReduce: "reduce", stageCopy: "copy"}

// series is the collectives of one kind, algorithm, size and number of ranks,
// and the attributes of their points, made once.
type series struct {
	rowKey
	own      bool // and not the one for all that are too many
	record   []otelmetric.RecordOption
	stages   [len(stages)][]otelmetric.RecordOption
	outcomes [len(outcomes)][]otelmetric.AddOption
	observe  otelmetric.MeasurementOption

	recent []int64 // CCT of the last bandwidthWindow collectives
	at     int     // of the next one
}

// bandwidthWindow is of how many collectives the median gives the bandwidth.
const bandwidthWindow = 4096

func newSeries(key rowKey, own bool) *series {
	attributes := []attribute.KeyValue{attribute.Bool("otel.metric.overflow", true)}
	if own {
		attributes = []attribute.KeyValue{
			attribute.String("ccl.operation", key.collectiveOp.String()), attribute.String("ccl.algorithm", key.algorithm),
			attribute.Int("ccl.size", key.ranks), attribute.Int64("ccl.data.bytes", int64(key.bytes)),
		}
	}
	and := func(also ...attribute.KeyValue) otelmetric.MeasurementOption {
		return otelmetric.WithAttributeSet(attribute.NewSet(append(also, attributes...)...))
	}
	s := &series{rowKey: key, own: own, observe: and()}
	s.record = []otelmetric.RecordOption{s.observe}
	for i, name := range stages {
		s.stages[i] = []otelmetric.RecordOption{and(attribute.String("ccl.slice.stage", name))}
	}
	for i, name := range outcomes {
		s.outcomes[i] = []otelmetric.AddOption{and(attribute.String("ccl.outcome", name))}
	}
	return s
}

// seriesOf is the series that a collective belongs to.
func (m *meters) seriesOf(c *Collective) *series {
	key := rowKey{c.Op, c.Algorithm, c.Bytes, c.Ranks}
	if s := m.series[key]; s != nil {
		return s
	}
	own := len(m.series) < seriesMax
	if !own {
		key = rowKey{ranks: -1}
		if s := m.series[key]; s != nil {
			return s
		}
	}
	s := newSeries(key, own)
	m.series[key] = s
	return s
}

// observeBandwidths gives both bandwidths of each series that has any.
func (m *meters) observeBandwidths(o otelmetric.Observer) {
	for _, s := range m.series {
		if !s.own || len(s.recent) == 0 {
			continue
		}
		sorted := slices.Clone(s.recent)
		slices.Sort(sorted)
		algBW, busBW := bandwidth(s.collectiveOp, s.bytes, s.ranks, seconds(nearestRank(sorted, 50)))
		o.ObserveFloat64(m.bandwidths[0], algBW, s.observe)
		o.ObserveFloat64(m.bandwidths[1], busBW, s.observe)
	}
}

// add takes the CCT of one more collective.
func (s *series) add(cctNanos int64) {
	if len(s.recent) < bandwidthWindow {
		s.recent = append(s.recent, cctNanos)
		return
	}
	s.recent[s.at] = cctNanos
	s.at = (s.at + 1) % bandwidthWindow
}

// collective enters one collective. wall turns its times into Unix time.
func (m *meters) collective(c *Collective, wallOffset int64) {
	if c.Sequence == 0 || len(c.Parts) == 0 {
		return
	}
	s := m.seriesOf(c)
	is := c.outcome()
	m.collectives.Add(context.Background(), 1, s.outcomes[is]...)
	for i := range c.Transfers {
		m.count(&c.Transfers[i])
	}
	if is != outcomeMeasured {
		return
	}
	s.add(c.CCT())
	e := meteredCollective{m, s, m.exemplarContext(c, wallOffset), largestOf(c)}
	e.record(quantityCCT, c.CCT(), s.record)
	start := c.Start()
	for i := range c.Parts {
		e.record(quantitySkew, c.Parts[i].Start-start, s.record)
	}
	for i := range c.Transfers {
		e.transfer(&c.Transfers[i])
	}
	for i := range c.Local {
		l := &c.Local[i]
		at := stageCopy
		if l.Kind == op.Reduce {
			at = stageReduce
		}
		e.record(quantitySlice, l.End-l.Start, s.stages[at])
	}
}

// meteredCollective is a collective whose parts are being recorded.
type meteredCollective struct {
	*meters
	s       *series
	example context.Context // in which a value is offered as an exemplar
	largest [quantityMessage + 1]int64
}

// largestOf is the largest value of each quantity that a collective has: only
// these are exemplars, since offering one takes longer than counting it.
func largestOf(c *Collective) (largest [quantityMessage + 1]int64) {
	start := c.Start()
	more := func(q quantity, value int64) { largest[q] = max(largest[q], value) }
	more(quantityCCT, c.CCT())
	for i := range c.Parts {
		more(quantitySkew, c.Parts[i].Start-start)
	}
	for i := range c.Transfers {
		t := &c.Transfers[i]
		more(quantityRCCT, t.RCCT())
		for j := range t.Slices {
			more(quantitySlice, t.Slices[j].End-t.Slices[j].Start)
		}
		for j := range t.Flows {
			more(quantityFCT, t.Flows[j].FCT())
			for k := range t.Flows[j].Messages {
				more(quantityMessage, t.Flows[j].Messages[k].Bytes)
			}
		}
	}
	return largest
}

// context is that in which a value is to be recorded. Of several that are the
// largest the first is the exemplar.
func (e *meteredCollective) context(q quantity, value int64) context.Context {
	if value != e.largest[q] {
		return context.Background()
	}
	e.largest[q] = -1
	return e.example
}

// record enters a time in nanoseconds.
func (e *meteredCollective) record(q quantity, nanos int64, options []otelmetric.RecordOption) {
	e.histograms[q].Record(e.context(q, nanos), seconds(nanos), options...)
}

// transfer enters one rank-chunk's way, with the slices that have spans.
func (e *meteredCollective) transfer(t *Transfer) {
	e.record(quantityRCCT, t.RCCT(), e.s.record)
	for i := range t.Flows {
		f := &t.Flows[i]
		e.record(quantityFCT, f.FCT(), e.s.record)
		for j := range f.Messages {
			bytes := f.Messages[j].Bytes
			e.messages.Record(e.context(quantityMessage, bytes), bytes, e.s.record...)
		}
	}
	at := stageSend
	if t.Pulled {
		at = stageRecv
		e.slices(t.Sends, stageSend)
	}
	e.slices(t.Slices, at)
}

func (e *meteredCollective) slices(list []Slice, usual stage) {
	for i := range list {
		at := usual
		if list[i].Kind == op.Reduce {
			at = stageReduce
		}
		e.record(quantitySlice, list[i].End-list[i].Start, e.s.stages[at])
	}
}

// rankTraffic are the attributes of a rank's bytes.
type rankTraffic struct {
	sent, received []otelmetric.AddOption
}

// count adds up what both ranks of a transfer have sent and received.
func (m *meters) count(t *Transfer) {
	m.io.Add(context.Background(), t.Bytes, m.trafficOf(t.Source).sent...)
	m.io.Add(context.Background(), t.Bytes, m.trafficOf(t.Dest).received...)
}

func (m *meters) trafficOf(rank int32) *rankTraffic {
	if m.traffic[rank] == nil {
		options := func(direction string) []otelmetric.AddOption {
			set := attribute.NewSet(attribute.Int("ccl.rank", int(rank)), attribute.String("ccl.direction", direction))
			return []otelmetric.AddOption{otelmetric.WithAttributeSet(set)}
		}
		m.traffic[rank] = &rankTraffic{sent: options("send"), received: options("recv")}
	}
	return m.traffic[rank]
}

// exemplarContext makes what is recorded in it refer to the collective's span,
// whose identifiers depend on nothing but the collective.
func (m *meters) exemplarContext(c *Collective, wallOffset int64) context.Context {
	id := newIdentity(m.runID, c.Group, c.Sequence)
	ctx := context.WithValue(context.Background(), exemplarTime{}, time.Unix(0, max(0, wallOffset+c.End())))
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(id.trace), SpanID: trace.SpanID(id.span(place{term: termCollective})), TraceFlags: trace.FlagsSampled,
	}))
}
