package op_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// format describes a 16-bit float type for the oracle, which knows nothing of
// bit tricks: it computes values with math.Ldexp and rounds by search.
type format struct {
	dtype         op.Dtype
	fractionBits  int
	exponentBits  int
	widen         func(uint16) float32
	narrow        func(float32) uint16
	finite        []float64 // the values of the non-negative finite encodings, ascending
	overflowsFrom float64   // what rounds to infinity
}

func formats() []*format {
	list := []*format{
		{dtype: op.F16, fractionBits: 10, exponentBits: 5, widen: op.F32FromF16, narrow: op.F16FromF32},
		{dtype: op.BF16, fractionBits: 7, exponentBits: 8, widen: op.F32FromBF16, narrow: op.BF16FromF32},
	}
	for _, f := range list {
		infinity := uint16(1<<f.exponentBits-1) << f.fractionBits
		for h := range infinity {
			f.finite = append(f.finite, f.value(h))
		}
		largest, below := f.finite[infinity-1], f.finite[infinity-2]
		f.overflowsFrom = largest + (largest-below)/2
	}
	return list
}

// value is what the encoding h means, from the definition of the format.
func (f *format) value(h uint16) float64 {
	bias := 1<<(f.exponentBits-1) - 1
	fraction := float64(h & (1<<f.fractionBits - 1))
	exponent := int(h >> f.fractionBits & (1<<f.exponentBits - 1))
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	switch {
	case exponent == 1<<f.exponentBits-1 && fraction != 0:
		return math.NaN()
	case exponent == 1<<f.exponentBits-1:
		return sign * math.Inf(1)
	case exponent == 0:
		return sign * math.Ldexp(fraction, 1-bias-f.fractionBits)
	}
	return sign * math.Ldexp(float64(int(1)<<f.fractionBits)+fraction, exponent-bias-f.fractionBits)
}

// round is the naive oracle: the nearest of all values, the even encoding of
// two that are equally near. v is not a NaN.
func (f *format) round(v float64) uint16 {
	sign := uint16(0)
	if math.Signbit(v) {
		sign, v = 1<<15, -v
	}
	if v >= f.overflowsFrom {
		return sign | uint16(len(f.finite))
	}
	above := sort.SearchFloat64s(f.finite, v)
	if above == 0 {
		return sign
	}
	if above == len(f.finite) {
		return sign | uint16(above-1)
	}
	down, up := v-f.finite[above-1], f.finite[above]-v // exact: close numbers
	if down < up || down == up && (above-1)%2 == 0 {
		return sign | uint16(above-1)
	}
	return sign | uint16(above)
}

func TestWidenAndRoundTripEveryHalf(t *testing.T) {
	for _, f := range formats() {
		for i := range 1 << 16 {
			h := uint16(i)
			got, want := f.widen(h), f.value(h)
			if want != want {
				if got == got || f.widen(f.narrow(got)) == f.widen(f.narrow(got)) {
					t.Fatalf("%v %#04x: %v does not stay a NaN", f.dtype, h, got)
				}
				continue
			}
			if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
				t.Fatalf("%v %#04x widens to %v, want %v", f.dtype, h, got, want)
			}
			if back := f.narrow(got); back != h {
				t.Fatalf("%v %#04x comes back as %#04x", f.dtype, h, back)
			}
		}
	}
}

// TestNarrowBoundaries rounds, for every value of a format, the middle to the
// next value and the float32 numbers beside both.
func TestNarrowBoundaries(t *testing.T) {
	for _, f := range formats() {
		for i, v := range f.finite {
			middle := f.overflowsFrom
			if i+1 < len(f.finite) {
				middle = v + (f.finite[i+1]-v)/2
			}
			for _, at := range []float64{v, middle} {
				f.checkAround(t, float32(at))
			}
		}
	}
}

func (f *format) checkAround(t *testing.T, x float32) {
	t.Helper()
	for _, near := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32)} {
		for _, v := range []float32{near, -near} {
			if got, want := f.narrow(v), f.round(float64(v)); got != want {
				t.Fatalf("%v of %v (%#08x) is %#04x, want %#04x", f.dtype, v, math.Float32bits(v), got, want)
			}
		}
	}
}

func TestNarrowRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats() {
		for range 200_000 {
			v := math.Float32frombits(random.Uint32())
			got := f.narrow(v)
			if v != v {
				if wide := f.widen(got); wide == wide {
					t.Fatalf("%v of a NaN is %v", f.dtype, wide)
				}
				continue
			}
			if want := f.round(float64(v)); got != want {
				t.Fatalf("%v of %v is %#04x, want %#04x", f.dtype, v, got, want)
			}
		}
	}
}

// TestPutNumberRoundsOnce stores float64 numbers that lie so little beside the
// middle of two short ones that float32 cannot tell.
func TestPutNumberRoundsOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range formats() {
		for range 20_000 {
			i := random.IntN(len(f.finite) - 1)
			middle := f.finite[i] + (f.finite[i+1]-f.finite[i])/2
			for _, v := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.MaxFloat64)} {
				checkPut(t, f, v)
				checkPut(t, f, -v)
			}
		}
		checkPut(t, f, math.MaxFloat64)
		checkPut(t, f, math.SmallestNonzeroFloat64)
		checkPut(t, f, math.Inf(-1))
	}
}

func checkPut(t *testing.T, f *format, v float64) {
	t.Helper()
	var b [2]byte
	op.PutNumber(b[:], f.dtype, v)
	if got, want := binary.LittleEndian.Uint16(b[:]), f.round(v); got != want {
		t.Fatalf("%v of %v is stored as %#04x, want %#04x", f.dtype, v, got, want)
	}
}

func TestPutNumberOtherTypes(t *testing.T) {
	cases := []struct {
		dtype op.Dtype
		v     float64
		want  string
	}{
		{op.U8, 7, "\x07"},
		{op.U8, -8, "\xf8"},
		{op.I32, -8.9, "\xf8\xff\xff\xff"},
		{op.I64, -8, "\xf8\xff\xff\xff\xff\xff\xff\xff"},
		{op.F32, 1.5, "\x00\x00\xc0\x3f"},
		{op.F64, 1.5, "\x00\x00\x00\x00\x00\x00\xf8\x3f"},
	}
	for _, c := range cases {
		got := make([]byte, c.dtype.Size())
		op.PutNumber(got, c.dtype, c.v)
		if string(got) != c.want {
			t.Errorf("%v of %v is %x, want %x", c.dtype, c.v, got, c.want)
		}
	}
}
