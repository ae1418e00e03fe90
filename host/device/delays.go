package device

import "github.com/ccrun/ccrun/host/op"

// Delays is what a device offers whose operations can be made to take longer
// than they need, to see that somebody notices: see package fault.
type Delays interface {
	// Delay has the device ask for each operation that it carries out without
	// waiting for anybody, and for each message that it receives and each step of
	// a collective that moves bytes. It asks when the bytes are in place and
	// before the operation counts as complete, with the rank at the other end, -1
	// if there is none, and the time that it has taken; the operation then takes
	// as much longer as the answer says, in its record too. An operation that is
	// aborted takes no longer. Delay is called before there are streams, longer
	// by several threads at once.
	Delay(longer func(kind op.Kind, peer int, nanos int64) int64)
}
