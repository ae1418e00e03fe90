package traces

import (
	"bufio"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of Perfetto's trace format, from protos/perfetto/trace in its
// repository, where they never change their meaning.
const (
	tracePacket = 1 // of Trace

	packetClockSnapshot = 6
	packetTimestamp     = 8
	packetSequenceID    = 10
	packetTrackEvent    = 11
	packetInterned      = 12
	packetSequenceFlags = 13
	packetDefaults      = 59
	packetTrack         = 60
	packetFirst         = 87

	defaultsTrackEvent      = 11 // of TracePacketDefaults
	defaultsExtraCounterIDs = 31 // of TrackEventDefaults

	snapshotClock   = 1
	snapshotPrimary = 2
	clockID         = 1
	clockTimestamp  = 2

	trackID      = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5
	trackCounter = 8
	counterUnit  = 3
	processPID   = 1
	processName  = 6
	threadPID    = 1
	threadTID    = 2
	threadName   = 5

	eventCategory       = 3
	eventAnnotation     = 4
	eventType           = 9
	eventName           = 10 // interned
	eventTrack          = 11
	eventExtraCounter   = 12
	eventFlow           = 47
	eventFlowEnd        = 48
	eventCorrelation    = 52
	annotationName      = 1 // interned
	annotationBool      = 2
	annotationUint      = 3
	annotationInt       = 4
	annotationDouble    = 5
	annotationString    = 6
	annotationOwnName   = 10
	internedCategory    = 1
	internedEvent       = 2
	internedAnnotation  = 3
	internedEntryID     = 1
	internedEntryString = 2
)

// Values of enumerations.
const (
	eventSliceBegin = 1
	eventSliceEnd   = 2

	sequenceCleared = 1 // what was interned before is forgotten
	sequenceNeeds   = 2 // the packet refers to what was interned

	clockRealtime  = 1
	clockMonotonic = 3
	clockBoot      = 6 // which timestamps are of if they say nothing

	unitBytes = 3
)

// protoMessage is the encoding of a message under construction.
type protoMessage []byte

func (m *protoMessage) reset() { *m = (*m)[:0] }

func (m *protoMessage) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *protoMessage) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *protoMessage) double(field protowire.Number, v float64) { m.fixed(field, math.Float64bits(v)) }

func (m *protoMessage) string(field protowire.Number, v string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

func (m *protoMessage) message(field protowire.Number, v protoMessage) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

// packetWriter writes the packets of a trace. What has failed once stays so.
type packetWriter struct {
	out        *bufio.Writer
	length     protoMessage
	tracks     uint64 // given out
	nextThread int64  // number that no thread has
	err        error
}

func newPacketWriter(w io.Writer) *packetWriter {
	return &packetWriter{out: bufio.NewWriterSize(w, 1<<20)}
}

func (w *packetWriter) write(packet protoMessage) {
	if w.err != nil {
		return
	}
	w.length.reset()
	w.length = protowire.AppendTag(w.length, tracePacket, protowire.BytesType)
	w.length = protowire.AppendVarint(w.length, uint64(len(packet)))
	if _, w.err = w.out.Write(w.length); w.err == nil {
		_, w.err = w.out.Write(packet)
	}
}

func (w *packetWriter) flush() error {
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// newTrack is a number for a track, which must not be 0.
func (w *packetWriter) newTrack() uint64 {
	w.tracks++
	return w.tracks
}

// newThread is a number for a thread that is none of the system's.
func (w *packetWriter) newThread() int64 {
	w.nextThread++
	return w.nextThread - 1
}

// track describes a track, under a parent if that is not 0. more adds what
// makes it the track of a process, a thread or a counter.
func (w *packetWriter) track(parent uint64, name string, more func(*protoMessage)) (id uint64) {
	id = w.newTrack()
	var packet, track protoMessage
	track.uint(trackID, id)
	if parent != 0 {
		track.uint(trackParent, parent)
	}
	if name != "" {
		track.string(trackName, name)
	}
	if more != nil {
		more(&track)
	}
	packet.message(packetTrack, track)
	w.write(packet)
	return id
}

// process describes the track of a process.
func (w *packetWriter) process(pid int64, name string) (id uint64) {
	return w.track(0, "", func(track *protoMessage) {
		var process protoMessage
		process.uint(processPID, uint64(pid))
		process.string(processName, name)
		track.message(trackProcess, process)
	})
}

// thread describes the track of a thread.
func (w *packetWriter) thread(parent uint64, pid, tid int64, name string) (id uint64) {
	return w.track(parent, "", func(track *protoMessage) {
		var thread protoMessage
		thread.uint(threadPID, uint64(pid))
		thread.uint(threadTID, uint64(tid))
		thread.string(threadName, name)
		track.message(trackThread, thread)
	})
}

// bytesCounter describes the track of a counter of bytes.
func (w *packetWriter) bytesCounter(parent uint64, name string) (id uint64) {
	return w.track(parent, name, func(track *protoMessage) {
		var counter protoMessage
		counter.uint(counterUnit, unitBytes)
		track.message(trackCounter, counter)
	})
}

// clocks says what time it was by other clocks at a time of the trace's, which
// is the node's monotonic clock.
func (w *packetWriter) clocks(at, wall int64) {
	var packet, snapshot, clock protoMessage
	for _, c := range [...]struct {
		id uint64
		at int64
	}{{clockBoot, at}, {clockMonotonic, at}, {clockRealtime, wall}} {
		clock.reset()
		clock.uint(clockID, c.id)
		clock.uint(clockTimestamp, uint64(c.at))
		snapshot.message(snapshotClock, clock)
	}
	snapshot.uint(snapshotPrimary, clockBoot)
	packet.message(packetClockSnapshot, snapshot)
	w.write(packet)
}
