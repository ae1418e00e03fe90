package kernels

import "unsafe"

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// below reports whether a starts at a lower address than b.
func below(a, b []byte) bool { return address(a) < address(b) }

// overlap reports whether a and b share memory.
func overlap(a, b []byte) bool {
	return address(a) < address(b)+uintptr(len(b)) && address(b) < address(a)+uintptr(len(a))
}
