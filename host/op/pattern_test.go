package op_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

var everyDtype = []op.Dtype{op.U8, op.I32, op.I64, op.F16, op.BF16, op.F32, op.F64}

// naivePattern is the pattern by its definition, one byte or element at a time.
func naivePattern(t op.Dtype, seed uint64, start int64, count int) []byte {
	out := make([]byte, count)
	for i := 0; i < count; i += t.Size() {
		at := uint64(start) + uint64(i)
		if t == op.U8 {
			out[i] = byte(splitMix(seed, at/8) >> (at % 8 * 8))
			continue
		}
		number := int(splitMix(seed, at/uint64(t.Size()))>>60) - 8
		op.PutNumber(out[i:], t, float64(number))
	}
	return out
}

// splitMix is output i of the generator SplitMix64 with the given seed.
func splitMix(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func TestFillPatternIsItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, dtype := range everyDtype {
		size := dtype.Size()
		for elements := range 80 {
			seed, start := random.Uint64(), random.Int64N(1<<40)/8*int64(size)
			got := make([]byte, elements*size)
			op.FillPattern(got, dtype, seed, start)
			if want := naivePattern(dtype, seed, start, len(got)); !bytes.Equal(got, want) {
				t.Fatalf("%v seed %d start %d: %x, want %x", dtype, seed, start, got, want)
			}
		}
	}
}

// TestFillPatternInParts fills a region in random parts and in one go.
func TestFillPatternInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, dtype := range everyDtype {
		for range 200 {
			size := dtype.Size()
			seed, start := random.Uint64(), random.Int64N(100)*int64(size)
			whole, parts := make([]byte, random.IntN(200)*size), []byte(nil)
			op.FillPattern(whole, dtype, seed, start)
			for len(parts) < len(whole) {
				part := make([]byte, min((1+random.IntN(50))*size, len(whole)-len(parts)))
				op.FillPattern(part, dtype, seed, start+int64(len(parts)))
				parts = append(parts, part...)
			}
			if !bytes.Equal(whole, parts) {
				t.Fatalf("%v seed %d start %d: in parts %x, in one go %x", dtype, seed, start, parts, whole)
			}
			if n, at := op.VerifyPattern(parts, dtype, seed, start); n != 0 || at != -1 {
				t.Fatalf("%v seed %d start %d: verify finds %d differences, the first at %d", dtype, seed, start, n, at)
			}
		}
	}
}

// TestTypedPatternIsSmallWholeNumbers reads the elements back.
func TestTypedPatternIsSmallWholeNumbers(t *testing.T) {
	const count = 4096
	for _, dtype := range everyDtype[1:] {
		region := make([]byte, count*dtype.Size())
		op.FillPattern(region, dtype, 9, 0)
		seen := make(map[float64]int)
		for i := range uint64(count) {
			v := number(region[int(i)*dtype.Size():], dtype)
			if want := float64(op.PatternElement(9, i)); v != want {
				t.Fatalf("%v element %d is %v, want %v", dtype, i, v, want)
			}
			seen[v]++
		}
		for v := -8.0; v <= 7; v++ {
			if n := seen[v]; n < count/32 || n > count/8 {
				t.Errorf("%v: %v occurs %d times of %d, about 1 in 16 is expected", dtype, v, n, count)
			}
			delete(seen, v)
		}
		if len(seen) != 0 {
			t.Errorf("%v: unexpected numbers %v", dtype, seen)
		}
	}
}

func number(b []byte, t op.Dtype) float64 {
	switch t {
	case op.I32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case op.I64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case op.F16:
		return float64(op.F32FromF16(binary.LittleEndian.Uint16(b)))
	case op.BF16:
		return float64(op.F32FromBF16(binary.LittleEndian.Uint16(b)))
	case op.F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// TestVerifyPatternFindsEveryDifference plants one difference at each byte of
// a region in turn.
func TestVerifyPatternFindsEveryDifference(t *testing.T) {
	for _, dtype := range everyDtype {
		size := int64(dtype.Size())
		for _, start := range []int64{0, size, 5 * size} {
			region := make([]byte, 40*size)
			op.FillPattern(region, dtype, 11, start)
			for i := range region {
				region[i] ^= 0x10
				n, at := op.VerifyPattern(region, dtype, 11, start)
				if want := int64(i) / size * size; n != 1 || at != want {
					t.Fatalf("%v start %d: byte %d differs: %d found, first at %d, want 1 at %d", dtype, start, i, n, at, want)
				}
				region[i] ^= 0x10
			}
		}
	}
}

// TestVerifyPatternCounts plants many differences in a long region.
func TestVerifyPatternCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 13))
	for _, dtype := range everyDtype {
		size := int64(dtype.Size())
		region := make([]byte, 10_000*size)
		start := 3 * size
		op.FillPattern(region, dtype, 14, start)
		bad, first := make(map[int64]bool), int64(len(region))
		for range 1 + random.IntN(3000) {
			i := random.Int64N(int64(len(region))) / size * size
			if !bad[i] {
				region[i]++
			}
			bad[i], first = true, min(first, i)
		}
		if n, at := op.VerifyPattern(region, dtype, 14, start); n != int64(len(bad)) || at != first {
			t.Errorf("%v: %d found, first at %d, want %d at %d", dtype, n, at, len(bad), first)
		}
		if n, at := op.VerifyPattern(make([]byte, 64*size), op.U8, 14, 0); at != 0 || n < 60*size {
			t.Errorf("%v: of %d zeros %d differ, first at %d", dtype, 64*size, n, at)
		}
	}
}

func TestPatternDoesNotAllocate(t *testing.T) {
	region := make([]byte, 4096)
	for _, dtype := range everyDtype {
		n := testing.AllocsPerRun(10, func() {
			op.FillPattern(region, dtype, 1, 0)
			op.VerifyPattern(region, dtype, 2, 0)
			op.DigestBytes(region)
		})
		if n != 0 {
			t.Errorf("%v: %v allocations", dtype, n)
		}
	}
}

func BenchmarkPattern(b *testing.B) {
	for _, dtype := range []op.Dtype{op.U8, op.F16, op.F32, op.F64} {
		for _, size := range []int{64, 1 << 20} {
			region := make([]byte, size)
			op.FillPattern(region, dtype, 1, 0)
			b.Run(fmt.Sprintf("fill/%v/%d", dtype, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					op.FillPattern(region, dtype, 1, 0)
				}
			})
			b.Run(fmt.Sprintf("verify/%v/%d", dtype, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					op.VerifyPattern(region, dtype, 1, 0)
				}
			})
		}
	}
}
