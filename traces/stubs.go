package traces

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// stubs turns spans into those of the SDK, which its exporters take.
type stubs struct {
	scope     instrumentation.Scope
	resources map[*Resource]*resource.Resource
}

func newStubs(info *Info) *stubs {
	return &stubs{
		scope:     instrumentation.Scope{Name: scopeName, Version: info.ServiceVersion},
		resources: make(map[*Resource]*resource.Resource),
	}
}

func (st *stubs) snapshots(batch []*Span) []sdktrace.ReadOnlySpan {
	out := make([]sdktrace.ReadOnlySpan, len(batch))
	for i, s := range batch {
		out[i] = st.stub(s).Snapshot()
	}
	return out
}

func (st *stubs) stub(s *Span) tracetest.SpanStub {
	out := tracetest.SpanStub{
		Name: s.Name, SpanKind: trace.SpanKind(s.Kind),
		SpanContext: spanContext(s.Trace, s.ID, false),
		StartTime:   time.Unix(0, s.Start), EndTime: time.Unix(0, s.End),
		Attributes: keyValues(s.allAttributes()), Resource: st.resource(s.Resource), InstrumentationScope: st.scope,
	}
	if s.Parent != (SpanID{}) {
		out.Parent = spanContext(s.Trace, s.Parent, s.ParentRemote)
	}
	for _, link := range s.Links {
		out.Links = append(out.Links, sdktrace.Link{SpanContext: spanContext(link.Trace, link.Span, false)})
	}
	if s.Failure != "" {
		out.Status = sdktrace.Status{Code: codes.Error, Description: s.Failure}
	}
	return out
}

func spanContext(traceID TraceID, spanID SpanID, remote bool) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(traceID), SpanID: trace.SpanID(spanID), TraceFlags: trace.FlagsSampled, Remote: remote,
	})
}

func (st *stubs) resource(r *Resource) *resource.Resource {
	if st.resources[r] == nil {
		st.resources[r] = resource.NewSchemaless(keyValues(r.Attributes)...)
	}
	return st.resources[r]
}

func keyValues(attributes []Attribute) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attributes))
	for i := range attributes {
		a := &attributes[i]
		switch a.Kind {
		case AttributeInt:
			out[i] = attribute.Int64(a.Key, a.Int)
		case AttributeFloat:
			out[i] = attribute.Float64(a.Key, a.Float)
		case AttributeBool:
			out[i] = attribute.Bool(a.Key, a.Bool)
		default:
			out[i] = attribute.String(a.Key, a.Text)
		}
	}
	return out
}
