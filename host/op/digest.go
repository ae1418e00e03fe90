package op

import "encoding/binary"

// DigestBytes is a 128-bit digest of b: two sums over its 8-byte words (the
// last padded with zeros), each word mixed with its position, plus the length.
// Sums have no order, so that a device can compute it in parallel. It tells
// accidents apart, not attackers.
func DigestBytes(b []byte) [2]uint64 {
	low, high := mix64(uint64(len(b))), mix64(uint64(len(b))+golden)
	position := uint64(golden)
	for ; len(b) >= 32; b = b[32:] {
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		p1, p2, p3 := position+golden, position+2*golden&mask64, position+3*golden&mask64
		low += mix64(w0+position) + mix64(w1+p1) + mix64(w2+p2) + mix64(w3+p3)
		high += mix64(w0^position*3) + mix64(w1^p1*3) + mix64(w2^p2*3) + mix64(w3^p3*3)
		position += 4 * golden & mask64
	}
	for len(b) > 0 {
		word, n := lastWord(b)
		low += mix64(word + position)
		high += mix64(word ^ position*3)
		position += golden
		b = b[n:]
	}
	return [2]uint64{low, high}
}

// lastWord is the word at the start of b, padded with zeros, and how many
// bytes of b it holds.
func lastWord(b []byte) (word uint64, n int) {
	var padded [8]byte
	n = copy(padded[:], b)
	return binary.LittleEndian.Uint64(padded[:]), n
}
