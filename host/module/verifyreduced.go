package module

import (
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
	exact    float64
	got      [verifyBlockElements * 8]byte
	want     [verifyBlockElements * 8]byte
	part     [verifyBlockElements * 8]byte
	total    [verifyBlockElements]float64
	integers [verifyBlockElements]int64
	bound    [verifyBlockElements]float64 // on what partial results can be, in size
	mismatch int64
	firstBad int64
}

// bufferVerifyReduced waits for the stream, reads the region and writes how
// many elements differ from the reduction and where the first does. invalid:
// no seeds, or too many; unsupported: a region that this device cannot read.
func bufferVerifyReduced(c *call) error {
	v, bytes := op.View{Buf: c.buffer[0], Off: c.int64(2)}, c.int64(3)
	check := &reducedCheck{dtype: op.Dtype(c.uint32(4)), red: op.RedOp(c.uint32(5)), at: c.int64(8), firstBad: -1}
	if err := check.accept(c.in, v, bytes); err != nil {
		return err
	}
	if err := c.stream.Sync(device.Forever); err != nil {
		return err
	}
	size := int64(check.dtype.Size())
	for done := int64(0); done < bytes; {
		n := min(bytes-done, verifyBlockElements*size)
		if err := c.config.Device.Read(check.got[:n], op.View{Buf: v.Buf, Off: v.Off + done}); err != nil {
			return err
		}
		check.block(done, int(n))
		done += n
	}
	c.config.Recorder.CountVerified(bytes, check.mismatch)
	put64(c.out[0], uint64(check.mismatch))
	put64(c.out[0][8:], uint64(check.firstBad))
	return nil
}

func (k *reducedCheck) accept(seeds []byte, v op.View, bytes int64) error {
	size := int64(k.dtype.Size())
	switch count := len(seeds) / 8; {
	case count == 0 || count > maxSeeds:
		return refuse(abi.Invalid, "seeds: %d, not 1 to %d", count, maxSeeds)
	case bytes%size != 0 || k.at%size != 0 || k.at > math.MaxInt64-bytes:
		return refuse(abi.Range, "%d bytes from byte %d on are not whole elements of type %v", bytes, k.at, k.dtype)
	}
	for ; len(seeds) > 0; seeds = seeds[8:] {
		k.seeds = append(k.seeds, get64(seeds))
	}
	k.exact = exactIntegers(k.dtype)
	return checkView(v, bytes)
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
	if k.dtype == op.U8 || k.dtype == op.I32 || k.dtype == op.I64 {
		k.expectIntegers(done, n)
	} else {
		k.expectFloats(done, n)
	}
	for i := range n / size {
		at := i * size
		if string(k.got[at:at+size]) == string(k.want[at:at+size]) || k.close(i) {
			continue
		}
		if k.firstBad < 0 {
			k.firstBad = done + int64(at)
		}
		k.mismatch++
	}
}

// expectIntegers computes what the region must hold; sums and products wrap.
func (k *reducedCheck) expectIntegers(done int64, n int) {
	size := k.dtype.Size()
	for s, seed := range k.seeds {
		op.FillPattern(k.part[:n], k.dtype, seed, k.at+done)
		for i := range n / size {
			v := integerAt(k.part[i*size:], k.dtype)
			if s == 0 {
				k.integers[i] = v
				continue
			}
			k.integers[i] = combineIntegers(k.red, k.integers[i], v)
		}
	}
	for i := range n / size {
		v := k.integers[i]
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

// expectFloats computes what the region must hold, and for each element a
// bound on the partial results in any order.
func (k *reducedCheck) expectFloats(done int64, n int) {
	size := k.dtype.Size()
	first := uint64(k.at+done) / uint64(size)
	for i := range n / size {
		total, bound := 0.0, 0.0
		for s, seed := range k.seeds {
			v := float64(op.PatternElement(seed, first+uint64(i)))
			if s == 0 {
				total, bound = v, max(1, math.Abs(v))
				continue
			}
			total, bound = combineFloats(k.red, total, bound, v)
		}
		if k.red == op.Avg {
			total /= float64(len(k.seeds))
		}
		k.total[i], k.bound[i] = total, bound
		op.PutNumber(k.want[i*size:], k.dtype, total)
	}
}

func combineFloats(red op.RedOp, total, bound, v float64) (float64, float64) {
	switch red {
	case op.Prod:
		return total * v, bound * max(1, math.Abs(v))
	case op.Min:
		return min(total, v), 1
	case op.Max:
		return max(total, v), 1
	}
	return total + v, bound + math.Abs(v)
}

// close reports whether element i, which is not what was expected, is so
// because of rounding: on the way if a partial result may be too large for its
// type, or of an average.
func (k *reducedCheck) close(i int) bool {
	if k.dtype == op.U8 || k.dtype == op.I32 || k.dtype == op.I64 || k.red == op.Min || k.red == op.Max {
		return false
	}
	got, want := numberAt(k.got[i*k.dtype.Size():], k.dtype), k.total[i]
	if got == 0 && want == 0 {
		return true // of either sign
	}
	roundings := 1.0 // of the quotient
	if k.bound[i] > k.exact {
		roundings += float64(len(k.seeds))
	} else if k.red != op.Avg {
		return false
	}
	if limit := largest(k.dtype); k.bound[i] > limit && (math.IsInf(got, 0) || got != got) {
		return true // overflow on the way
	}
	return math.Abs(got-want) <= roundings*max(math.Abs(want), k.slack(i))*2/k.exact
}

// slack is the size of partial results that may have been rounded: those of a
// sum may be larger than the sum, those of a product are not in general.
func (k *reducedCheck) slack(i int) float64 {
	if k.red == op.Prod || k.bound[i] <= k.exact {
		return 0
	}
	return k.bound[i]
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
