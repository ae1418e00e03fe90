package traces

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// perfettoSchema is the part of Perfetto's trace format that a test knows: the
// messages, and their fields by number with name and type. It stands for the
// .proto files of protos/perfetto/trace, independently of the constants that
// the writer has.
const perfettoSchema = `
Trace 1=packet:TracePacket
TracePacket 6=clock_snapshot:ClockSnapshot 8=timestamp:varint 10=trusted_packet_sequence_id:varint 11=track_event:TrackEvent 12=interned_data:InternedData
TracePacket 13=sequence_flags:varint 59=trace_packet_defaults:TracePacketDefaults 60=track_descriptor:TrackDescriptor 87=first_packet_on_sequence:varint
TracePacketDefaults 11=track_event_defaults:TrackEventDefaults 58=timestamp_clock_id:varint
TrackEventDefaults 11=track_uuid:varint 31=extra_counter_track_uuids:varint
ClockSnapshot 1=clocks:Clock 2=primary_trace_clock:varint
Clock 1=clock_id:varint 2=timestamp:varint 3=is_incremental:varint
TrackDescriptor 1=uuid:varint 2=name:string 3=process:ProcessDescriptor 4=thread:ThreadDescriptor 5=parent_uuid:varint 8=counter:CounterDescriptor
ProcessDescriptor 1=pid:varint 6=process_name:string
ThreadDescriptor 1=pid:varint 2=tid:varint 5=thread_name:string
CounterDescriptor 1=type:varint 3=unit:varint 5=is_incremental:varint
InternedData 1=event_categories:Interned 2=event_names:Interned 3=debug_annotation_names:Interned
Interned 1=iid:varint 2=name:string
TrackEvent 3=category_iids:varint 4=debug_annotations:DebugAnnotation 9=type:varint 10=name_iid:varint 11=track_uuid:varint 12=extra_counter_values:varint
TrackEvent 23=name:string 31=extra_counter_track_uuids:varint 47=flow_ids:fixed64 48=terminating_flow_ids:fixed64 52=correlation_id:varint
DebugAnnotation 1=name_iid:varint 2=bool_value:varint 3=uint_value:varint 4=int_value:varint 5=double_value:fixed64 6=string_value:string 10=name:string
`

type protoField struct{ name, kind string }

// perfettoFields is the schema by message and number.
var perfettoFields = func() map[string]map[protowire.Number]protoField {
	fields := make(map[string]map[protowire.Number]protoField)
	for line := range strings.Lines(strings.TrimSpace(perfettoSchema)) {
		words := strings.Fields(line)
		if fields[words[0]] == nil {
			fields[words[0]] = make(map[protowire.Number]protoField)
		}
		for _, word := range words[1:] {
			var number protowire.Number
			digits, rest, _ := strings.Cut(word, "=")
			fmt.Sscan(digits, &number)
			name, kind, _ := strings.Cut(rest, ":")
			fields[words[0]][number] = protoField{name, kind}
		}
	}
	return fields
}()

// decoded is a message: the values of each field in their order.
type decoded map[string][]any

// decodePerfetto reads a message. A field that the schema does not have, or
// that has another wire type, fails the test.
func decodePerfetto(t *testing.T, message string, b []byte) decoded {
	t.Helper()
	out := make(decoded)
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("%s: %v", message, protowire.ParseError(n))
		}
		b = b[n:]
		field, ok := perfettoFields[message][number]
		if !ok {
			t.Fatalf("%s has no field %d", message, number)
		}
		var value any
		value, n = decodeField(t, field, wire, b)
		if n < 0 {
			t.Fatalf("%s.%s: %v", message, field.name, protowire.ParseError(n))
		}
		out[field.name] = append(out[field.name], value)
		b = b[n:]
	}
	return out
}

func decodeField(t *testing.T, field protoField, wire protowire.Type, b []byte) (value any, n int) {
	t.Helper()
	want := protowire.BytesType
	switch field.kind {
	case "varint":
		want = protowire.VarintType
	case "fixed64":
		want = protowire.Fixed64Type
	}
	if wire != want {
		t.Fatalf("%s has wire type %d", field.name, wire)
	}
	switch field.kind {
	case "varint":
		v, n := protowire.ConsumeVarint(b)
		return v, n
	case "fixed64":
		v, n := protowire.ConsumeFixed64(b)
		return v, n
	case "string":
		text, n := protowire.ConsumeString(b)
		return text, n
	}
	content, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, n
	}
	return decodePerfetto(t, field.kind, content), n
}

func (d decoded) uint(name string) uint64 {
	if len(d[name]) == 0 {
		return 0
	}
	return d[name][0].(uint64)
}

func (d decoded) string(name string) string {
	if len(d[name]) == 0 {
		return ""
	}
	return d[name][0].(string)
}

func (d decoded) message(name string) decoded {
	if len(d[name]) == 0 {
		return nil
	}
	return d[name][0].(decoded)
}

// annotationValue is the value of an argument as text.
func annotationValue(a decoded) string {
	switch {
	case a["bool_value"] != nil:
		return fmt.Sprint(a.uint("bool_value") == 1)
	case a["uint_value"] != nil:
		return fmt.Sprint(a.uint("uint_value"))
	case a["int_value"] != nil:
		return fmt.Sprint(int64(a.uint("int_value")))
	case a["double_value"] != nil:
		return fmt.Sprintf("%.6g", math.Float64frombits(a.uint("double_value")))
	default:
		return a.string("string_value")
	}
}
