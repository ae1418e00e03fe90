package flight

import (
	"os"
	"strings"
)

// readTicks is the time stamp counter, after all earlier instructions.
//
//go:noescape
func readTicks() uint64

// readTicksEarly is readTicks without waiting for earlier instructions: it may
// be a little earlier than that, never later.
//
//go:noescape
func readTicksEarly() uint64

// ticksTrusted reports whether the kernel reads the same counter for its own
// clock: then it runs evenly, and alike on all processors.
func ticksTrusted() bool {
	source, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && strings.TrimSpace(string(source)) == "tsc"
}
