package traces

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
)

// SpanKind is OpenTelemetry's kind of a span.
type SpanKind uint8

// The kinds in use, with OTLP's numbers.
const (
	KindInternal SpanKind = 1
	KindClient   SpanKind = 3
	KindProducer SpanKind = 4
	KindConsumer SpanKind = 5
)

// String is the kind as Jaeger shows it.
func (k SpanKind) String() string {
	switch k {
	case KindInternal:
		return "internal"
	case KindClient:
		return "client"
	case KindProducer:
		return "producer"
	default:
		return "consumer"
	}
}

// term is a row of the schema. The numbers enter span identifiers, so a new
// term comes last.
type term uint8

const (
	termRun term = iota
	termMark
	termCollective
	termRank
	termChunkSend
	termChunkRecv
	termFlow
	termSliceSend
	termSliceRecv
	termSliceReduce
	termSliceCopy
	termMessage
)

// spanSchema says how one of the field's terms becomes a span.
type spanSchema struct {
	name       string // of the span; OPERATION stands for the collective's, NAME for the mark's
	level      flight.Level
	kind       SpanKind
	parent     string
	link       string
	time       string
	attributes []string
}

// schema is the whole mapping, by term. Names have few values, so that
// statistics by name add up; numbers stand in attributes.
var schema = [...]spanSchema{
	termRun: {"run", flight.LevelCollective, KindInternal, "TRACEPARENT, if there is one", "", "first record .. last record",
		[]string{"ccl.run.id", "ccl.size", "ccl.collectives", "ccl.spans.dropped"}},
	termMark: {"NAME", flight.LevelCollective, KindInternal, "run", "", "mark_begin .. mark_end",
		[]string{"ccl.rank"}},
	termCollective: {"OPERATION", flight.LevelCollective, KindInternal, "none: one trace per collective", "run", "first rank's start .. last rank's finish (CCT)",
		[]string{"ccl.operation", "ccl.algorithm", "ccl.size", "ccl.sequence", "ccl.group", "ccl.data.bytes", "ccl.chunk.bytes", "ccl.slice.bytes",
			"ccl.datatype", "ccl.reduce_op", "ccl.warmup", "ccl.cct_ns", "ccl.straggler.rank", "ccl.algbw", "ccl.busbw", "ccl.level", "ccl.spans.dropped"}},
	termRank: {"OPERATION rank", flight.LevelCollective, KindInternal, "collective", "", "rank's start .. finish",
		[]string{"ccl.rank", "ccl.start_skew_ns", "ccl.wait_ns"}},
	termChunkSend: {"chunk send", flight.LevelFlow, KindProducer, "rank, of the source", "", "first message's start .. last one's end",
		chunkAttributes},
	termChunkRecv: {"chunk recv", flight.LevelFlow, KindConsumer, "rank, of the destination", "chunk send", "the same, cut to the rank's part",
		chunkAttributes},
	termFlow: {"flow", flight.LevelFlow, KindProducer, "chunk send, or chunk recv if the destination moves the bytes", "", "first message's start .. last one's end (FCT)",
		[]string{"ccl.flow.id", "ccl.chunk.id", "ccl.step", "ccl.peer.rank", "ccl.bytes", "ccl.message.count", "ccl.fct_ns"}},
	termSliceSend: {"slice send", flight.LevelSlice, KindProducer, "chunk send", "flow, each that moves it", "first message's start .. last one's end",
		append(slices.Clone(sliceAttributes), "peer.service")},
	termSliceRecv:   {"slice recv", flight.LevelSlice, KindConsumer, "chunk recv", "slice send, if the source sent; flow, each that moves it", "first message's start .. last one's end", sliceAttributes},
	termSliceReduce: {"slice reduce", flight.LevelSlice, KindInternal, "chunk recv, or rank if nothing crosses ranks", "flow, if bytes cross ranks", "start .. end", sliceAttributes},
	termSliceCopy:   {"slice copy", flight.LevelSlice, KindInternal, "rank", "", "start .. end", sliceAttributes},
	termMessage: {"message", flight.LevelMessage, KindClient, "flow", "slice", "start .. end",
		[]string{"ccl.message.id", "ccl.flow.id", "ccl.slice.id", "ccl.bytes"}},
}

var chunkAttributes = []string{"ccl.chunk.id", "ccl.step", "ccl.peer.rank", "ccl.bytes", "ccl.flow.count", "ccl.rcct_ns"}

var sliceAttributes = []string{"ccl.slice.id", "ccl.chunk.id", "ccl.step", "ccl.peer.rank", "ccl.bytes", "ccl.message.count"}

// WriteSchema writes the mapping as a Markdown table.
func WriteSchema(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| span | from level | kind | parent | link to | time | attributes |\n|---|---|---|---|---|---|---|\n")
	for _, s := range schema {
		keys := "`" + strings.Join(s.attributes, "`, `") + "`"
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", s.name, s.level, s.kind, s.parent, s.link, s.time, keys)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
