package device

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Faults is what a device offers whose operations can be made to go wrong, to
// see that somebody notices: see package fault.
type Faults interface {
	// Inject has the device ask how an operation is to end, for each one that it
	// carries out without waiting for anybody, other than waits and records of
	// events, for each message that it receives, and for each step of a collective
	// that moves bytes, as [MoveOf] says what that is. It asks when the bytes are in
	// place and before the operation counts as complete, with the rank at the other
	// end, -1 if there is none, and the time that it has taken. A collective whose
	// time comes from a model is one step of each rank, without another end: a
	// Reduce if it reduces, else a Get.
	// Inject is called before there are streams, ending by several threads at once.
	Inject(ending func(kind op.Kind, peer int, nanos int64) Ending)
}

// MoveOf says what operation a rank's step of a collective counts as, and which
// rank of the communicator is at its other end, -1 for none. The slots of other
// ranks count as their memory.
func MoveOf(s *op.Step, rank int) (kind op.Kind, peer int) {
	kind, peer = op.Copy, -1
	for _, p := range s.Sources {
		if peer < 0 && int(p.Rank) != rank {
			kind, peer = op.Get, int(p.Rank)
		}
	}
	for _, p := range s.Dests {
		if peer < 0 && int(p.Rank) != rank {
			kind, peer = op.Put, int(p.Rank)
		}
	}
	if len(s.Sources) > 1 {
		kind = op.Reduce
	}
	return kind, peer
}

// Ending is how an operation is to end; the zero value is as it would anyway.
type Ending struct {
	// LongerNanos is how much longer it takes than it has taken, in its record
	// too. An operation that is aborted takes no longer.
	LongerNanos int64

	// Corrupt inverts the first byte that it has written, and says nothing. What
	// writes no bytes has none that could be wrong, nor has a phantom.
	Corrupt bool

	// Fail has it fail with [ErrFault], at once. If it is a message, whoever sends
	// it is told so and fails as well, with [ErrFaultThere].
	Fail bool
}

// ErrFaultThere is how a Send fails that the receiver was made to fail at.
var ErrFaultThere = fmt.Errorf("%w at the other end", ErrFault)
