package ccruntest

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// The pattern and the digest are ccrun's, so that digests of native tests are
// those of real runs: see host/op/pattern.go.
const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fill writes the pattern of seed, from byte start of it on.
func fill(dst []byte, dtype uint8, seed, start uint64) {
	n := numbers[dtype]
	if dtype == raw.DtypeU8 {
		for i := range dst {
			at := start + uint64(i)
			dst[i] = byte(mix(seed+(at/8+1)*golden) >> (at % 8 * 8))
		}
		return
	}
	for i := start / uint64(n.size); len(dst) >= n.size; i++ {
		n.put(dst, float64(int(mix(seed+(i+1)*golden)>>60)-8))
		dst = dst[n.size:]
	}
}

func verify(got []byte, dtype uint8, seed, start uint64) raw.VerifyResult {
	want := make([]byte, len(got))
	fill(want, dtype, seed, start)
	return compare(got, want, numbers[dtype].size)
}

// compare counts the elements that differ.
func compare(got, want []byte, size int) raw.VerifyResult {
	result := raw.VerifyResult{FirstBad: -1}
	for at := 0; at < len(got); at += size {
		end := min(at+size, len(got))
		if string(got[at:end]) == string(want[at:end]) {
			continue
		}
		if result.FirstBad < 0 {
			result.FirstBad = int64(at)
		}
		result.Mismatches++
	}
	return result
}

func digest(b []byte) raw.Digest {
	d := raw.Digest{Low: mix(uint64(len(b))), High: mix(uint64(len(b)) + golden)}
	for position := uint64(golden); len(b) > 0; position += golden {
		var last [8]byte
		b = b[copy(last[:], b):]
		word := little.Uint64(last[:])
		d.Low += mix(word + position)
		d.High += mix(word ^ position*3)
	}
	return d
}

// verifyReduced compares with the reduction of the patterns of seeds.
func verifyReduced(got []byte, dtype, redop uint8, seeds []uint64, start uint64) raw.VerifyResult {
	sources := make([][]byte, len(seeds))
	for i, seed := range seeds {
		sources[i] = make([]byte, len(got))
		fill(sources[i], dtype, seed, start)
	}
	want := make([]byte, len(got))
	reduce(dtype, redop, want, sources)
	return compare(got, want, numbers[dtype].size)
}

func (r *Result) addDigest(name string, rank, size int, d *raw.Digest) {
	if r.Digests[name] == nil {
		r.Digests[name] = make([]string, size)
	}
	r.Digests[name][rank] = fmt.Sprintf("%016x%016x", d.Low, d.High)
}

// reduce combines the sources in float64, which is exact for what fill writes.
func reduce(dtype, redop uint8, dst []byte, sources [][]byte) {
	n := numbers[dtype]
	for at := 0; at+n.size <= len(dst); at += n.size {
		total := n.get(sources[0][at:])
		for _, source := range sources[1:] {
			total = combine(redop, total, n.get(source[at:]))
		}
		if redop == raw.RedopAvg {
			total /= float64(len(sources))
		}
		n.put(dst[at:], total)
	}
}

func combine(redop uint8, a, b float64) float64 {
	switch redop {
	case raw.RedopProd:
		return a * b
	case raw.RedopMin:
		return min(a, b)
	case raw.RedopMax:
		return max(a, b)
	default:
		return a + b
	}
}
