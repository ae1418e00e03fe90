package traces

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// TraceID and SpanID are the identifiers of OpenTelemetry; zero is none.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// String is the identifier in hexadecimal.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// String is the identifier in hexadecimal.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// identity makes the identifiers of one trace. They depend on nothing but the
// run and the place in it, so any process that knows these can link to a span
// without having been told its identifier.
type identity struct {
	trace TraceID
	seed  uint64
}

// newIdentity is the identity of the trace of one collective, or with
// sequence 0 of the run itself.
func newIdentity(runID string, group uint16, sequence uint32) identity {
	var b bytes.Buffer
	b.WriteString(runID)
	b.WriteByte(0)
	var place [6]byte
	binary.BigEndian.PutUint16(place[:2], group)
	binary.BigEndian.PutUint32(place[2:], sequence)
	b.Write(place[:])
	sum := sha256.Sum256(b.Bytes())
	id := identity{seed: binary.BigEndian.Uint64(sum[16:])}
	copy(id.trace[:], sum[:16])
	return id
}

// place is where in a trace a span stands. Fields that a term does not have
// stay zero.
type place struct {
	term    term
	rank    int32
	peer    int32
	step    uint16
	flow    uint16
	chunk   uint32
	slice   uint32 // of flows and messages, 1 if the destination moves them
	message uint32 // position in the flow, or of local work in its collective
}

// span is the identifier of the span at a place: all fields mixed together.
func (id identity) span(p place) SpanID {
	h := id.seed
	for _, part := range [...]uint64{
		uint64(p.term)<<32 | uint64(p.step)<<16 | uint64(p.flow),
		uint64(uint32(p.rank))<<32 | uint64(uint32(p.peer)),
		uint64(p.chunk)<<32 | uint64(p.slice),
		uint64(p.message),
	} {
		h = mix(h ^ part)
	}
	var out SpanID
	binary.BigEndian.PutUint64(out[:], max(h, 1))
	return out
}

// mix is a bijection of 64 bits that spreads every bit over all others: two
// rounds of multiplying by an odd number and folding the high half in.
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0x9fb21c651e98df25
	x = (x ^ x>>28) * 0x9e3779b97f4a7c15
	return x ^ x>>32
}

// ValidTraceParent reports whether text is a W3C trace context that spans can
// be given as their parent.
func ValidTraceParent(text string) bool {
	_, _, ok := parseTraceParent(text)
	return ok
}

// parseTraceParent reads the W3C trace context of who started the run:
// version-traceid-spanid-flags in lower-case hexadecimal. Anything else is as
// if there were none.
func parseTraceParent(text string) (trace TraceID, span SpanID, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[3]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 {
		return trace, span, false
	}
	if text != strings.ToLower(text) || !decodeHex(trace[:], parts[1]) || !decodeHex(span[:], parts[2]) {
		return TraceID{}, SpanID{}, false
	}
	if trace == (TraceID{}) || span == (SpanID{}) {
		return TraceID{}, SpanID{}, false
	}
	return trace, span, true
}

// decodeHex fills dst with exactly as many bytes.
func decodeHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}
