//go:build !amd64

package flight

func readTicks() uint64 { return 0 }

func readTicksEarly() uint64 { return 0 }

// ticksTrusted: no counter is read on this architecture.
func ticksTrusted() bool { return false }
