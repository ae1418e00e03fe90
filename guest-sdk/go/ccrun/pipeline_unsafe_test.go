package ccrun_test

import (
	"slices"
	"unsafe"
)

// copied is what lies behind a pointer and a length of the ABI.
func copied[T any](p *T, n uint32) []T { return slices.Clone(unsafe.Slice(p, n)) }
