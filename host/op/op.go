// Package op is the vocabulary of ccrun: one [Op] value for everything that a
// guest can ask of a stream, the data types and reductions that it may name,
// and the [Term] that says where in a collective the operation belongs.
//
// Start with [Op]. The package holds values and pure functions only: it
// allocates no buffer, starts no goroutine and reads no clock; devices
// (package device) do.
package op

import "math"

// Op is one operation on a stream. Which fields count depends on Kind; the
// comment of each [Kind] says so. All sizes and offsets are in bytes.
type Op struct {
	Kind  Kind
	Type  Dtype // element type of Reduce, Fill and Verify
	Red   RedOp // operator of Reduce
	Peer  int32 // the other rank, or -1
	Slot  uint32
	Value uint64
	Bytes int64

	Dst View // where the bytes go
	Src View // where they come from

	Sources     [MaxSources]View // Reduce and Gemm, the first SourceCount of them
	SourceCount uint8

	Event  Event   // EventRecord, EventWait
	Result *Result // Verify, Digest: filled in when the operation is done; nil to discard

	Gemm *GemmShape // Gemm
	Box  *BoxShape  // CopyBox, GetBox
	Comm Comm       // CollectiveCall
	Call *Call      // CollectiveCall

	Term Term
}

// MaxSources is the largest number of sources that one Reduce reads.
const MaxSources = 8

// View is a place in a buffer: Off bytes from its start.
type View struct {
	Buf Buffer
	Off int64
}

// Buffer is memory that a device owns, this rank's or an imported peer's.
// Devices know their own implementation and refuse any other's.
type Buffer interface {
	// Size is the length in bytes.
	Size() int64
	// Peer is the rank whose memory this is, or -1 for this rank's own.
	Peer() int
}

// Event is a point in a stream that other streams and the guest can wait for.
// A wait refers to the most recent record that was submitted before it; an
// event never recorded counts as complete.
type Event interface {
	// Recorded reports whether the most recent record has been executed.
	Recorded() bool
}

// Result receives what a Verify or a Digest found. It may be read once the
// stream has been synchronised.
type Result struct {
	Mismatches int64     // Verify: bytes (or elements) that differ
	FirstBad   int64     // Verify: byte offset within the region of the first difference, -1 if none
	Digest     [2]uint64 // Digest: see [DigestBytes]
}

// Term places an operation in the field's terms: which collective, which
// rank-chunk of it, which pipelined slice of the chunk, which flow and which
// transport message. Numbers start at 0; Collective 0 means "part of none".
type Term struct {
	Collective uint32 // sequence number as given out by collective_begin, from 1
	Chunk      uint32 // rank-chunk
	Slice      uint32 // pipelined slice within the chunk
	Message    uint32 // transport message within the flow
	Flow       uint16 // flow within the chunk (channel)
	Step       uint16 // algorithm step
}

// Check reports whether the fields of o that its kind uses are within what any
// device can execute: a known kind, type and operator, non-negative sizes, and
// views inside their buffers. It does not check that the buffers are alive.
func (o *Op) Check() error {
	if o.Kind == None || o.Kind >= kindCount {
		return ErrKind
	}
	if o.Bytes < 0 {
		return ErrRange
	}
	if o.Kind.uses(usesDst) && !o.Dst.holds(o.Bytes) {
		return ErrRange
	}
	if o.Kind.uses(usesSrc) && !o.Src.holds(o.Bytes) {
		return ErrRange
	}
	if (o.Kind == EventRecord || o.Kind == EventWait) && o.Event == nil {
		return ErrEvent
	}
	if o.Kind.uses(usesType) {
		return o.checkTyped()
	}
	if o.Kind.Boxed() {
		return o.checkBox()
	}
	if o.Kind.uses(usesCall) {
		return o.checkCalls()
	}
	return nil
}

// checkTyped checks what Reduce, Fill and Verify name beside their
// destination: whole elements of a known type.
func (o *Op) checkTyped() error {
	if !o.Type.Valid() {
		return ErrType
	}
	size := int64(o.Type.Size())
	if o.Bytes%size != 0 {
		return ErrRange
	}
	switch o.Kind {
	case Reduce:
		return o.checkReduce()
	case Gemm:
		return o.checkGemm()
	}
	if o.Src.Off < 0 || o.Src.Off%size != 0 || o.Src.Off > math.MaxInt64-o.Bytes {
		return ErrRange
	}
	return nil
}

func (o *Op) checkReduce() error {
	if !o.Red.Valid() {
		return ErrRedOp
	}
	if o.SourceCount == 0 || o.SourceCount > MaxSources {
		return ErrSources
	}
	for i := range o.Sources[:o.SourceCount] {
		if !o.Sources[i].holds(o.Bytes) {
			return ErrRange
		}
	}
	return nil
}

// holds reports whether n bytes from v lie inside its buffer.
func (v View) holds(n int64) bool {
	return v.Buf != nil && v.Off >= 0 && n <= v.Buf.Size() && v.Off <= v.Buf.Size()-n
}
