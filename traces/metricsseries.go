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
	ctx := m.exemplarContext(c, wallOffset)
	s.add(c.CCT())
	m.histograms[quantityCCT].Record(ctx, seconds(c.CCT()), s.record...)
	start := c.Start()
	for i := range c.Parts {
		m.histograms[quantitySkew].Record(ctx, seconds(c.Parts[i].Start-start), s.record...)
	}
	for i := range c.Transfers {
		m.transfer(ctx, s, &c.Transfers[i])
	}
	for i := range c.Local {
		l := &c.Local[i]
		at := stageCopy
		if l.Kind == op.Reduce {
			at = stageReduce
		}
		m.histograms[quantitySlice].Record(ctx, seconds(l.End-l.Start), s.stages[at]...)
	}
}

// transfer enters one rank-chunk's way, with the slices that have spans.
func (m *meters) transfer(ctx context.Context, s *series, t *Transfer) {
	m.histograms[quantityRCCT].Record(ctx, seconds(t.RCCT()), s.record...)
	for i := range t.Flows {
		f := &t.Flows[i]
		m.histograms[quantityFCT].Record(ctx, seconds(f.FCT()), s.record...)
		for j := range f.Messages {
			m.messages.Record(ctx, f.Messages[j].Bytes, s.record...)
		}
	}
	at := stageSend
	if t.Pulled {
		at = stageRecv
		m.slices(ctx, s, t.Sends, stageSend)
	}
	m.slices(ctx, s, t.Slices, at)
}

func (m *meters) slices(ctx context.Context, s *series, list []Slice, usual stage) {
	for i := range list {
		at := usual
		if list[i].Kind == op.Reduce {
			at = stageReduce
		}
		m.histograms[quantitySlice].Record(ctx, seconds(list[i].End-list[i].Start), s.stages[at]...)
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
