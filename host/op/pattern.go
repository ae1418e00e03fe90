package op

import "encoding/binary"

// golden is 2^64 divided by the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix64 is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// FillPattern writes bytes [start, start+len(dst)) of the pattern with the
// given seed to dst. Any device computes any part of it on its own, and two
// seeds share no run of bytes in practice. Elements of type U8 are arbitrary
// bytes; of any other type whole numbers from -8 to 7, so that sums over a few
// thousand ranks are exact in every type (f16 and bf16: over 32 ranks).
// start and len(dst) are multiples of t.Size().
func FillPattern(dst []byte, t Dtype, seed uint64, start int64) {
	if t == U8 {
		fillBytes(dst, seed, uint64(start))
		return
	}
	fillElements(dst, t, seed, uint64(start))
}

func fillBytes(dst []byte, seed, at uint64) {
	for len(dst) > 0 && at%8 != 0 {
		dst[0] = patternByte(seed, at)
		dst, at = dst[1:], at+1
	}
	state := seed + (at/8+1)*golden
	for len(dst) >= 8 {
		binary.LittleEndian.PutUint64(dst, mix64(state))
		state += golden
		dst, at = dst[8:], at+8
	}
	for i := range dst {
		dst[i] = patternByte(seed, at+uint64(i))
	}
}

func patternByte(seed, at uint64) byte {
	return byte(mix64(seed+(at/8+1)*golden) >> (at % 8 * 8))
}

// PatternElement is the whole number that element i of the pattern holds, for
// every type but U8.
func PatternElement(seed, i uint64) int {
	return int(mix64(seed+(i+1)*golden)>>60) - 8
}

func fillElements(dst []byte, t Dtype, seed, at uint64) {
	size := t.Size()
	for i := at / uint64(size); len(dst) >= size; i++ {
		PutNumber(dst, t, float64(PatternElement(seed, i)))
		dst = dst[size:]
	}
}

// VerifyPattern counts the elements of got that differ from what
// [FillPattern] writes and gives the byte offset of the first, -1 if none.
func VerifyPattern(got []byte, t Dtype, seed uint64, start int64) (mismatches, firstBad int64) {
	var want [4096]byte
	firstBad = -1
	size := t.Size()
	for base := 0; base < len(got); base += len(want) {
		part := got[base:min(base+len(want), len(got))]
		FillPattern(want[:len(part)], t, seed, start+int64(base))
		if string(part) == string(want[:len(part)]) {
			continue
		}
		for i := 0; i < len(part); i += size {
			end := min(i+size, len(part))
			if string(part[i:end]) == string(want[i:end]) {
				continue
			}
			if firstBad < 0 {
				firstBad = int64(base + i)
			}
			mismatches++
		}
	}
	return mismatches, firstBad
}

// DigestBytes is a 128-bit digest of b: two sums over its 8-byte words (the
// last padded with zeros), each word mixed with its position, plus the length.
// Sums have no order, so that a device can compute it in parallel. It tells
// accidents apart, not attackers.
func DigestBytes(b []byte) [2]uint64 {
	d := [2]uint64{mix64(uint64(len(b))), mix64(uint64(len(b)) + golden)}
	position := uint64(golden)
	for ; len(b) >= 8; b = b[8:] {
		word := binary.LittleEndian.Uint64(b)
		d[0] += mix64(word + position)
		d[1] += mix64(word ^ position*3)
		position += golden
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		word := binary.LittleEndian.Uint64(last[:])
		d[0] += mix64(word + position)
		d[1] += mix64(word ^ position*3)
	}
	return d
}
