package op_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// naiveDigest is the digest by its definition, a word at a time.
func naiveDigest(b []byte) [2]uint64 {
	const golden = 0x9e3779b97f4a7c15
	mix := func(x uint64) uint64 { return splitMix(x-golden, 0) }
	d := [2]uint64{mix(uint64(len(b))), mix(uint64(len(b)) + golden)}
	for i := 0; i < len(b); i += 8 {
		var padded [8]byte
		copy(padded[:], b[i:])
		word, position := binary.LittleEndian.Uint64(padded[:]), uint64(i/8+1)*golden
		d[0] += mix(word + position)
		d[1] += mix(word ^ position*3)
	}
	return d
}

func TestDigestIsItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	for length := range 200 {
		b := make([]byte, length)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		if got, want := op.DigestBytes(b), naiveDigest(b); got != want {
			t.Fatalf("%d bytes: %x, want %x", length, got, want)
		}
	}
}

// TestDigestSeparates digests regions that a careless digest would confuse:
// every single-bit change, every exchange of two words, every length of zeros.
func TestDigestSeparates(t *testing.T) {
	seen := make(map[[2]uint64]string)
	record := func(what string, b []byte) {
		d := op.DigestBytes(b)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest %x", what, other, d)
		}
		seen[d] = what
	}
	base := make([]byte, 13*8+5)
	op.FillPattern(base, op.U8, 17, 0)
	record("the region", base)
	for bit := range len(base) * 8 {
		base[bit/8] ^= 1 << (bit % 8)
		record("a changed bit", base)
		base[bit/8] ^= 1 << (bit % 8)
	}
	for i := range 13 {
		for j := range i {
			record("exchanged words", swapped(base, i*8, j*8))
		}
	}
	for length := range 100 {
		record("zeros", make([]byte, length))
	}
	for _, half := range []uint{0, 1} {
		distinct := make(map[uint64]bool)
		for d := range seen {
			distinct[d[half]] = true
		}
		if len(distinct) != len(seen) {
			t.Errorf("word %d of the digest has %d values for %d regions", half, len(distinct), len(seen))
		}
	}
}

func swapped(b []byte, i, j int) []byte {
	out := append([]byte(nil), b...)
	copy(out[i:i+8], b[j:j+8])
	copy(out[j:j+8], b[i:i+8])
	return out
}

func BenchmarkDigest(b *testing.B) {
	region := make([]byte, 1<<20)
	b.SetBytes(int64(len(region)))
	b.ReportAllocs()
	for b.Loop() {
		op.DigestBytes(region)
	}
}
