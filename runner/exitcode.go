package runner

// Exit codes of ccrun. A guest's own codes, 1 to 95, pass through; one that a
// guest has no right to (96 to 255) counts as a trap.
const (
	ExitOK         = 0
	ExitGuestMax   = 95
	ExitThreshold  = 99
	ExitUsage      = 104
	ExitSignal     = 105
	ExitTrap       = 107
	ExitRankLost   = 111
	ExitDeadlock   = 112
	ExitDesync     = 113
	ExitUnverified = 114
	ExitLimit      = 115
	ExitABI        = 116
	ExitTimeout    = 117
	ExitInternal   = 70 // a fault of ccrun itself
)

// exitCodes of verdicts whose code does not come from the guest.
var exitCodes = map[string]int{
	KindTrap:       ExitTrap,
	KindLost:       ExitRankLost,
	KindDeadlock:   ExitDeadlock,
	KindDesync:     ExitDesync,
	KindUnverified: ExitUnverified,
	KindLimit:      ExitLimit,
	KindABI:        ExitABI,
	KindTimeout:    ExitTimeout,
	KindSignal:     ExitSignal,
	KindSetup:      ExitUsage,
	KindInternal:   ExitInternal,
}
