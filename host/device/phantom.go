package device

import "github.com/ccrun/ccrun/host/op"

// Phantom is what a buffer offers that may have a size and no bytes: reading it
// gives zeros, which mean nothing.
type Phantom interface {
	// Phantom reports whether the buffer has no bytes at this moment.
	Phantom() bool
}

// IsPhantom reports whether a buffer has a size and no bytes.
func IsPhantom(b op.Buffer) bool {
	p, ok := b.(Phantom)
	return ok && p.Phantom()
}
