package traces

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// wire turns batches of spans into OTLP's messages, which the clients of
// OpenTelemetry take. Their SDK's own spans would do the same for twice the
// time.
type wire struct {
	scope     *commonpb.InstrumentationScope
	resources map[*Resource]*resourcepb.Resource
	strings   map[string]*commonpb.AnyValue // texts repeat: operations, services
}

func newWire(info *Info) *wire {
	return &wire{
		scope:     &commonpb.InstrumentationScope{Name: scopeName, Version: info.ServiceVersion},
		resources: make(map[*Resource]*resourcepb.Resource),
		strings:   make(map[string]*commonpb.AnyValue),
	}
}

// encode sorts a batch by resource. What it gives refers to the batch.
func (w *wire) encode(batch []*Span) []*tracepb.ResourceSpans {
	var out []*tracepb.ResourceSpans
	scopes := make(map[*Resource]*tracepb.ScopeSpans)
	spans := make([]tracepb.Span, len(batch))
	for i, s := range batch {
		scope := scopes[s.Resource]
		if scope == nil {
			scope = &tracepb.ScopeSpans{Scope: w.scope}
			scopes[s.Resource] = scope
			out = append(out, &tracepb.ResourceSpans{Resource: w.resource(s.Resource), ScopeSpans: []*tracepb.ScopeSpans{scope}})
		}
		w.span(&spans[i], s)
		scope.Spans = append(scope.Spans, &spans[i])
	}
	return out
}

func (w *wire) resource(r *Resource) *resourcepb.Resource {
	if w.resources[r] == nil {
		w.resources[r] = &resourcepb.Resource{Attributes: w.attributes(r.Attributes)}
	}
	return w.resources[r]
}

func (w *wire) span(to *tracepb.Span, s *Span) {
	to.TraceId, to.SpanId, to.Flags = s.Trace[:], s.ID[:], s.flags()
	if s.Parent != (SpanID{}) {
		to.ParentSpanId = s.Parent[:]
	}
	to.Name, to.Kind = s.Name, tracepb.Span_SpanKind(s.Kind)
	to.StartTimeUnixNano, to.EndTimeUnixNano = uint64(s.Start), uint64(s.End)
	to.Attributes = w.attributes(s.allAttributes())
	if len(s.Links) > 0 {
		links := make([]tracepb.Span_Link, len(s.Links))
		to.Links = make([]*tracepb.Span_Link, len(s.Links))
		for i := range s.Links {
			link := &links[i]
			link.TraceId, link.SpanId, link.Flags = s.Links[i].Trace[:], s.Links[i].Span[:], flagSampled|flagRemoteKnown
			to.Links[i] = link
		}
	}
	if s.Failure != "" {
		to.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: s.Failure}
	}
}

// keyValue is what one attribute takes, in one piece.
type keyValue struct {
	pair  commonpb.KeyValue
	value commonpb.AnyValue
	int   commonpb.AnyValue_IntValue
}

func (w *wire) attributes(attributes []Attribute) []*commonpb.KeyValue {
	slab := make([]keyValue, len(attributes))
	out := make([]*commonpb.KeyValue, len(attributes))
	for i := range attributes {
		a, kv := &attributes[i], &slab[i]
		kv.pair.Key, kv.pair.Value = a.Key, &kv.value
		switch a.Kind {
		case AttributeInt:
			kv.int.IntValue = a.Int
			kv.value.Value = &kv.int
		case AttributeFloat:
			kv.value.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: a.Float}
		case AttributeBool:
			kv.value.Value = &commonpb.AnyValue_BoolValue{BoolValue: a.Bool}
		default:
			kv.pair.Value = w.text(a.Text)
		}
		out[i] = &kv.pair
	}
	return out
}

// textsMax bounds how many texts are remembered.
const textsMax = 1024

func (w *wire) text(text string) *commonpb.AnyValue {
	if v := w.strings[text]; v != nil {
		return v
	}
	v := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: text}}
	if len(w.strings) < textsMax {
		w.strings[text] = v
	}
	return v
}
