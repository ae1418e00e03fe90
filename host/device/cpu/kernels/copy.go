package kernels

// copyStretchBytes is how much is copied in one stretch: a stretch cannot be
// interrupted, not even by the garbage collector.
const copyStretchBytes = 1 << 20

// Copy copies src to dst, which is as long and may overlap it. trafficBytes is
// what the operation that this copy is part of reads and writes in all; 0 is
// the copy alone.
func (s Set) Copy(dst, src []byte, trafficBytes int64) {
	if below(src, dst) {
		copyDown(dst, src)
		return
	}
	copyUp(dst, src)
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
func copyDown(dst, src []byte) {
	for n := len(dst); n > 0; n = len(dst) {
		cut := max(0, n-copyStretchBytes)
		copy(dst[cut:], src[cut:n])
		dst = dst[:cut]
	}
}
