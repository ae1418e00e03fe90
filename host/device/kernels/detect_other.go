//go:build !amd64

package kernels

// Detect returns Portable: there are no vector kernels for this processor.
func Detect() ISA { return Portable }

// run has no kernel for anything.
func run(ISA, kernel, *work) bool { return false }
