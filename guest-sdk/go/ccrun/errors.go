package ccrun

import (
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Errno is the condition behind an error. Test for one with errors.Is:
// errors.Is(err, ccrun.ErrStale).
type Errno uint32

// The conditions.
const (
	ErrFault       = Errno(raw.ErrnoFault)       // a pointer outside the guest's memory
	ErrBadHandle   = Errno(raw.ErrnoBadHandle)   // not a handle of that kind
	ErrStale       = Errno(raw.ErrnoStale)       // freed, here or by the peer that owns it
	ErrRange       = Errno(raw.ErrnoRange)       // outside the buffer
	ErrInvalid     = Errno(raw.ErrnoInvalid)     // a value that the parameter cannot have
	ErrNoRank      = Errno(raw.ErrnoNoRank)      // no such rank
	ErrNoMemory    = Errno(raw.ErrnoNoMemory)    // device memory used up
	ErrLimit       = Errno(raw.ErrnoLimit)       // too many handles, names or slots
	ErrTimedOut    = Errno(raw.ErrnoTimedOut)    // the deadline passed
	ErrFailed      = Errno(raw.ErrnoFailed)      // an earlier operation of the stream failed
	ErrMismatch    = Errno(raw.ErrnoMismatch)    // ranks disagree
	ErrUnsupported = Errno(raw.ErrnoUnsupported) // not on this device
	ErrNotFound    = Errno(raw.ErrnoNotFound)    // no such thing
)

// Error is the condition's meaning.
func (e Errno) Error() string { return raw.Errno(e).Text() }

// Error is a call that failed.
type Error struct {
	Call  string // the host function, or the operation of a stream
	Errno Errno
	Text  string // what the host has to say about it, may be empty
}

// Error is the call and what went wrong.
func (e *Error) Error() string {
	if e.Text == "" {
		return e.Call + ": " + e.Errno.Error()
	}
	return e.Call + ": " + e.Text
}

// Unwrap gives the condition, for errors.Is.
func (e *Error) Unwrap() error { return e.Errno }

// check turns the errno of a call into an error, nil for success.
func (w *World) check(call string, errno raw.Errno) error {
	if errno == raw.OK {
		return nil
	}
	// The host's text begins with the call's name, too.
	return &Error{Call: call, Errno: Errno(errno), Text: strings.TrimPrefix(w.lastError(), call+": ")}
}

// lastError is the host's text for the call that failed last.
func (w *World) lastError() string {
	var text [512]byte
	var textBytes uint32
	if w.host.LastError(&text[0], uint32(len(text)), &textBytes) != raw.OK {
		return ""
	}
	return string(text[:min(textBytes, uint32(len(text)))])
}
