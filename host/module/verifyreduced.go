package module

import (
	"bytes"
	"math"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// maxSeeds is how many patterns one buffer_verify_reduced may combine.
const maxSeeds = 4096

// verifyBlockElements is how many elements are looked at in one go.
const verifyBlockElements = 4096

// reducedCheck compares a region with a reduction of patterns, block by block.
type reducedCheck struct {
	dtype    op.Dtype
	red      op.RedOp
	seeds    []uint64
	at       int64 // first byte of the pattern
	got      [verifyBlockElements * 8]byte
	want     [verifyBlockElements * 8]byte
	part     [verifyBlockElements * 8]byte
	totals   [verifyBlockElements]int64 // exact or, of integers, before it wraps
	mismatch int64
	firstBad int64
}

// bufferVerifyReduced waits for the stream, reads the region and writes how
// many elements differ from the reduction and where the first does. invalid:
// no seeds, or too many; unsupported: a region that this device cannot read.
func bufferVerifyReduced(c *call) error {
	v, length := op.View{Buf: c.buffer[0], Off: c.int64(2)}, c.int64(3)
	check := &reducedCheck{dtype: op.Dtype(c.uint32(4)), red: op.RedOp(c.uint32(5)), at: c.int64(8), firstBad: -1}
	if err := check.accept(c.in, v, length); err != nil {
		return err
	}
	if err := c.stream.Sync(device.Forever); err != nil {
		return err
	}
	size := int64(check.dtype.Size())
	for done := int64(0); done < length; {
		n := min(length-done, verifyBlockElements*size)
		if err := c.config.Device.Read(check.got[:n], op.View{Buf: v.Buf, Off: v.Off + done}); err != nil {
			return err
		}
		check.block(done, int(n))
		done += n
	}
	c.config.Recorder.CountVerified(length, check.mismatch)
	put64(c.out[0], uint64(check.mismatch))
	put64(c.out[0][8:], uint64(check.firstBad))
	return nil
}

func (k *reducedCheck) accept(seeds []byte, v op.View, length int64) error {
	size := int64(k.dtype.Size())
	switch count := len(seeds) / 8; {
	case count == 0 || count > maxSeeds:
		return refuse(abi.Invalid, "seeds: %d, not 1 to %d", count, maxSeeds)
	case length%size != 0 || k.at%size != 0 || k.at > math.MaxInt64-length:
		return refuse(abi.Range, "%d bytes from byte %d on are not whole elements of type %v", length, k.at, k.dtype)
	}
	for ; len(seeds) > 0; seeds = seeds[8:] {
		k.seeds = append(k.seeds, get64(seeds))
	}
	return checkView(v, length)
}

// exactIntegers is the size up to which a type holds every whole number.
func exactIntegers(t op.Dtype) float64 {
	switch t {
	case op.F16:
		return 1 << 11
	case op.BF16:
		return 1 << 8
	case op.F32:
		return 1 << 24
	case op.F64:
		return 1 << 53
	}
	return math.Inf(1)
}

// block compares n bytes of got, which lie done bytes into the region.
func (k *reducedCheck) block(done int64, n int) {
	size := k.dtype.Size()
	first := uint64(k.at+done) / uint64(size)
	if k.isInteger() {
		k.expectIntegers(done, n)
	} else {
		k.expectFloats(first, n)
	}
	if bytes.Equal(k.got[:n], k.want[:n]) {
		return
	}
	for at := 0; at < n; at += size {
		if bytes.Equal(k.got[at:at+size], k.want[at:at+size]) || !k.isInteger() && k.rounded(at, first+uint64(at/size)) {
			continue
		}
		if k.firstBad < 0 {
			k.firstBad = done + int64(at)
		}
		k.mismatch++
	}
}

func (k *reducedCheck) isInteger() bool {
	return k.dtype == op.U8 || k.dtype == op.I32 || k.dtype == op.I64
}

// expectIntegers computes what the region must hold; sums and products wrap.
func (k *reducedCheck) expectIntegers(done int64, n int) {
	size := k.dtype.Size()
	totals := k.totals[:n/size]
	for s, seed := range k.seeds {
		op.FillPattern(k.part[:n], k.dtype, seed, k.at+done)
		for i := range totals {
			v := integerAt(k.part[i*size:], k.dtype)
			if s == 0 {
				totals[i] = v
				continue
			}
			totals[i] = combineIntegers(k.red, totals[i], v)
		}
	}
	for i, v := range totals {
		if k.red == op.Avg {
			v = wrapInteger(v, k.dtype) / int64(len(k.seeds))
		}
		putInteger(k.want[i*size:], k.dtype, v)
	}
}

func combineIntegers(red op.RedOp, a, b int64) int64 {
	switch red {
	case op.Prod:
		return a * b
	case op.Min:
		return min(a, b)
	case op.Max:
		return max(a, b)
	}
	return a + b
}

// expectFloats computes what n bytes from element first on must hold.
func (k *reducedCheck) expectFloats(first uint64, n int) {
	size := k.dtype.Size()
	if k.red == op.Prod || k.red == op.Avg {
		for i := range n / size {
			total, _ := k.reduce(first + uint64(i))
			op.PutNumber(k.want[i*size:], k.dtype, total)
		}
		return
	}
	totals := k.totals[:n/size] // of numbers from -8 to 7: no need for floats
	for s, seed := range k.seeds {
		for i := range totals {
			v := int64(op.PatternElement(seed, first+uint64(i)))
			if s == 0 {
				totals[i] = v
				continue
			}
			totals[i] = combineIntegers(k.red, totals[i], v)
		}
	}
	for i, v := range totals {
		putFloat(k.want[i*size:], k.dtype, v)
	}
}

// putFloat is op.PutNumber of a small whole number, without its roundings for
// the longer types, which have none to do.
func putFloat(b []byte, t op.Dtype, v int64) {
	switch t {
	case op.F32:
		put32(b, math.Float32bits(float32(v)))
	case op.F64:
		put64(b, math.Float64bits(float64(v)))
	default:
		op.PutNumber(b, t, float64(v))
	}
}

// reduce gives what an element must be, and a bound on the size of partial
// results in any order.
func (k *reducedCheck) reduce(element uint64) (total, bound float64) {
	for s, seed := range k.seeds {
		v := float64(op.PatternElement(seed, element))
		switch {
		case s == 0:
			total, bound = v, max(1, math.Abs(v))
		case k.red == op.Prod:
			total, bound = total*v, bound*max(1, math.Abs(v))
		case k.red == op.Min:
			total = min(total, v)
		case k.red == op.Max:
			total = max(total, v)
		default:
			total, bound = total+v, bound+math.Abs(v)
		}
	}
	if k.red == op.Avg {
		total /= float64(len(k.seeds))
	}
	return total, bound
}

// rounded reports whether the element at a byte of got, which is not what was
// expected, is so because of rounding: on the way, if a partial result may be
// too large for its type, or of an average.
func (k *reducedCheck) rounded(at int, element uint64) bool {
	if k.red == op.Min || k.red == op.Max {
		return false
	}
	got := numberAt(k.got[at:], k.dtype)
	want, bound := k.reduce(element)
	exact := exactIntegers(k.dtype)
	switch {
	case got == 0 && want == 0: // of either sign
		return true
	case bound <= exact && k.red != op.Avg:
		return false
	case bound > largest(k.dtype) && (math.IsInf(got, 0) || got != got): // overflow on the way
		return true
	}
	// Each step and the quotient may be off by half a unit of their results:
	// those of a sum may be larger than the sum, those of a product are not.
	size, roundings := math.Abs(want), 1.0
	if bound > exact {
		roundings += float64(len(k.seeds))
		if k.red != op.Prod {
			size = max(size, bound)
		}
	}
	return math.Abs(got-want) <= roundings*size*2/exact
}

func integerAt(b []byte, t op.Dtype) int64 {
	switch t {
	case op.U8:
		return int64(b[0])
	case op.I32:
		return int64(int32(get32(b)))
	}
	return int64(get64(b))
}

// wrapInteger is v as the type holds it.
func wrapInteger(v int64, t op.Dtype) int64 {
	switch t {
	case op.U8:
		return int64(uint8(v))
	case op.I32:
		return int64(int32(v))
	}
	return v
}

func putInteger(b []byte, t op.Dtype, v int64) {
	switch t {
	case op.U8:
		b[0] = byte(v)
	case op.I32:
		put32(b, uint32(v))
	default:
		put64(b, uint64(v))
	}
}

func largest(t op.Dtype) float64 {
	switch t {
	case op.F16:
		return 65504
	case op.BF16, op.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

func numberAt(b []byte, t op.Dtype) float64 {
	switch t {
	case op.F16:
		return float64(op.F32FromF16(get16(b)))
	case op.BF16:
		return float64(op.F32FromBF16(get16(b)))
	case op.F32:
		return float64(math.Float32frombits(get32(b)))
	}
	return math.Float64frombits(get64(b))
}
