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
	size := numbers[dtype].size
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

func (r *Result) addDigest(name string, rank, size int, d *raw.Digest) {
	if r.Digests[name] == nil {
		r.Digests[name] = make([]string, size)
	}
	r.Digests[name][rank] = fmt.Sprintf("%016x%016x", d.Low, d.High)
}

// reduce combines the sources in float64, which is exact for what fill writes.
func (r *rank) reduce(o *pending, dst []byte) {
	n := numbers[o.Dtype]
	var sources [8][]byte
	for i, view := range o.sources[:o.SourceCount] {
		sources[i], _ = r.region(view.Buffer, view.Offset, o.Bytes)
	}
	for at := 0; at+n.size <= len(dst); at += n.size {
		total := n.get(sources[0][at:])
		for _, source := range sources[1:o.SourceCount] {
			total = combine(o.Redop, total, n.get(source[at:]))
		}
		if o.Redop == raw.RedopAvg {
			total /= float64(o.SourceCount)
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
