package traces

import "google.golang.org/protobuf/encoding/protowire"

// argument is the name of an argument of a slice, and its number among those
// that every sequence knows.
type argument uint8

// The arguments of slices, in the order in which they get their numbers.
const (
	argKind argument = iota
	argStatus
	argOperation
	argAlgorithm
	argGroup
	argCollective
	argWarmup
	argChunk
	argStep
	argFlow
	argSlice
	argMessage
	argPeer
	argBytes
	argSlot
	argValue
	argRanks
	argSliceBytes
	argDtype
	argRedop
	argCCT
	argSkew
	argWait
	argStraggler
	argAlgBW
	argBusBW
	argComplete
	argDisagreement
	argDrawnLate
	argRunID
	argDevice
	argPreset
	argHost
	argVersion
	argumentCount
)

var argumentNames = [argumentCount]string{
	"kind", "status", "operation", "algorithm", "group", "collective", "warmup", "chunk", "step", "flow", "slice", "message",
	"peer", "bytes", "slot", "value", "ranks", "slice_bytes", "dtype", "redop", "cct_ns", "start_skew_ns", "wait_ns", "straggler",
	"algbw", "busbw", "complete", "disagreement", "drawn_late_ns", "run_id", "device", "preset", "host", "version",
}

// category is a class of slices.
type category uint8

// The categories.
const (
	categoryRun category = iota
	categoryCollective
	categoryMark
	categoryMessage
	categoryLocal
	categoryWait
	categoryCompute
	categoryHost
	categoryCount
)

var categoryNames = [categoryCount]string{"run", "collective", "mark", "message", "local", "wait", "compute", "host"}

// packetSequence writes the slices of one rank, or of the run. The names that
// it uses are written once each.
type packetSequence struct {
	out     *packetWriter
	id      uint64
	names   map[string]uint64
	learned protoMessage // names that the next packet defines

	packet, event, annotation protoMessage
}

// newSequence begins a sequence. Values of counters that its events carry are
// of the track counter, 0 for none.
func newSequence(out *packetWriter, id, counter uint64) *packetSequence {
	s := &packetSequence{out: out, id: id, names: make(map[string]uint64)}
	for i, name := range categoryNames {
		s.learn(internedCategory, uint64(i)+1, name)
	}
	for i, name := range argumentNames {
		s.learn(internedAnnotation, uint64(i)+1, name)
	}
	var defaults, event protoMessage
	if counter != 0 {
		event.uint(defaultsExtraCounterIDs, counter)
	}
	defaults.message(defaultsTrackEvent, event)
	s.packet.uint(packetSequenceID, id)
	s.packet.uint(packetSequenceFlags, sequenceCleared|sequenceNeeds)
	s.packet.uint(packetFirst, 1)
	s.packet.message(packetDefaults, defaults)
	s.packet.message(packetInterned, s.learned)
	s.learned.reset()
	out.write(s.packet)
	return s
}

// learn defines the number of a name, in the table of the field.
func (s *packetSequence) learn(field protowire.Number, id uint64, name string) {
	var entry protoMessage
	entry.uint(internedEntryID, id)
	entry.string(internedEntryString, name)
	s.learned.message(field, entry)
}

// begin begins a slice. Arguments and arrows follow, then end of the packet.
func (s *packetSequence) begin(track uint64, name string, c category) {
	id, ok := s.names[name]
	if !ok {
		id = uint64(len(s.names)) + 1
		s.names[name] = id
		s.learn(internedEvent, id, name)
	}
	s.event.reset()
	s.event.uint(eventType, eventSliceBegin)
	s.event.uint(eventTrack, track)
	s.event.uint(eventName, id)
	s.event.uint(eventCategory, uint64(c)+1)
}

// end ends the slice that is open on the track.
func (s *packetSequence) end(track uint64) {
	s.event.reset()
	s.event.uint(eventType, eventSliceEnd)
	s.event.uint(eventTrack, track)
}

func (s *packetSequence) argument(a argument) {
	s.annotation.reset()
	s.annotation.uint(annotationName, uint64(a)+1)
}

func (s *packetSequence) argumentDone() { s.event.message(eventAnnotation, s.annotation) }

func (s *packetSequence) uint(a argument, v uint64) {
	s.argument(a)
	s.annotation.uint(annotationUint, v)
	s.argumentDone()
}

func (s *packetSequence) int(a argument, v int64) {
	s.argument(a)
	s.annotation.uint(annotationInt, uint64(v))
	s.argumentDone()
}

func (s *packetSequence) float(a argument, v float64) {
	s.argument(a)
	s.annotation.double(annotationDouble, v)
	s.argumentDone()
}

func (s *packetSequence) bool(a argument, v bool) {
	s.argument(a)
	set := uint64(0)
	if v {
		set = 1
	}
	s.annotation.uint(annotationBool, set)
	s.argumentDone()
}

// string adds a text, unless it is empty.
func (s *packetSequence) string(a argument, v string) {
	if v == "" {
		return
	}
	s.argument(a)
	s.annotation.string(annotationString, v)
	s.argumentDone()
}

// named adds a text under a name that is not among the known ones.
func (s *packetSequence) named(name, v string) {
	s.annotation.reset()
	s.annotation.string(annotationOwnName, name)
	s.annotation.string(annotationString, v)
	s.argumentDone()
}

// counter sets the sequence's counter.
func (s *packetSequence) counter(v int64) { s.event.uint(eventExtraCounter, uint64(v)) }

// arrow has an arrow begin at the event's slice, or go on from it.
func (s *packetSequence) arrow(id uint64) { s.event.fixed(eventFlow, id) }

// arrowEnd has an arrow end at the event's slice.
func (s *packetSequence) arrowEnd(id uint64) { s.event.fixed(eventFlowEnd, id) }

// correlate has the slice shown as belonging together with others of the
// number.
func (s *packetSequence) correlate(id uint64) { s.event.uint(eventCorrelation, id) }

// write writes the event that begin or end has begun.
func (s *packetSequence) write(at int64) {
	s.packet.reset()
	s.packet.uint(packetTimestamp, uint64(at))
	s.packet.uint(packetSequenceID, s.id)
	s.packet.uint(packetSequenceFlags, sequenceNeeds)
	if len(s.learned) > 0 {
		s.packet.message(packetInterned, s.learned)
		s.learned.reset()
	}
	s.packet.message(packetTrackEvent, s.event)
	s.out.write(s.packet)
}
