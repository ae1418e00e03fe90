// Code generated from host/abi by `go generate ./host/abi`. DO NOT EDIT.

package raw

import "structs"

// Version is the version of the table that this package was generated from.
const Version = 3

// Errno is what every function returns.
type Errno uint32

// The errnos.
const (
	OK               Errno = 0  // success
	ErrnoFault       Errno = 1  // a pointer is null, unaligned or reaches outside the guest's memory
	ErrnoBadHandle   Errno = 2  // not a handle, or one of another kind
	ErrnoStale       Errno = 3  // the handle was valid and what it named has been freed, here or by the peer that owns it
	ErrnoRange       Errno = 4  // an offset and a size reach outside the buffer
	ErrnoInvalid     Errno = 5  // a value that the parameter cannot have
	ErrnoNoRank      Errno = 6  // no such rank
	ErrnoNoMemory    Errno = 7  // the device's memory or this rank's share of it is used up
	ErrnoLimit       Errno = 8  // more handles, streams, names or slots than allowed
	ErrnoTimedOut    Errno = 9  // the deadline passed
	ErrnoFailed      Errno = 10 // an earlier operation of the stream failed; last_error says which
	ErrnoMismatch    Errno = 11 // ranks disagree on what they do together; one such failure ends the run with 113, whatever the guest makes of it
	ErrnoUnsupported Errno = 12 // this device cannot do it
	ErrnoNotFound    Errno = 13 // no such thing
)

var errnoNames = [...]string{
	"ok",
	"fault",
	"bad_handle",
	"stale",
	"range",
	"invalid",
	"no_rank",
	"no_memory",
	"limit",
	"timed_out",
	"failed",
	"mismatch",
	"unsupported",
	"not_found",
}

var errnoTexts = [...]string{
	"success",
	"a pointer is null, unaligned or reaches outside the guest's memory",
	"not a handle, or one of another kind",
	"the handle was valid and what it named has been freed, here or by the peer that owns it",
	"an offset and a size reach outside the buffer",
	"a value that the parameter cannot have",
	"no such rank",
	"the device's memory or this rank's share of it is used up",
	"more handles, streams, names or slots than allowed",
	"the deadline passed",
	"an earlier operation of the stream failed; last_error says which",
	"ranks disagree on what they do together; one such failure ends the run with 113, whatever the guest makes of it",
	"this device cannot do it",
	"no such thing",
}

// String is the errno's name.
func (e Errno) String() string {
	if int(e) < len(errnoNames) {
		return errnoNames[e]
	}
	return "unknown"
}

// Text is the errno's meaning.
func (e Errno) Text() string {
	if int(e) < len(errnoTexts) {
		return errnoTexts[e]
	}
	return "unknown errno"
}

// Values of the enumeration kind: operations of a stream.
const (
	KindCopy        = 1
	KindPut         = 2
	KindGet         = 3
	KindSignal      = 4
	KindWait        = 5
	KindSend        = 6
	KindRecv        = 7
	KindReduce      = 8
	KindFill        = 9
	KindVerify      = 10
	KindDigest      = 11
	KindEventRecord = 12
	KindEventWait   = 13
	KindGemm        = 14
	KindCall        = 15
	KindCopyBox     = 16
	KindGetBox      = 17
)

// Values of the enumeration dtype: element types.
const (
	DtypeU8   = 0
	DtypeI32  = 1
	DtypeI64  = 2
	DtypeF16  = 3
	DtypeBf16 = 4
	DtypeF32  = 5
	DtypeF64  = 6
)

// Values of the enumeration redop: reduction operators.
const (
	RedopSum  = 0
	RedopProd = 1
	RedopMin  = 2
	RedopMax  = 3
	RedopAvg  = 4
)

// Values of the enumeration collective: collectives, by nccl-tests' bandwidth formulas.
const (
	CollectiveCustom        = 0
	CollectiveAllReduce     = 1
	CollectiveAllGather     = 2
	CollectiveReduceScatter = 3
	CollectiveBroadcast     = 4
	CollectiveReduce        = 5
	CollectiveGather        = 6
	CollectiveScatter       = 7
	CollectiveAllToAll      = 8
	CollectiveAllToAllV     = 9
	CollectiveSendRecv      = 10
	CollectiveBarrier       = 11
)

// Values of the enumeration device: what carries out operations.
const (
	DeviceCpu  = 0
	DeviceCuda = 1
	DeviceSim  = 2
)

// Values of the enumeration admission: when a pipeline admits buckets, within its limits: as soon as it can; a window at a time; one at a time; when all receivers have granted a credit; when the guest says so.
const (
	AdmissionAllAtOnce  = 0
	AdmissionWindowed   = 1
	AdmissionSerialized = 2
	AdmissionCredits    = 3
	AdmissionScripted   = 4
)

// Values of the enumeration oversize: what becomes of a bucket that needs more memory than the budget: it has the rank to itself, or the pipeline is refused.
const (
	OversizeAlone  = 0
	OversizeRefuse = 1
)

// Values of the enumeration publish: when a bucket is written to where it belongs: when it has arrived; when all earlier ones of the order have arrived on all ranks; or when all earlier ones have been written on all ranks, so that nothing follows one that failed.
const (
	PublishAtOnce   = 0
	PublishInOrder  = 1
	PublishOneByOne = 2
)

// Values of the enumeration transport: how a bucket travels: packed, from its source to each destination; packed, from destination to destination; entry by entry, from where they lie; or not at all: destinations copy it from the source's memory, which they must be able to reach.
const (
	TransportPacked    = 0
	TransportChain     = 1
	TransportScattered = 2
	TransportDirect    = 3
)

// Values of the enumeration stall: why a pipeline's next bucket is not admitted.
const (
	StallNone     = 0
	StallOrder    = 1
	StallChannel  = 2
	StallBuckets  = 3
	StallBytes    = 4
	StallPolicy   = 5
	StallCredit   = 6
	StallStreams  = 7
	StallOversize = 8
)

// World is what a rank is told of the world it runs in.
type World struct {
	_ structs.HostLayout

	Rank         uint32 // this rank, from 0
	Size         uint32 // number of ranks
	LocalRank    uint32 // this rank among those of its node
	LocalSize    uint32 // number of ranks of its node
	Seed         uint64 // the run's seed, the same on all ranks
	AbiVersion   uint32 // the host's version of this table
	Device       uint32 // what carries out operations (enumeration device)
	SignalSlots  uint32 // signal slots per pair of ranks
	SendChannels uint32 // send channels per pair of ranks
	BufferLimit  uint64 // device memory that this rank may allocate, in bytes
}

// View is a place in a buffer.
type View struct {
	_ structs.HostLayout

	Buffer uint64 // buffer handle
	Offset uint64 // bytes from its start
}

// Op is one operation of a stream; fields that its kind does not use are ignored.
type Op struct {
	_ structs.HostLayout

	Kind        uint32 // what to do (enumeration kind)
	Peer        uint32 // the other rank of signal, wait, send, recv
	Dst         uint64 // buffer that is written; of verify and digest: read
	DstOffset   uint64 // bytes from its start
	Src         uint64 // buffer that is read
	SrcOffset   uint64 // bytes from its start; of fill and verify: first byte of the pattern
	Bytes       uint64 // how many bytes
	Value       uint64 // of signal and wait: the sequence number; of fill and verify: the seed
	Slot        uint32 // of signal and wait: the slot; of send and recv: the channel
	Dtype       uint8  // element type of reduce, fill, verify (enumeration dtype)
	Redop       uint8  // operator of reduce (enumeration redop)
	SourceCount uint8  // of reduce: number of sources, 1 to 8
	Reserved    uint8  // zero
	Sources     uint32 // of reduce: pointer to that many views; of gemm and call: pointer to a structure of that name; of copy_box and get_box: to a box
	Collective  uint32 // collective that it belongs to, as given by collective_begin; 0 for none
	Chunk       uint32 // rank-chunk of the collective
	Slice       uint32 // pipelined slice of the chunk
	Flow        uint16 // flow of the chunk
	Step        uint16 // step of the algorithm
	Message     uint32 // transport message of the flow
	Event       uint64 // event handle of event_record and event_wait
}

// Collective is what a collective is, for traces and summaries.
type Collective struct {
	_ structs.HostLayout

	Op           uint32 // which collective (enumeration collective)
	Dtype        uint8  // element type (enumeration dtype)
	Redop        uint8  // operator, of reducing collectives (enumeration redop)
	Reserved     uint16 // zero
	Bytes        uint64 // size as nccl-tests counts it: the whole array, so n times one rank's share for all_gather, reduce_scatter and all_to_all
	SliceBytes   uint32 // size of a pipelined slice, 0 if chunks are not sliced
	Ranks        uint32 // number of ranks that take part, 0 for all
	Algorithm    uint32 // pointer to the algorithm's name
	AlgorithmLen uint32 // its length in bytes, at most 63
	Group        uint32 // communicator, 0 for the world
	Warmup       uint32 // 1 to leave it out of the statistics
	Reserved2    uint64 // zero
}

// VerifyResult is what verify found.
type VerifyResult struct {
	_ structs.HostLayout

	Mismatches uint64 // elements that differ
	FirstBad   int64  // offset in bytes, within the region, of the first one, -1 if none
}

// Digest is a 128-bit digest.
type Digest struct {
	_ structs.HostLayout

	Low  uint64 // first half
	High uint64 // second half
}

// Comm is what a rank is told of a communicator.
type Comm struct {
	_ structs.HostLayout

	Rank     uint32 // this rank within it, from 0
	Size     uint32 // number of its ranks
	Group    uint32 // its number, the same on all its ranks, by which records name it; 0 is the world's
	Reserved uint32 // zero
}

// Call is one collective on a communicator, which all its ranks call alike; counts are elements: of the whole vector for all_reduce, broadcast and reduce, of what one rank gives to or gets from one other for the rest.
type Call struct {
	_ structs.HostLayout

	Comm         uint64 // communicator handle
	Op           uint32 // which collective (enumeration collective)
	Root         uint32 // rank within the communicator, of broadcast, reduce, gather and scatter
	Dtype        uint8  // element type (enumeration dtype)
	Redop        uint8  // operator, of reducing collectives (enumeration redop)
	Flags        uint16 // bit 0: leave it out of the statistics (warm-up); the others zero
	SliceBytes   uint32 // size of a pipelined slice, 0 to let the host choose
	Count        uint64 // elements; not used by all_to_all_v
	In           uint64 // buffer that is read, 0 for in place: the input lies where the output goes
	InOffset     uint64 // bytes from its start
	Out          uint64 // buffer that is written; where a rank gets nothing (reduce and gather beside the root) it may be 0
	OutOffset    uint64 // bytes from its start
	Algorithm    uint32 // pointer to the name of the algorithm to use
	AlgorithmLen uint32 // its length in bytes, 0 to let the host choose
	SendCounts   uint32 // of all_to_all_v: pointer to a u64 for each rank of the communicator, elements to it
	SendOffsets  uint32 // where they begin in the input, in elements
	RecvCounts   uint32 // elements from each rank
	RecvOffsets  uint32 // where they go in the output, in elements
	Reserved     uint64 // zero
}

// Gemm is a product of matrices, c = a b, all in rows without gaps.
type Gemm struct {
	_ structs.HostLayout

	C        uint64 // buffer of m rows and n columns, written
	COffset  uint64 // bytes from its start
	A        uint64 // buffer of m rows and k columns
	AOffset  uint64 // bytes from its start
	B        uint64 // buffer of k rows and n columns
	BOffset  uint64 // bytes from its start
	M        uint32 // rows of a and c
	N        uint32 // columns of b and c
	K        uint32 // columns of a, rows of b
	Dtype    uint8  // element type: f32 or f64 (enumeration dtype)
	Flags    uint8  // bit 0: add the product to c; the others zero
	Reserved uint16 // zero
}

// Box is rows of equal length at equal distances, in planes at equal distances: part of an array of up to three dimensions; where a box is copied to must not overlap where it is copied from.
type Box struct {
	_ structs.HostLayout

	Dst       uint64 // buffer that is written
	DstOffset uint64 // bytes from its start to the first row
	DstRow    uint64 // bytes from the start of a row to that of the next, in dst
	DstPlane  uint64 // bytes from the start of a plane to that of the next, in dst
	Src       uint64 // buffer that is read
	SrcOffset uint64 // bytes from its start to the first row
	SrcRow    uint64 // bytes from the start of a row to that of the next, in src
	SrcPlane  uint64 // bytes from the start of a plane to that of the next, in src
	Planes    uint64 // planes
	Rows      uint64 // rows of a plane
	RowBytes  uint64 // bytes of a row
	Reserved  uint64 // zero
}

// Pipeline is how a bucket pipeline works; what is marked (own) may differ between ranks.
type Pipeline struct {
	_ structs.HostLayout

	BucketBytes  uint64 // entries of a channel are joined until a bucket has so many bytes; an entry that has as many is a bucket of its own; 0: every entry is
	MaxBytes     uint64 // (own) staging memory that the rank's buckets may hold at a time, over all channels; 0 for no limit
	MaxBuckets   uint32 // (own) buckets that the rank may have in flight, over all channels; 0 for no limit
	MaxInFlight  uint32 // (own) buckets that it may have in flight per channel; 0 for 2
	Policy       uint32 // when buckets are admitted (enumeration admission)
	Window       uint32 // (own) of the windowed policy: buckets of a window
	Oversize     uint32 // what becomes of a bucket that needs more than max_bytes (enumeration oversize)
	Publish      uint32 // when what has arrived is written to where it belongs (enumeration publish)
	Flags        uint32 // bit 0: compare digests of each bucket; bit 1: leave the runs out of the statistics (warm-up); the others zero
	FirstSlot    uint32 // it uses 4 signal slots from here on, which the guest does not raise itself once ranks agree
	FirstChannel uint32 // it uses send channels from here on
	Channels     uint32 // so many, 0 for all that there are
	Name         uint32 // pointer to the name in the trace
	NameLen      uint32 // its length in bytes, at most 63; 0 for bucket_pipeline
	Reserved     uint64 // zero
	Reserved2    uint64 // zero
}

// PipelineEntry is a box that is to get from one rank to others; what is marked (own) counts on the ranks that have a part in it, and may differ.
type PipelineEntry struct {
	_ structs.HostLayout

	Source    uint32 // rank that has it, or that the parts are added up for
	DstFirst  uint32 // place of its first destination in the list of ranks
	DstCount  uint32 // destinations, ascending; the source alone: it stays there
	PartFirst uint32 // place of the first of the ranks whose parts make it up
	PartCount uint32 // how many, ascending and the source among them; 0 if the source has it whole
	Tensor    uint32 // number by which messages name it
	Cell      uint32 // part of the tensor, likewise; entries with parts are joined only within a cell if they stay at their source
	Dtype     uint8  // element type (enumeration dtype)
	Redop     uint8  // how parts are added up (enumeration redop)
	Transport uint8  // how it travels (enumeration transport)
	Reserved  uint8  // zero
	Planes    uint64 // planes of the box
	Rows      uint64 // rows of a plane
	RowBytes  uint64 // bytes of a row
	Src       uint64 // (own) buffer it is read from, at the source and where there are parts
	SrcOffset uint64 // (own) bytes to the first row
	SrcRow    uint64 // (own) bytes from row to row
	SrcPlane  uint64 // (own) bytes from plane to plane
	Dst       uint64 // (own) buffer it is written to, at destinations
	DstOffset uint64 // (own) bytes to the first row
	DstRow    uint64 // (own) bytes from row to row
	DstPlane  uint64 // (own) bytes from plane to plane
	Reserved2 uint64 // zero
}

// PipelinePlan is what the entries came to.
type PipelinePlan struct {
	_ structs.HostLayout

	Entries    uint32 // entries
	Buckets    uint32 // buckets
	Channels   uint32 // channels
	Mine       uint32 // buckets that this rank has a part in
	MyChannels uint32 // channels of those
	Reserved   uint32 // zero
	Bytes      uint64 // of all entries
	Largest    uint64 // staging memory of the bucket that needs most on this rank
	Hash       uint64 // of the entries and their buckets, the same on all ranks
}

// PipelineBucket is a bucket.
type PipelineBucket struct {
	_ structs.HostLayout

	Bucket       uint32 // its number
	Channel      uint32 // its channel's
	Source       uint32 // rank that it comes from
	Destinations uint32 // how many ranks it goes to
	Destination  uint32 // the first of them, or the source
	Parts        uint32 // ranks whose parts are added up first, 0 for none
	Entries      uint32 // entries
	Entry        uint32 // the first of them
	Bytes        uint64 // of all of them
	Mine         uint32 // 1 if this rank has a part in it
	Reserved     uint32 // zero
}

// PipelineStatus is how far a rank is.
type PipelineStatus struct {
	_ structs.HostLayout

	Mine      uint32 // buckets that it has a part in
	Admitted  uint32 // of those, how many have been admitted
	Finished  uint32 // and how many are finished
	Next      uint32 // place in the order of the first that is not admitted; the number of all buckets if none is left
	Published uint32 // so many buckets of the order have arrived, or been written if one by one, on all their ranks, as far as this one knows
	Stalled   uint32 // why the next is not admitted (enumeration stall)
	Done      uint32 // 1 if the run has ended well on all ranks
	Reserved  uint32 // zero
	HeldBytes uint64 // staging memory that its buckets hold
	Reserved2 uint64 // zero
}

// PipelineStats is a rank's run of a pipeline; times in nanoseconds.
type PipelineStats struct {
	_ structs.HostLayout

	Nanos            uint64 // from its start to its end, or until now
	Sent             uint64 // bytes sent to other ranks
	Received         uint64 // bytes received from them
	Copied           uint64 // bytes that were copied here without being sent
	PeakBytes        uint64 // most staging memory that was held at a time
	MeanBytes        uint64 // on average over time
	PeakBuckets      uint32 // most buckets in flight at a time
	PeakOperations   uint32 // most operations under way at a time
	PeakDescriptors  uint32 // most entries of buckets in flight at a time
	Buckets          uint32 // buckets finished
	MeanBucketsMilli uint64 // thousandths of buckets in flight, on average over time
	Operations       uint64 // operations submitted
	DevicePeakBytes  uint64 // most memory that the device had given this rank during the run, beyond what it had at the start; staging memory that earlier runs left counts
	StallOrder       uint64 // time in which the next bucket waited for a rank's turn in the order
	StallChannel     uint64 // for its channel: max_in_flight
	StallBuckets     uint64 // for max_buckets
	StallBytes       uint64 // for max_bytes
	StallPolicy      uint64 // for its window, or the script
	StallCredit      uint64 // for receivers' credits
	StallStreams     uint64 // for a stream, or a send channel
	StallOversize    uint64 // for all others to finish, as it needs more than max_bytes
	Runs             uint64 // runs begun
	Skipped          uint64 // buckets admitted before one that comes earlier in the order
	Allocations      uint64 // times that the device was asked for staging memory
	Reserved         uint64 // zero
	Reserved2        uint64 // zero
}
