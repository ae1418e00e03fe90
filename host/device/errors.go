package device

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Conditions that callers tell apart. Errors of a device wrap one of them.
var (
	ErrNoMemory = errors.New("out of device memory")
	ErrStale    = errors.New("buffer was freed")
	ErrTimeout  = errors.New("timed out")
	ErrAborted  = errors.New("aborted")
	ErrPeer     = errors.New("no such rank")
	ErrSlot     = errors.New("no such signal slot or channel")
	ErrForeign  = errors.New("not a buffer, stream or event of this device")
	ErrTooMany  = errors.New("too many streams, events or buffers")
	ErrClosed   = errors.New("already closed")
	ErrMismatch = errors.New("mismatch between ranks")
	ErrMissing  = errors.New("not supported by this device")
	ErrFault    = errors.New("injected fault")
)

// OpError is the failure of one operation.
type OpError struct {
	Op     op.Op
	Stream int
	Seen   uint64 // signal value when a wait gave up
	Err    error
}

// Error names the peer, the operation, the slot and the sequence number.
func (e *OpError) Error() string {
	switch e.Op.Kind {
	case op.Signal, op.Wait:
		return fmt.Sprintf("%s on stream %d: rank %d slot %d value %d (has %d): %v",
			e.Op.Kind, e.Stream, e.Op.Peer, e.Op.Slot, e.Op.Value, e.Seen, e.Err)
	case op.Send, op.Recv:
		return fmt.Sprintf("%s on stream %d: rank %d channel %d, %d bytes: %v",
			e.Op.Kind, e.Stream, e.Op.Peer, e.Op.Slot, e.Op.Bytes, e.Err)
	case op.CollectiveCall:
		return fmt.Sprintf("%s on stream %d: %v", e.Op.Kind, e.Stream, e.Err)
	default:
		return fmt.Sprintf("%s of %d bytes on stream %d: %v", e.Op.Kind, e.Op.Bytes, e.Stream, e.Err)
	}
}

// Unwrap gives the condition.
func (e *OpError) Unwrap() error { return e.Err }
