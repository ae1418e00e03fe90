package kernels

import "unsafe"

// floats views bytes as whole elements. They need not be aligned: the
// processors that ccrun runs on load numbers from any address.
func floats[T float32 | float64](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
