// Package pipeline moves boxes between ranks in buckets: entries are joined to
// buckets, buckets travel in channels, and each rank admits buckets within
// limits per channel and over all channels. It is pure: [Build] makes a [Plan]
// of the entries that all ranks know, [Plan.Tasks] is one rank's part in it,
// and a [Machine] takes what has happened and gives what is to be done. Package
// module carries that out.
//
// Why a budget over all channels cannot deadlock is argued under "Why can a
// global budget not deadlock?" in host/RATIONALE.md.
package pipeline

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Transport is how a bucket travels.
type Transport uint8

// The transports; their numbers are the ABI's.
const (
	Packed    Transport = iota // joined in one piece, from its source to each destination
	Chain                      // joined in one piece, from its source to the first destination, from there to the second, and so on
	Scattered                  // entry by entry, in one piece each
	Direct                     // not at all: destinations copy the entries from where they lie at the source, whose memory they reach
)

// String is the transport's name.
func (t Transport) String() string {
	if t > Direct {
		return fmt.Sprintf("transport %d", uint8(t))
	}
	return [...]string{"packed", "chain", "scattered", "direct"}[t]
}

// Entry is a box that is to get from one rank to others, as all ranks know it.
type Entry struct {
	Source       int32
	Destinations []int32 // ascending; the source alone: it stays there
	Parts        []int32 // ranks whose parts make it up, ascending, the source among them; nil if the source has it whole
	Type         op.Dtype
	Red          op.RedOp // of parts
	Transport    Transport
	Tensor, Cell uint32

	Planes, Rows, RowBytes int64
}

// Policy says when buckets are admitted, within all other limits.
type Policy uint8

// The policies; their numbers are the ABI's.
const (
	AllAtOnce  Policy = iota // as soon as the limits let them
	Windowed                 // Window of the rank's buckets at a time: the next ones when all of them are finished
	Serialized               // one at a time
	Credits                  // who sends waits until those who receive have admitted it
	Scripted                 // those before a place that [AdmitUpTo] gives
)

// Oversize says what becomes of a bucket that needs more than MaxBytes.
type Oversize uint8

// What may become of it; the numbers are the ABI's.
const (
	Alone  Oversize = iota // it is admitted when the rank holds nothing, and nothing beside it
	Refuse                 // [NewMachine] fails
)

// Publish says when a bucket that has arrived is written to where it belongs.
type Publish uint8

// When; the numbers are the ABI's.
const (
	AtOnce   Publish = iota // at once
	InOrder                 // when all earlier ones of the order have arrived on all ranks
	OneByOne                // when all earlier ones of the order have been written on all ranks
)

// Limits is what bounds a rank's buckets. Zero is no limit, but for MaxInFlight,
// Streams and Wires, which are at least 1.
type Limits struct {
	MaxBytes    int64 // staging memory held at a time, over all channels
	MaxBuckets  int   // buckets in flight, over all channels
	MaxInFlight int   // buckets in flight, per channel
	Streams     int   // buckets in flight, each of which has a stream to itself
	Wires       int   // send channels between a pair of ranks
	Window      int
	Policy      Policy
	Oversize    Oversize
	Publish     Publish
}

// Stall is why the first bucket that is not admitted is not.
type Stall uint8

// The causes; their numbers are the ABI's.
const (
	NoStall       Stall = iota
	StallOrder          // what it waits for is held by buckets that have arrived and wait for their turn to be written
	StallChannel        // MaxInFlight
	StallBuckets        // MaxBuckets
	StallBytes          // MaxBytes
	StallPolicy         // the window, the one at a time, the script
	StallCredit         // receivers have not granted a credit
	StallStreams        // no stream is free, or the send channel of a bucket Wires earlier is not
	StallOversize       // it needs more than MaxBytes, and others are in flight; or one that does is
	StallCount
)

// String is the name of a cause, as the ABI has it.
func (s Stall) String() string {
	if s >= StallCount {
		return fmt.Sprintf("stall %d", uint8(s))
	}
	return [...]string{"none", "order", "channel", "buckets", "bytes", "policy", "credit", "streams", "oversize"}[s]
}

// EventKind is what has happened.
type EventKind uint8

// What happens to a machine.
const (
	Begin      EventKind = iota // the run: first event of each
	Arrived                     // Task: its bytes have come, or gone
	Finished                    // Task: what came is where it belongs, and its stream is idle
	Credited                    // Peer has admitted the first Value of the buckets that this rank sends to it
	Heard                       // on Peer, the rank's buckets before place Value have arrived, or are finished if OneByOne; with the number of all buckets: are finished
	AdmitUpTo                   // the script lets buckets before place Value be admitted
	Failed                      // Task, which may be -1, failed here
	PeerFailed                  // Peer says that a bucket of its failed, the one at place Value; the number of all buckets: something else did
	Looked                      // nothing; time has passed
)

// String is what the kind is called in transcripts.
func (k EventKind) String() string {
	if k > Looked {
		return fmt.Sprintf("event %d", uint8(k))
	}
	return [...]string{"begin", "arrived", "finished", "credited", "heard", "admit", "failed", "peer-failed", "looked"}[k]
}

// Event is one of them. Task is an index into the rank's tasks.
type Event struct {
	Kind  EventKind
	Task  int32
	Peer  int32
	Value uint64
}

// ActionKind is what is to be done.
type ActionKind uint8

// What a machine asks for.
const (
	// Launch has Task carried out on stream Stream, from taking staging memory
	// to the end of its transfers. Answer with Arrived, and with AtOnce the
	// writing may be under way too.
	Launch ActionKind = iota
	// Finalize has Task's bytes written to where they belong, on its stream, if
	// they are to land here. Answer with Finished.
	Finalize
	// Release gives Task's staging memory back, if it has any, and its stream. No
	// answer.
	Release
	// Grant tells Peer that this rank has admitted the first Value of the
	// buckets that Peer sends to it.
	Grant
	// Tell tells all other ranks that this rank's buckets before place Value
	// have arrived, or are finished if OneByOne; with the number of all buckets:
	// are finished.
	Tell
	// Warn tells all other ranks that the bucket at place Value failed here; the
	// number of all buckets: something else did.
	Warn
	// End says that the run is over: well, on all ranks, or because a bucket
	// failed, here or elsewhere; then streams may be stuck.
	End
)

// String is what the kind is called in transcripts.
func (k ActionKind) String() string {
	if k > End {
		return fmt.Sprintf("action %d", uint8(k))
	}
	return [...]string{"launch", "finalize", "release", "grant", "tell", "warn", "end"}[k]
}

// Action is one of them.
type Action struct {
	Kind   ActionKind
	Task   int32
	Stream int32
	Peer   int32
	Value  uint64
}
