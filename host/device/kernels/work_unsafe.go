package kernels

import (
	"unsafe"

	"github.com/ccrun/ccrun/host/op"
)

// work is what a vector kernel does: bytes, a whole number of vectors, at the
// same offset of every source and destination.
type work struct {
	sources, dests         [op.MaxSources]unsafe.Pointer
	sourceCount, destCount int
	offset, bytes          int
	streaming              int
	scaling                int
	scale32                float32
	scale64                float64
}

// How results are stored: through the caches or past them, by lines or, if
// there is one source and one destination, by lines of several pages in turn.
const (
	streamNone = iota
	streamLines
	streamPages
)

// What becomes of sums.
const (
	scaleNone = iota
	scaleMultiply
	scaleDivide
)

// workOn returns work on whole slices, all at least as long as the first
// destination. It returns a value: what is stored through a pointer counts as
// escaping to the heap.
func workOn(dests, sources [][]byte) (w work) {
	bytes := len(dests[0])
	w.sourceCount, w.destCount = len(sources), len(dests)
	for i, s := range sources {
		w.sources[i] = unsafe.Pointer(unsafe.SliceData(s[:bytes]))
	}
	for i, d := range dests {
		w.dests[i] = unsafe.Pointer(unsafe.SliceData(d[:bytes]))
	}
	return w
}

// edge returns the same work on copies of a vector, with one result.
func (w *work) edge(copies *edgeCopies, bytes int) (e work) {
	e.sourceCount, e.destCount, e.bytes = w.sourceCount, 1, bytes
	e.scaling, e.scale32, e.scale64 = w.scaling, w.scale32, w.scale64
	for i := range w.sourceCount {
		e.sources[i] = unsafe.Pointer(&copies[i])
	}
	e.dests[0] = unsafe.Pointer(&copies[op.MaxSources])
	return e
}

// ahead returns how many bytes lie before the first whole cache line of the
// destinations; ok is false if they do not agree.
func (w *work) ahead() (bytes int, ok bool) {
	const last = widthMax - 1
	bytes = -int(uintptr(w.dests[0])) & last
	for _, d := range w.dests[1:w.destCount] {
		if -int(uintptr(d))&last != bytes {
			return 0, false
		}
	}
	return bytes, true
}

// dest is a stretch of a destination.
func (w *work) dest(i, from, bytes int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(w.dests[i], from)), bytes)
}

// source is a stretch of a source.
func (w *work) source(i, from, bytes int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(w.sources[i], from)), bytes)
}

// elements views bytes as whole elements. They need not be aligned: the
// processors that ccrun runs on load numbers from any address.
func elements[T number | uint16](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}
