package kernels

import "golang.org/x/sys/cpu"

// Detect returns the best instructions that this processor and its operating
// system support.
func Detect() ISA {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasOSXSAVE || !hasF16C():
		return Portable
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// hasF16C reports whether the processor converts half precision.
func hasF16C() bool
