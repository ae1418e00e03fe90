package runner

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
)

// Error is a run that was refused before it began.
type Error struct {
	Code int // exit code
	Text string
	Hint string // what to do about it, may be empty
}

// Error is the text.
func (e *Error) Error() string { return e.Text }

// refuse is a refusal for bad usage or configuration.
func refuse(hint, format string, args ...any) *Error {
	return &Error{Code: ExitUsage, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// refusal makes an [*Error] of why a guest cannot be run.
func refusal(err error) *Error {
	var refused *Error
	var bad *guest.Error
	var imports *module.ImportError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &bad):
		return &Error{Code: guestCodes[bad.Reason], Text: bad.Text, Hint: bad.Hint}
	case errors.As(err, &imports):
		return &Error{Code: ExitABI, Text: imports.Error(), Hint: "build the workflow against this ccrun's SDK; `ccrun abi` lists what there is"}
	}
	return &Error{Code: ExitUsage, Text: err.Error()}
}

var guestCodes = [...]int{guest.BadFile: ExitUsage, guest.BadImport: ExitABI, guest.TooBig: ExitLimit}

// rankCount is the number of ranks of a run, from the flag and from the
// environment.
func rankCount(asked int, place *place) (int, error) {
	switch {
	case place != nil && asked != 0 && asked != place.size:
		return 0, refuse(fmt.Sprintf("leave -n out, or unset %s", place.sizeVariable),
			"-n %d, but %s=%d", asked, place.sizeVariable, place.size)
	case place != nil:
		asked = place.size
	case asked == 0:
		asked = DefaultRanks
	}
	switch {
	case asked < 1:
		return 0, refuse(fmt.Sprintf("give 1 to %d", RanksMax), "-n %d: a run has at least one rank", asked)
	case asked > RanksMax:
		return 0, refuse("more ranks than that need the simulator: --device sim:h100x64", "-n %d: at most %d ranks on this machine", asked, RanksMax)
	}
	return asked, nil
}
