package device

import (
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// Collectives is what a device offers that carries out programs itself:
// operations of kind [op.CollectiveCall].
type Collectives interface {
	// NewComm makes the communicator of the given world ranks, in their order,
	// which includes this rank. All of them call it with the same name, which no
	// other communicator of the run has had. It does not wait for the others
	// longer than the timeout.
	NewComm(name string, ranks []int, timeout time.Duration) (Comm, error)
}

// Comm is a communicator that calls can be submitted for.
type Comm interface {
	op.Comm
	// Close gives the communicator back, once all its calls are done. The other
	// ranks close theirs in their own time.
	Close() error
}
