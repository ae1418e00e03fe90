package cpu

import "unsafe"

// elements views bytes as whole elements. They need not be aligned: the
// processors that ccrun runs on load numbers from any address.
func elements[T number | uint16](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
