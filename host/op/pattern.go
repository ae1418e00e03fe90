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

// patternState is what mix64 turns into word or element i of a pattern; that
// of i+1 is golden more.
func patternState(seed, i uint64) uint64 { return seed + (i+1)*golden }

// FillPattern writes bytes [start, start+len(dst)) of the pattern with the
// given seed to dst. Any device computes any part of it on its own, and two
// seeds share no run of bytes in practice. Elements of type U8 are arbitrary
// bytes; of any other type whole numbers from -8 to 7, so that sums over a few
// thousand ranks are exact in every type (f16 and bf16: over 32 ranks).
// start and len(dst) are multiples of t.Size(); a part of an element at the
// end of dst is left alone.
func FillPattern(dst []byte, t Dtype, seed uint64, start int64) {
	if t == U8 {
		fillBytes(dst, seed, uint64(start))
		return
	}
	if !t.Valid() {
		return
	}
	words := &patternWords[t]
	state := patternState(seed, uint64(start)/uint64(t.Size()))
	switch t.Size() {
	case 2:
		fill16(dst, words, state)
	case 4:
		fill32(dst, words, state)
	case 8:
		fill64(dst, words, state)
	}
}

func fillBytes(dst []byte, seed, at uint64) {
	for len(dst) > 0 && at%8 != 0 {
		dst[0] = patternByte(seed, at)
		dst, at = dst[1:], at+1
	}
	state := patternState(seed, at/8)
	for ; len(dst) >= 32; dst = dst[32:] {
		binary.LittleEndian.PutUint64(dst, mix64(state))
		binary.LittleEndian.PutUint64(dst[8:], mix64(state+golden))
		binary.LittleEndian.PutUint64(dst[16:], mix64(state+2*golden&mask64))
		binary.LittleEndian.PutUint64(dst[24:], mix64(state+3*golden&mask64))
		state += 4 * golden & mask64
		at += 32
	}
	for i := range dst {
		dst[i] = patternByte(seed, at+uint64(i))
	}
}

// mask64 keeps a constant product within 64 bits.
const mask64 = 1<<64 - 1

func patternByte(seed, at uint64) byte {
	return byte(mix64(patternState(seed, at/8)) >> (at % 8 * 8))
}

// PatternElement is the whole number that element i of the pattern holds, for
// every type but U8.
func PatternElement(seed, i uint64) int {
	return int(mix64(patternState(seed, i))>>60) - 8
}

// patternWords are the bits of the numbers from -8 to 7 in each type.
var patternWords = tabulate()

func tabulate() (table [dtypeCount][16]uint64) {
	for t := range dtypeCount {
		for i := range table[t] {
			var b [8]byte
			PutNumber(b[:], t, float64(i-8))
			table[t][i] = binary.LittleEndian.Uint64(b[:])
		}
	}
	return table
}

func fill16(dst []byte, words *[16]uint64, state uint64) {
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, words[mix64(state)>>60]|words[mix64(state+golden)>>60]<<16|
			words[mix64(state+2*golden&mask64)>>60]<<32|words[mix64(state+3*golden&mask64)>>60]<<48)
		state += 4 * golden & mask64
	}
	for ; len(dst) >= 2; dst = dst[2:] {
		binary.LittleEndian.PutUint16(dst, uint16(words[mix64(state)>>60]))
		state += golden
	}
}

func fill32(dst []byte, words *[16]uint64, state uint64) {
	for ; len(dst) >= 16; dst = dst[16:] {
		binary.LittleEndian.PutUint64(dst, words[mix64(state)>>60]|words[mix64(state+golden)>>60]<<32)
		binary.LittleEndian.PutUint64(dst[8:],
			words[mix64(state+2*golden&mask64)>>60]|words[mix64(state+3*golden&mask64)>>60]<<32)
		state += 4 * golden & mask64
	}
	for ; len(dst) >= 4; dst = dst[4:] {
		binary.LittleEndian.PutUint32(dst, uint32(words[mix64(state)>>60]))
		state += golden
	}
}

func fill64(dst []byte, words *[16]uint64, state uint64) {
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, words[mix64(state)>>60])
		state += golden
	}
}

// VerifyPattern counts the elements of got that differ from what
// [FillPattern] writes and gives the byte offset of the first, -1 if none.
func VerifyPattern(got []byte, t Dtype, seed uint64, start int64) (mismatches, firstBad int64) {
	v := verifier{seed: seed, dtype: t, start: start, firstBad: -1}
	if t == U8 {
		v.verifyBytes(got)
	} else {
		v.verifyBlocks(got, 0)
	}
	return v.mismatches, v.firstBad
}

// verifier is the state of one VerifyPattern: the pattern and what was found.
type verifier struct {
	seed       uint64
	start      int64
	dtype      Dtype
	mismatches int64
	firstBad   int64
}

// verifyBytes compares words as they are computed, a cache line at a time, and
// looks closer only where a line differs.
func (v *verifier) verifyBytes(got []byte) {
	at := 0
	if odd := int(uint64(v.start) % 8); odd != 0 {
		at = min(8-odd, len(got))
		v.verifyBlocks(got[:at], 0)
	}
	state := patternState(v.seed, uint64(v.start+int64(at))/8)
	for ; len(got)-at >= 32; at += 32 {
		b := got[at : at+32 : at+32]
		diff := binary.LittleEndian.Uint64(b) ^ mix64(state)
		diff |= binary.LittleEndian.Uint64(b[8:]) ^ mix64(state+golden)
		diff |= binary.LittleEndian.Uint64(b[16:]) ^ mix64(state+2*golden&mask64)
		diff |= binary.LittleEndian.Uint64(b[24:]) ^ mix64(state+3*golden&mask64)
		if diff != 0 {
			v.verifyBlocks(b, at)
		}
		state += 4 * golden & mask64
	}
	v.verifyBlocks(got[at:], at)
}

// verifyBlocks compares got, which lies base bytes into the region, with the
// pattern written out block by block.
func (v *verifier) verifyBlocks(got []byte, base int) {
	var want [1024]byte
	size := v.dtype.Size()
	for len(got) >= size {
		n := min(len(got)/size*size, len(want))
		FillPattern(want[:n], v.dtype, v.seed, v.start+int64(base))
		if string(got[:n]) != string(want[:n]) {
			v.count(got[:n], want[:n], base)
		}
		got, base = got[n:], base+n
	}
}

// count compares element by element.
func (v *verifier) count(got, want []byte, base int) {
	size := v.dtype.Size()
	for i := 0; i < len(got); i += size {
		if string(got[i:i+size]) == string(want[i:i+size]) {
			continue
		}
		if v.firstBad < 0 {
			v.firstBad = int64(base + i)
		}
		v.mismatches++
	}
}
