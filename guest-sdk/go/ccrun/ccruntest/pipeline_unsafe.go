package ccruntest

import "unsafe"

// listAt is the slice behind a pointer and a length of the ABI.
func listAt[T any](p *T, n uint32) []T { return unsafe.Slice(p, n) }
