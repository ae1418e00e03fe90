// Package device says what carries out a guest's operations: a [Device] gives
// buffers and streams to one rank, shares buffers between ranks and executes
// [op.Op] values in stream order. Packages cpu, cuda and sim implement it;
// package devicetest is the one suite that all of them pass; package all lists
// them.
//
// A device belongs to one rank. All methods of a device, its streams and its
// events may be called by one goroutine at a time, the guest's, except Abort,
// which any goroutine may call at any time.
package device

import (
	"time"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Device is one rank's share of the hardware.
type Device interface {
	// Facts says what the device is and what it can do.
	Facts() Facts

	Memory
	Sharer

	// NewStream makes a stream: a queue of operations that are carried out in
	// order, asynchronously to the guest and to other streams.
	NewStream() (Stream, error)
	// NewEvent makes an event, complete until it is recorded.
	NewEvent() (Event, error)

	// Barrier returns when every rank of the world has called it as often as
	// this one, or with [ErrTimeout]. A call that timed out counts, unless a
	// rank could not be reached at all because it has no device yet: then it is
	// as if it had not been made. It says nothing about streams.
	Barrier(timeout time.Duration) error

	// SignalValue is the value of the slot that peer raises here.
	SignalValue(peer int, slot uint32) (uint64, error)
	// WaitAny waits until a point has been reached, and returns the index of the
	// first that has. A point that has been reached comes before a timeout, and
	// before an abort too, unless it is the abort that ended it. With a timeout
	// of zero it only looks. Without points it waits for as long as the timeout.
	// It keeps nothing of points.
	WaitAny(points []Point, timeout time.Duration) (int, error)

	// Now is the time in nanoseconds on the clock of the flight records:
	// virtual on sim.
	Now() int64

	// Abort makes every wait, present and future, return an error that wraps
	// [ErrAborted] and cause. The first call counts.
	Abort(cause error)

	// Close aborts what still runs, waits for it to stop touching memory and
	// gives everything back.
	Close() error
}

// Memory allocates and reaches into buffers.
type Memory interface {
	// Alloc gives a zeroed buffer, aligned to at least 256 bytes. Zero bytes
	// is a valid size. It fails with [ErrNoMemory] past the device's limit.
	Alloc(bytes int64) (op.Buffer, error)
	// Free gives a buffer back, own or imported. Submitted operations that use
	// it still finish; later ones, the importers' too, fail with [ErrStale].
	Free(b op.Buffer) error
	// Read copies len(dst) bytes from src to the guest, Write len(src) bytes
	// from the guest to dst. Neither waits for any stream.
	Read(dst []byte, src op.View) error
	Write(dst op.View, src []byte) error
}

// Sharer lets ranks reach each other's buffers. Shares never need a barrier:
// an exported handle stays good until the buffer is freed, and is refused with
// [ErrStale] afterwards, whatever lies at its address by then.
type Sharer interface {
	// Export names bytes of an own buffer, from v on.
	Export(v op.View, bytes int64) (Handle, error)
	// Import gives access to what peer exported. Importing one's own export is
	// allowed. The buffer begins at the exported view, offset and all.
	Import(peer int, h Handle) (op.Buffer, error)
}

// Stream is an in-order queue of operations.
type Stream interface {
	// Submit appends o, which the stream copies, and returns at once unless
	// the queue is full. It fails for operations that [op.Op.Check] or the
	// device refuses; a failure of an operation already accepted is kept and
	// returned by every later Submit, Query and Sync of the stream.
	Submit(o *op.Op) error
	// Query reports whether everything submitted is complete.
	Query() (done bool, err error)
	// Sync waits until everything submitted is complete. After [ErrTimeout]
	// the stream goes on as before. Forever is a negative timeout.
	Sync(timeout time.Duration) error
	// Close waits for the stream and gives it back.
	Close() error
}

// Event is a point in a stream; see [op.Event].
type Event interface {
	op.Event
	// Sync waits until the event is complete.
	Sync(timeout time.Duration) error
	Close() error
}

// Point is something that a rank can wait for beside others: if Event is not
// nil, that it is complete, else that the slot Slot that rank Peer raises here
// is at least Value. An event whose stream has failed before it is complete all
// the same: [Event.Sync] tells why.
type Point struct {
	Event Event
	Peer  int
	Slot  uint32
	Value uint64
}

// FirstSignal is the first point that is no event, nil if there is none. It is
// alone if all points are signals of its peer: then nobody else can end a wait
// for them.
func FirstSignal(points []Point) (first *Point, alone bool) {
	alone = true
	for i := range points {
		p := &points[i]
		if p.Event == nil && first == nil {
			first = p
		}
		alone = alone && p.Event == nil && p.Peer == first.Peer
	}
	return first, alone
}

// Forever is the timeout of a wait that only Abort or the operation timeout of
// the run ends.
const Forever time.Duration = -1

// Facts describes a device.
type Facts struct {
	Name         string // "cpu", "cuda", "sim"
	Model        string // the processor, GPU or preset
	MemoryBytes  int64  // limit of what this rank may allocate
	MaxStreams   int
	MaxEvents    int
	SignalSlots  uint32 // slots per pair of ranks
	SendChannels uint32 // channels per pair of ranks
	Virtual      bool   // Now is virtual time
}

// Config is what a device is opened with.
type Config struct {
	Rank, Size  int
	Exchange    Exchange
	Recorder    *flight.Writer
	MemoryBytes int64         // limit, 0 for the device's default
	OpTimeout   time.Duration // a wait inside a stream that lasts longer fails with ErrTimeout; 0 for never
}

// Exchange is the control plane that ranks find each other through: a small
// key-value store that all ranks of the run share. No payload crosses it.
type Exchange interface {
	// Set stores a value. Setting a key again replaces its value.
	Set(key string, value []byte) error
	// Get waits until the key is set, or fails with [ErrTimeout]. Forever is a
	// negative timeout.
	Get(key string, timeout time.Duration) ([]byte, error)
	// CompareAndSwap stores value if the key's value is old (nil: not set) and
	// gives the value that the key has afterwards.
	CompareAndSwap(key string, old, value []byte) ([]byte, error)
}

// Opener makes the device of one rank.
type Opener struct {
	Name string
	Open func(Config) (Device, error)
	// Available is nil if the device can be opened on this machine, or says
	// what is missing.
	Available func() error
}
