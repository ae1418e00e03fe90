package kernels

import "unsafe"

// below reports whether a starts at a lower address than b.
func below(a, b []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(a))) < uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}
