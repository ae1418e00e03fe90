package module

import (
	"bytes"
	"math"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// maxSeeds is how many patterns one buffer_verify_reduced may combine.
const maxSeeds = 4096

// verifyBlockElements is how many elements are looked at in one go.
const verifyBlockElements = 4096

// Reduction is what a region of a buffer must hold: the reduction of the
// patterns of several seeds, from a byte of the pattern on.
type Reduction struct {
	Type  op.Dtype
	Red   op.RedOp
	Seeds []uint64
	At    int64 // first byte of the pattern
}

// Verify counts the elements of bytes at v that are wrong, for the recorder,
// too, and says where the first is, -1 if none. Nothing may be writing there.
func (r Reduction) Verify(d device.Device, recorder *flight.Writer, v op.View, bytes int64) (mismatches, firstBad int64, err error) {
	check := &reducedCheck{Reduction: r, firstBad: -1}
	if err := check.accept(v, bytes); err != nil {
		return 0, -1, err
	}
	return check.run(d, recorder, v, bytes)
}

// reducedCheck compares a region with a reduction of patterns, block by block.
type reducedCheck struct {
	Reduction
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
	check := &reducedCheck{Reduction: Reduction{Type: op.Dtype(c.uint32(4)), Red: op.RedOp(c.uint32(5)), At: c.int64(8)}, firstBad: -1}
	for seeds := c.in[:min(len(c.in), 8*maxSeeds+8)]; len(seeds) > 0; seeds = seeds[8:] { // one too many is enough to refuse
		check.Seeds = append(check.Seeds, get64(seeds))
	}
	if err := check.accept(v, length); err != nil {
		return err
	}
	if err := c.stream.Sync(device.Forever); err != nil {
		return err
	}
	mismatches, firstBad, err := check.run(c.config.Device, c.config.Recorder, v, length)
	if err != nil {
		return err
	}
	put64(c.out[0], uint64(mismatches))
	put64(c.out[0][8:], uint64(firstBad))
	return nil
}

// run reads the region and looks at all of it. There is nothing to see of a
// phantom.
func (k *reducedCheck) run(d device.Device, recorder *flight.Writer, v op.View, length int64) (mismatches, firstBad int64, err error) {
	if device.IsPhantom(v.Buf) {
		return 0, -1, nil
	}
	size := int64(k.Type.Size())
	for done := int64(0); done < length; {
		n := min(length-done, verifyBlockElements*size)
		if err := d.Read(k.got[:n], op.View{Buf: v.Buf, Off: v.Off + done}); err != nil {
			return 0, -1, err
		}
		k.block(done, int(n))
		done += n
	}
	recorder.CountVerified(length, k.mismatch)
	return k.mismatch, k.firstBad, nil
}

func (k *reducedCheck) accept(v op.View, length int64) error {
	size := int64(k.Type.Size())
	switch count := len(k.Seeds); {
	case count == 0 || count > maxSeeds:
		return refuse(abi.Invalid, "seeds: %d, not 1 to %d", count, maxSeeds)
	case length%size != 0 || k.At%size != 0 || k.At > math.MaxInt64-length:
		return refuse(abi.Range, "%d bytes from byte %d on are not whole elements of type %v", length, k.At, k.Type)
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
	size := k.Type.Size()
	first := uint64(k.At+done) / uint64(size)
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
	return k.Type == op.U8 || k.Type == op.I32 || k.Type == op.I64
}

// expectIntegers computes what the region must hold; sums and products wrap.
func (k *reducedCheck) expectIntegers(done int64, n int) {
	size := k.Type.Size()
	totals := k.totals[:n/size]
	for s, seed := range k.Seeds {
		op.FillPattern(k.part[:n], k.Type, seed, k.At+done)
		for i := range totals {
			v := integerAt(k.part[i*size:], k.Type)
			if s == 0 {
				totals[i] = v
				continue
			}
			totals[i] = combineIntegers(k.Red, totals[i], v)
		}
	}
	for i, v := range totals {
		if k.Red == op.Avg {
			v = wrapInteger(v, k.Type) / int64(len(k.Seeds))
		}
		putInteger(k.want[i*size:], k.Type, v)
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
	size := k.Type.Size()
	if k.Red == op.Prod || k.Red == op.Avg {
		for i := range n / size {
			total, _ := k.reduce(first + uint64(i))
			op.PutNumber(k.want[i*size:], k.Type, total)
		}
		return
	}
	totals := k.totals[:n/size] // of numbers from -8 to 7: no need for floats
	for s, seed := range k.Seeds {
		for i := range totals {
			v := int64(op.PatternElement(seed, first+uint64(i)))
			if s == 0 {
				totals[i] = v
				continue
			}
			totals[i] = combineIntegers(k.Red, totals[i], v)
		}
	}
	for i, v := range totals {
		putFloat(k.want[i*size:], k.Type, v)
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
	for s, seed := range k.Seeds {
		v := float64(op.PatternElement(seed, element))
		switch {
		case s == 0:
			total, bound = v, max(1, math.Abs(v))
		case k.Red == op.Prod:
			total, bound = total*v, bound*max(1, math.Abs(v))
		case k.Red == op.Min:
			total = min(total, v)
		case k.Red == op.Max:
			total = max(total, v)
		default:
			total, bound = total+v, bound+math.Abs(v)
		}
	}
	if k.Red == op.Avg {
		total /= float64(len(k.Seeds))
	}
	return total, bound
}

// rounded reports whether the element at a byte of got, which is not what was
// expected, is so because of rounding: on the way, if a partial result may be
// too large for its type, or of an average.
func (k *reducedCheck) rounded(at int, element uint64) bool {
	if k.Red == op.Min || k.Red == op.Max {
		return false
	}
	got := numberAt(k.got[at:], k.Type)
	want, bound := k.reduce(element)
	exact := exactIntegers(k.Type)
	switch {
	case got == 0 && want == 0: // of either sign
		return true
	case bound <= exact && k.Red != op.Avg:
		return false
	case bound > largest(k.Type) && (math.IsInf(got, 0) || got != got): // overflow on the way
		return true
	}
	// Each step and the quotient may be off by half a unit of their results:
	// those of a sum may be larger than the sum, those of a product are not.
	size, roundings := math.Abs(want), 1.0
	if bound > exact {
		roundings += float64(len(k.Seeds))
		if k.Red != op.Prod {
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
