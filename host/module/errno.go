package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// refusal is what is wrong with a call's arguments.
type refusal struct {
	errno abi.Errno
	text  string
}

func (r *refusal) Error() string { return r.text }

func refuse(errno abi.Errno, format string, args ...any) error {
	return &refusal{errno, fmt.Sprintf(format, args...)}
}

// AbortError is what a guest that calls abort is unwound with: find it with
// [errors.As] in the error of the guest's start function.
type AbortError struct {
	Code int    // the run's exit code, 1 to 95
	Text string // what the guest says, cut to 1 KiB
}

// Error is the guest's own text.
func (e *AbortError) Error() string {
	return fmt.Sprintf("guest aborted the run with code %d: %s", e.Code, e.Text)
}

// UnwindError is what a guest is unwound with when a host call cannot return
// to it: the run was given up (it then wraps [device.ErrAborted]) or the host
// failed in a way that the call has no errno for.
type UnwindError struct {
	Call string // the host function
	Err  error
}

// Error names the host function.
func (e *UnwindError) Error() string { return e.Call + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *UnwindError) Unwrap() error { return e.Err }

// errnoOf is the one place where errors become errnos. An OpError is the
// failure of an operation that was accepted earlier, whatever its cause.
func errnoOf(err error) abi.Errno {
	var refused *refusal
	var failed *device.OpError
	switch {
	case errors.As(err, &refused):
		return refused.errno
	case errors.As(err, &failed):
		return abi.Failed
	case errors.Is(err, op.ErrRange):
		return abi.Range
	case errors.Is(err, device.ErrStale), errors.Is(err, device.ErrClosed):
		return abi.Stale
	case errors.Is(err, device.ErrTimeout):
		return abi.TimedOut
	case errors.Is(err, device.ErrNoMemory):
		return abi.NoMemory
	case errors.Is(err, device.ErrTooMany):
		return abi.Limit
	case errors.Is(err, device.ErrPeer):
		return abi.NoRank
	case errors.Is(err, device.ErrMissing):
		return abi.Unsupported
	case errors.Is(err, device.ErrMismatch):
		return abi.Mismatch
	case errors.Is(err, device.ErrSlot), errors.Is(err, device.ErrForeign),
		errors.Is(err, coll.ErrShape), errors.Is(err, coll.ErrAlgorithm), errors.Is(err, coll.ErrFit),
		errors.Is(err, op.ErrKind), errors.Is(err, op.ErrType), errors.Is(err, op.ErrRedOp),
		errors.Is(err, op.ErrSources), errors.Is(err, op.ErrEvent), errors.Is(err, op.ErrGemm), errors.Is(err, op.ErrBox), errors.Is(err, op.ErrCall):
		return abi.Invalid
	}
	return abi.Failed
}

// listed is errno if the row has it, or the nearest that it has; ok is false
// if the row has no way to say that the host failed.
func listed(row *abi.Row, errno abi.Errno) (near abi.Errno, ok bool) {
	for _, near := range [...]abi.Errno{errno, abi.Failed, abi.Invalid} {
		if row.Returns(near) {
			return near, true
		}
	}
	return 0, false
}
