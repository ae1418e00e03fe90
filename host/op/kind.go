package op

import "errors"

// Kind says what an operation does. The numbers are part of the guest ABI and
// of flight files: they are never reused.
type Kind uint8

// The operations of a stream.
const (
	None Kind = iota
	// Copy moves Bytes from Src to Dst, both of this rank.
	Copy
	// Put moves Bytes from Src, this rank's, to Dst, a peer's.
	Put
	// Get moves Bytes from Src, a peer's, to Dst, this rank's.
	Get
	// Signal raises this rank's slot Slot at rank Peer to Value, if it is lower.
	// All earlier operations of the stream are visible to the peer first.
	Signal
	// Wait holds the stream until slot Slot that rank Peer raises here is at
	// least Value.
	Wait
	// Send offers Bytes from Src to the Recv of rank Peer on channel Slot. One copy, made by the
	// receiver. Consecutive sends and receives of one stream make progress
	// together, so that every rank may send before it receives.
	Send
	// Recv takes Bytes into Dst from the matching Send of rank Peer on channel Slot.
	Recv
	// Reduce combines SourceCount sources of Bytes each, element by element,
	// into Dst. Sources may be peers' and one of them may be Dst itself.
	Reduce
	// Fill writes the pattern with seed Value, from pattern byte Src.Off on, to
	// Dst, in whole elements. See [FillPattern]. Src.Buf is not used.
	Fill
	// Verify compares Dst with what Fill would have written.
	Verify
	// Digest computes the digest of Bytes at Dst. See [DigestBytes].
	Digest
	// EventRecord marks Event when all earlier operations are complete.
	EventRecord
	// EventWait holds the stream until Event is complete.
	EventWait
	// Gemm multiplies the matrices Sources[0] and Sources[1] into Dst. See
	// [GemmShape]. Bytes is the length of the product.
	Gemm
	// CollectiveCall carries out Call, and what is linked to it, on Comm. Calls
	// on one communicator are carried out in the order in which they were
	// submitted, on whichever streams.
	CollectiveCall
	// CopyBox moves Box from Src to Dst, both of this rank: rows at equal
	// distances. Bytes is what they come to. Source and destination must not
	// overlap.
	CopyBox
	// GetBox moves Box from Src, a peer's, to Dst, this rank's: rows at equal
	// distances. It is to Get what CopyBox is to Copy. Source and destination must
	// not overlap here either, as they would if a rank imported a buffer of its own.
	GetBox
	kindCount
)

// Kinds that only flight records carry: what a rank did outside its streams.
const (
	Collective  Kind = 64 + iota // a collective from begin to its last operation
	Mark                         // a named span of the guest
	Barrier                      // a barrier of all ranks
	ShareLookup                  // pulling a peer's share
	SyncStream                   // the guest waits for a stream
	SyncEvent                    // the guest waits for an event
	SyncAny                      // the guest waits for one of several events and signals
)

// Parts of an Op that a kind uses.
const (
	usesDst = 1 << iota
	usesSrc
	usesType
	usesPeer
	usesCall
	moves
)

var kinds = [...]struct {
	name string
	uses uint8
}{
	None:           {"none", 0},
	Copy:           {"copy", usesDst | usesSrc | moves},
	Put:            {"put", usesDst | usesSrc | moves},
	Get:            {"get", usesDst | usesSrc | moves},
	Signal:         {"signal", usesPeer},
	Wait:           {"wait", usesPeer},
	Send:           {"send", usesSrc | usesPeer | moves},
	Recv:           {"recv", usesDst | usesPeer | moves},
	Reduce:         {"reduce", usesDst | usesType | moves},
	Fill:           {"fill", usesDst | usesType},
	Verify:         {"verify", usesDst | usesType},
	Digest:         {"digest", usesDst},
	EventRecord:    {"event_record", 0},
	EventWait:      {"event_wait", 0},
	Gemm:           {"gemm", usesDst | usesType},
	CollectiveCall: {"call", usesCall},
	CopyBox:        {"copy_box", usesDst | moves}, // what it reads can be shorter than Bytes
	GetBox:         {"get_box", usesDst | moves},  // so can what this one reads
	Collective:     {"collective", 0},
	Mark:           {"mark", 0},
	Barrier:        {"barrier", 0},
	ShareLookup:    {"share_lookup", usesPeer},
	SyncStream:     {"stream_sync", 0},
	SyncEvent:      {"event_sync", 0},
	SyncAny:        {"any_sync", 0},
}

func (k Kind) uses(part uint8) bool { return int(k) < len(kinds) && kinds[k].uses&part != 0 }

// String is the name used by the ABI, by traces and by verdicts.
func (k Kind) String() string {
	if int(k) < len(kinds) && kinds[k].name != "" {
		return kinds[k].name
	}
	return "unknown"
}

// HasPeer reports whether the operation names another rank in Peer.
func (k Kind) HasPeer() bool { return k.uses(usesPeer) }

// Moves reports whether the operation moves payload bytes: whether its record
// is a transport message in the field's terms (if it belongs to a chunk and
// crosses ranks) or local work.
func (k Kind) Moves() bool { return k.uses(moves) }

// Local reports whether the operation moves payload bytes within a rank's own
// memory: where its record names a peer, that is the rank itself.
func (k Kind) Local() bool { return k == Copy || k == CopyBox }

// Boxed reports whether the operation moves a Box rather than a run of bytes.
func (k Kind) Boxed() bool { return k == CopyBox || k == GetBox }

// Writes reports whether the operation writes Bytes to Dst.
func (k Kind) Writes() bool {
	return k.uses(usesDst) && k != Verify && k != Digest
}

// What Check finds wrong with an operation.
var (
	ErrKind    = errors.New("unknown operation kind")
	ErrType    = errors.New("unknown data type")
	ErrRedOp   = errors.New("unknown reduction")
	ErrSources = errors.New("a reduce reads 1 to 8 sources")
	ErrRange   = errors.New("range outside the buffer")
	ErrEvent   = errors.New("no event")
	ErrGemm    = errors.New("matrices and buffers do not fit each other")
	ErrBox     = errors.New("not a box whose rows lie apart")
	ErrCall    = errors.New("not a collective that this communicator can carry out")
)
