package traces

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// scopeName is the instrumentation scope of all spans.
const scopeName = "github.com/ccrun/ccrun/traces"

// WriteJSON writes the spans of a run as OTLP-JSON lines: one TracesData object
// a line, of at most 4096 spans. Jaeger's upload page takes the file, and an
// OTLP/HTTP endpoint each of its lines.
func WriteJSON(w io.Writer, r *Run, info Info, o SpanOptions) (ExportStats, error) {
	out := bufio.NewWriterSize(w, 1<<20)
	line := jsonLine{version: info.ServiceVersion}
	stats, err := inBatches(r, &info, o, func(batch []*Span) (int64, error) {
		line.encode(batch)
		_, err := out.Write(line.text)
		return 0, err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return stats, fmt.Errorf("spans: %w", err)
	}
	return stats, nil
}

// WriteJSONFile is [WriteJSON] to a file; see [WriteFile].
func WriteJSONFile(path string, r *Run, info Info, o SpanOptions) (stats ExportStats, err error) {
	err = WriteFile(path, func(w io.Writer) error {
		stats, err = WriteJSON(w, r, info, o)
		return err
	})
	return stats, err
}

// jsonLine encodes batches of spans by appending, which is 70 times as fast as
// the reflection of protojson, which also writes identifiers in base64 where
// OTLP wants hexadecimal.
type jsonLine struct {
	text    []byte
	version string
}

// encode makes the line of one batch: its spans by resource.
func (l *jsonLine) encode(batch []*Span) {
	l.text = append(l.text[:0], `{"resourceSpans":[`...)
	var order []*Resource
	byResource := make(map[*Resource][]*Span)
	for _, s := range batch {
		if byResource[s.Resource] == nil {
			order = append(order, s.Resource)
		}
		byResource[s.Resource] = append(byResource[s.Resource], s)
	}
	for i, resource := range order {
		l.comma(i)
		l.resource(resource, byResource[resource])
	}
	l.raw("]}\n")
}

func (l *jsonLine) raw(s string) { l.text = append(l.text, s...) }

func (l *jsonLine) comma(i int) {
	if i > 0 {
		l.text = append(l.text, ',')
	}
}

func (l *jsonLine) resource(resource *Resource, spans []*Span) {
	l.raw(`{"resource":{"attributes":`)
	l.attributes(resource.Attributes)
	l.raw(`},"scopeSpans":[{"scope":{"name":`)
	l.string(scopeName)
	l.raw(`,"version":`)
	l.string(l.version)
	l.raw(`},"spans":[`)
	for i, s := range spans {
		l.comma(i)
		l.span(s)
	}
	l.raw(`]}]}`)
}

func (l *jsonLine) span(s *Span) {
	l.raw(`{"traceId":"`)
	l.text = hex.AppendEncode(l.text, s.Trace[:])
	l.raw(`","spanId":"`)
	l.text = hex.AppendEncode(l.text, s.ID[:])
	if s.Parent != (SpanID{}) {
		l.raw(`","parentSpanId":"`)
		l.text = hex.AppendEncode(l.text, s.Parent[:])
	}
	l.raw(`","flags":`)
	l.text = strconv.AppendUint(l.text, uint64(s.flags()), 10)
	l.raw(`,"name":`)
	l.string(s.Name)
	l.raw(`,"kind":`)
	l.text = strconv.AppendUint(l.text, uint64(s.Kind), 10)
	l.raw(`,"startTimeUnixNano":"`)
	l.text = strconv.AppendInt(l.text, s.Start, 10)
	l.raw(`","endTimeUnixNano":"`)
	l.text = strconv.AppendInt(l.text, s.End, 10)
	l.raw(`","attributes":`)
	l.attributes(s.allAttributes())
	l.links(s.Links)
	if s.Failure != "" {
		l.raw(`,"status":{"code":2,"message":`)
		l.string(s.Failure)
		l.raw(`}`)
	}
	l.raw(`}`)
}

// The bits of a span's flags in OTLP.
const (
	flagSampled     = 0x001
	flagRemoteKnown = 0x100
	flagRemote      = 0x200
)

func (s *Span) flags() uint32 {
	if s.ParentRemote {
		return flagSampled | flagRemoteKnown | flagRemote
	}
	return flagSampled | flagRemoteKnown
}

// allAttributes are the span's own and error.type.
func (s *Span) allAttributes() []Attribute {
	if s.Failure == "" {
		return s.Attributes
	}
	return append(s.Attributes[:len(s.Attributes):len(s.Attributes)], textAttr("error.type", s.Failure))
}

func (l *jsonLine) links(links []Link) {
	if len(links) == 0 {
		return
	}
	l.raw(`,"links":[`)
	for i := range links {
		l.comma(i)
		l.raw(`{"traceId":"`)
		l.text = hex.AppendEncode(l.text, links[i].Trace[:])
		l.raw(`","spanId":"`)
		l.text = hex.AppendEncode(l.text, links[i].Span[:])
		l.raw(`","flags":`)
		l.text = strconv.AppendUint(l.text, flagSampled|flagRemoteKnown, 10)
		l.raw(`}`)
	}
	l.raw(`]`)
}

func (l *jsonLine) attributes(attributes []Attribute) {
	l.raw(`[`)
	for i := range attributes {
		l.comma(i)
		l.raw(`{"key":`)
		l.string(attributes[i].Key)
		l.raw(`,"value":{`)
		l.value(&attributes[i])
		l.raw(`}}`)
	}
	l.raw(`]`)
}

func (l *jsonLine) value(a *Attribute) {
	switch a.Kind {
	case AttributeInt:
		l.raw(`"intValue":"`)
		l.text = strconv.AppendInt(l.text, a.Int, 10)
		l.raw(`"`)
	case AttributeFloat:
		l.raw(`"doubleValue":`)
		l.float(a.Float)
	case AttributeBool:
		l.raw(`"boolValue":`)
		l.text = strconv.AppendBool(l.text, a.Bool)
	default:
		l.raw(`"stringValue":`)
		l.string(a.Text)
	}
}

// float writes what JSON has no number for as protobuf's JSON does.
func (l *jsonLine) float(v float64) {
	switch {
	case math.IsNaN(v):
		l.raw(`"NaN"`)
	case math.IsInf(v, 1):
		l.raw(`"Infinity"`)
	case math.IsInf(v, -1):
		l.raw(`"-Infinity"`)
	default:
		l.text = strconv.AppendFloat(l.text, v, 'g', -1, 64)
	}
}

// string writes plain text as it is and leaves the rest to encoding/json.
func (l *jsonLine) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				quoted = []byte(`""`) // a string always has a JSON form
			}
			l.text = append(l.text, quoted...)
			return
		}
	}
	l.text = append(l.text, '"')
	l.text = append(l.text, s...)
	l.text = append(l.text, '"')
}
