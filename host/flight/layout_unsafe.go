package flight

import (
	"sync/atomic"
	"unsafe"
)

// The file: a header of headerBytes, then records.
const (
	magic       = "ccrunflt"
	version     = 1
	headerBytes = 64 << 10
	segment     = 4 << 20 // the file grows by this much
)

// MaxLanes is the number of threads of control of a rank whose state the
// header holds: lane 0 is the guest's own, lane i is stream i's. Streams
// beyond share the last one.
const MaxLanes = 128

const (
	maxNames  = 256
	nameBytes = 64
)

// header is the start of the file. Everything that changes after creation is
// atomic: the launcher reads while the rank writes.
type header struct {
	magic        [8]byte
	version      uint32
	rank         int32
	size         int32
	pid          int32
	wallOffset   int64         // add to a record's time to get Unix nanoseconds
	capacity     int64         // records that the file may grow to
	state        atomic.Uint32 // State
	nameCount    atomic.Uint32
	next         atomic.Int64 // index of the next record
	dropped      atomic.Int64
	grown        atomic.Int64 // records that the file can hold without growing
	hostCalls    atomic.Int64 // progress that leaves no record
	badCalls     atomic.Int64 // calls of the guest refused with an errno
	shareHits    atomic.Int64
	shareMisses  atomic.Int64
	bufferBytes  atomic.Int64 // device memory in use
	bufferPeak   atomic.Int64
	verified     atomic.Int64 // bytes that the host verified
	mismatches   atomic.Int64 // of them, elements that differed
	names        [maxNames][nameBytes]byte
	lanes        [MaxLanes]lane
	collective   atomic.Uint32 // sequence number of the collective begun last
	collectiveOp atomic.Uint32
}

// lane is the state of one thread of control, two cache lines so that
// neighbours do not disturb each other.
type lane struct {
	state   atomic.Uint32 // LaneState
	seq     atomic.Uint32 // odd while the wait below is being written
	checks  atomic.Uint64 // how often the waiter has looked again
	kind    atomic.Uint32
	peer    atomic.Int32
	slot    atomic.Uint32
	limited atomic.Uint32 // 1 if the wait ends by itself
	value   atomic.Uint64
	seen    atomic.Uint64
	since   atomic.Int64
	name    [nameBytes / 8]atomic.Uint64
}

var _ [headerBytes - unsafe.Sizeof(header{})]byte // the header fits

func headerOf(mem []byte) *header { return (*header)(unsafe.Pointer(&mem[0])) }

// recordAt is record i of the mapping. The caller has checked that it lies
// inside.
func recordAt(mem []byte, i int64) *Record {
	return (*Record)(unsafe.Pointer(&mem[headerBytes+i*RecordBytes]))
}

func commitOf(r *Record) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&r.commit)) }
