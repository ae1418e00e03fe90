package runner

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
)

// judge makes a rank's report of how its guest ended.
func (r *rank) judge(exit guest.Exit) *report {
	if errors.Is(exit.Err, device.ErrAborted) {
		return r.unwound(exit)
	}
	r.recorder.SetState(flight.StateDone)
	rep := &report{
		Stack: exit.Stack, LastError: r.instance.LastError(), Desync: r.instance.Desync(), Corrupt: r.instance.Corrupt(),
		Results: r.instance.Results(), GuestPeakBytes: r.memory.PeakBytes(),
	}
	if rep.Desync == "" && r.spec.Replay && errors.Is(exit.Err, device.ErrMismatch) {
		rep.Desync = exit.Trap
	}
	rep.Kind, rep.Code, rep.Text = ending(exit, r.memory.Refused(), rep)
	return rep
}

// unwound makes the report of a guest that a host call has unwound because the
// run was given up. The order may be on its way still; without one the call
// has lost touch with the launcher, which the watch has not.
func (r *rank) unwound(exit guest.Exit) *report {
	select {
	case <-r.stop:
		return r.stopped(exit.Stack)
	case <-time.After(r.spec.UnwindGrace):
	}
	r.recorder.SetState(flight.StateAborted)
	cause, _, _ := strings.Cut(cmp.Or(exit.Trap, exit.Err.Error()), "\n")
	return &report{
		Kind: KindInternal, Code: ExitInternal, Text: "a call failed as if the run had been given up: " + cause,
		Stack: exit.Stack, LastError: r.instance.LastError(), Desync: r.instance.Desync(), Corrupt: r.instance.Corrupt(),
		GuestPeakBytes: r.memory.PeakBytes(),
	}
}

// ending names what kind of end it was, its exit code and its cause. A guest
// that failed after a refused request for memory is taken to have failed for
// it. Where ranks disagree, or bytes have not come as they were sent, nothing that
// they computed since means anything, whatever the guest makes of it.
func ending(exit guest.Exit, memoryRefused bool, rep *report) (kind string, code int, text string) {
	var abort *module.AbortError
	var unrecorded *recordError
	switch {
	case rep.Desync != "":
		return KindDesync, ExitDesync, rep.Desync
	case rep.Corrupt != "":
		return KindUnverified, ExitUnverified, rep.Corrupt
	case exit.Err == nil && rep.Results.Mismatches > 0:
		return KindUnverified, ExitUnverified, fmt.Sprintf("%d elements differ from what they should be", rep.Results.Mismatches)
	case exit.Err == nil:
		return "", ExitOK, ""
	case errors.As(exit.Err, &unrecorded):
		return KindSetup, ExitUsage, unrecorded.Error()
	case memoryRefused:
		return KindLimit, ExitLimit, fmt.Sprintf("its memory limit is used up: it has %d bytes and asked for more", rep.GuestPeakBytes)
	case errors.As(exit.Err, &abort):
		return KindAbort, guestCode(abort.Code), abort.Text
	case exit.Trap != "":
		return KindTrap, ExitTrap, exit.Trap
	case exit.Code > ExitGuestMax:
		return KindTrap, ExitTrap, fmt.Sprintf("exited with code %d, and a guest's own are 1 to %d", exit.Code, ExitGuestMax)
	}
	return KindExit, int(exit.Code), fmt.Sprintf("exited with code %d", exit.Code)
}

// guestCode keeps an exit code within a guest's own.
func guestCode(code int) int { return min(max(code, 1), ExitGuestMax) }
