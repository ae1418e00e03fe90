package device

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Faults is what a device offers whose operations can be made to go wrong, to
// see that somebody notices: see package fault.
type Faults interface {
	// Inject has the device ask how an operation is to end, for each one that it
	// carries out without waiting for anybody, and for each message that it
	// receives and each step of a collective that moves bytes. It asks when the
	// bytes are in place and before the operation counts as complete, with the
	// rank at the other end, -1 if there is none, and the time that it has taken.
	// Inject is called before there are streams, ending by several threads at once.
	Inject(ending func(kind op.Kind, peer int, nanos int64) Ending)
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
