package kernels

import "github.com/ccrun/ccrun/host/op"

// copyStretchBytes is how much is copied in one stretch: a stretch cannot be
// interrupted, not even by the garbage collector. From 1 MiB on Go's copy
// writes past the caches, which is too early.
const copyStretchBytes = 512 << 10

// Copy copies src to dst, which is as long and may overlap it. trafficBytes is
// what the operation that this copy is part of reads and writes in all; 0 is
// the copy alone.
func (s Set) Copy(dst, src []byte, trafficBytes int64) {
	switch {
	case len(dst) <= copyStretchBytes && trafficBytes < s.StreamBytes:
		copy(dst, src)
	case overlap(dst, src) && below(src, dst):
		copyDown(dst, src, copyStretchBytes)
	case !s.streams(trafficBytes, 2*int64(len(dst))) || overlap(dst, src) || !s.streamCopy(dst, src):
		copyUp(dst, src)
	}
}

// move is Copy as a task.
func (s Set) move(dst, src []byte, t Task) {
	if t.Backward && len(dst) > backwardBytes && !overlap(dst, src) && !s.streams(t.TrafficBytes, 2*int64(len(dst))) {
		copyDown(dst, src, backwardBytes)
		return
	}
	s.Copy(dst, src, t.TrafficBytes)
}

// streamCopy copies past the caches.
func (s Set) streamCopy(dst, src []byte) bool {
	dests, sources := [1][]byte{dst}, [1][]byte{src}
	return s.vectors(dests[:], sources[:], Task{Type: op.U8, TrafficBytes: s.StreamBytes})
}

// copyUp copies in stretches from the start: right for overlapping ranges if
// the destination lies lower.
func copyUp(dst, src []byte) {
	for len(dst) > copyStretchBytes {
		copy(dst[:copyStretchBytes], src)
		dst, src = dst[copyStretchBytes:], src[copyStretchBytes:]
	}
	copy(dst, src)
}

// copyDown copies in stretches from the end.
func copyDown(dst, src []byte, stretchBytes int) {
	for n := len(dst); n > 0; n = len(dst) {
		cut := max(0, n-stretchBytes)
		copy(dst[cut:], src[cut:n])
		dst = dst[:cut]
	}
}
