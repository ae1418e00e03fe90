package flight

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// The file: a header of headerBytes, then records.
const (
	magic       = "ccrunflt"
	version     = 1
	headerBytes = 64 << 10
	segment     = 4 << 20   // the file grows by this much
	maxRecords  = 1<<32 - 1 // commit tells as many apart
)

// MaxLanes is the number of threads of control of a rank whose state the
// header holds: lane 0 is the guest's own, lane i is stream i's. Streams
// beyond share the last one.
const MaxLanes = 128

const (
	maxNames  = 256
	nameBytes = 64
	cacheLine = 128 // processors fetch lines of 64 bytes in pairs
)

// header is the start of the file. Everything that changes after creation is
// atomic: the launcher reads while the rank writes. What is written often lies
// on cache lines of its own, away from what every Append reads.
type header struct {
	magic      atomic.Uint64 // published last: what is plain below is valid then
	version    uint32
	rank       int32
	size       int32
	pid        int32
	wallOffset int64         // add to a record's time to get Unix nanoseconds
	capacity   int64         // records that the file may grow to
	grown      atomic.Int64  // records that the file can hold without growing
	state      atomic.Uint32 // State
	nameCount  atomic.Uint32
	_          [cacheLine - 56]byte

	next atomic.Int64 // index of the next record
	_    [cacheLine - 8]byte

	counterLine
	_ [cacheLine - unsafe.Sizeof(counterLine{})]byte

	lanes [MaxLanes]lane
	names [maxNames][nameBytes]byte
}

// counterLine is what a rank counts beside its records.
type counterLine struct {
	dropped     atomic.Int64
	hostCalls   atomic.Int64 // progress that leaves no record
	badCalls    atomic.Int64 // calls of the guest refused with an errno
	shareHits   atomic.Int64
	shareMisses atomic.Int64
	bufferBytes atomic.Int64 // device memory in use
	bufferPeak  atomic.Int64
	verified    atomic.Int64  // bytes that the host verified
	mismatches  atomic.Int64  // of them, elements that differed
	collective  atomic.Uint64 // the collective begun last: its sequence number, and its op from bit 32 on
}

// lane is the state of one thread of control, a cache line of its own so that
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

	submitted atomic.Uint32 // operations, mod 2^32; what differs from finished makes an idle lane busy
	finished  atomic.Uint32
}

// The header fits, and neither the counters nor a lane share a cache line.
var (
	_ [headerBytes - unsafe.Sizeof(header{})]byte
	_ [0]byte = [unsafe.Offsetof(header{}.next) % cacheLine]byte{}
	_ [0]byte = [unsafe.Offsetof(header{}.lanes) % cacheLine]byte{}
	_ [0]byte = [unsafe.Sizeof(lane{}) % cacheLine]byte{}
)

// magicWord is how the magic bytes are written and compared: at once.
func magicWord() uint64 { return binary.NativeEndian.Uint64([]byte(magic)) }

func headerOf(mem []byte) *header { return (*header)(unsafe.Pointer(&mem[0])) }

// recordAt is record i of the mapping. The caller has checked that it lies
// inside.
func recordAt(mem []byte, i int64) *Record {
	return (*Record)(unsafe.Pointer(&mem[headerBytes+i*RecordBytes]))
}

func commitOf(r *Record) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&r.commit)) }
