// Package flight is the flight recorder: one mmap'ed file per rank that holds
// a fixed-size [Record] per operation, and what each of the rank's threads is
// waiting for at this moment. It costs two clock reads and a store per
// operation, and what was written is still there when the rank is killed.
//
// A rank writes with [Create] and [Writer.Append]. The launcher reads with
// [Open], while the rank runs or afterwards. The package knows nothing of what
// the numbers in a record mean; packages op and traces do.
package flight

import "unsafe"

// Record is one event as it lies in the file, 64 bytes, in the byte order of
// the machine that wrote it. Times are nanoseconds of the machine's monotonic
// clock, the same clock for all ranks of a node.
type Record struct {
	Start int64  // when the operation began to execute
	End   int64  // when it was complete
	Bytes uint64 // payload; the value of a signal or a wait; S of a collective

	Collective uint32 // sequence number of the collective it belongs to, 0 if none
	Chunk      uint32 // rank-chunk; of a collective: how many ranks take part
	Slice      uint32 // pipelined slice; of a collective: bytes of one slice, 0 if not sliced
	Message    uint32 // transport message within the flow
	Flow       uint16 // flow within the chunk
	Step       uint16 // algorithm step

	Peer   int32  // the other rank, -1 if none
	Aux    uint32 // slot or channel; name index of a mark or of a collective's algorithm
	Kind   uint8  // op.Kind
	Type   uint8  // op.Dtype
	Red    uint8  // op.RedOp; of a collective: op.CollectiveOp
	Status uint8  // 0, or an error
	Stream uint16 // stream number within the rank, 0 for the guest's own thread
	Group  uint16 // communicator

	commit uint32 // index + 1 (mod 2^32), stored last: says that the record is whole
}

// RecordBytes is the size of a record in the file.
const RecordBytes = 64

var _ [RecordBytes]byte = [unsafe.Sizeof(Record{})]byte{}

// Status of a record.
const (
	StatusOK uint8 = iota
	StatusFailed
	StatusTimeout
	StatusAborted
)

// Level is how much is recorded, from nothing to every transport message.
type Level uint8

// Levels: each holds the ones before it. Slice is the default: an operation is
// a message and belongs to a slice, so Slice and Message record the same
// operations and differ in what is exported.
const (
	LevelOff Level = iota
	LevelCollective
	LevelFlow
	LevelSlice
	LevelMessage
)

var levels = [...]string{"off", "collective", "flow", "slice", "message"}

// String is the word used by --trace.
func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return "unknown"
}

// ParseLevel is the inverse of String.
func ParseLevel(s string) (Level, bool) {
	for i, name := range levels {
		if s == name {
			return Level(i), true
		}
	}
	return 0, false
}
