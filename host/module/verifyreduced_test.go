package module

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/op"
)

// naive reduces the patterns of seeds in the given order and rounds, or wraps,
// after every step.
func naive(t op.Dtype, red op.RedOp, seeds []uint64, from int64, bytes int) []byte {
	size := t.Size()
	total := make([]byte, bytes)
	op.FillPattern(total, t, seeds[0], from)
	part := make([]byte, bytes)
	for _, seed := range seeds[1:] {
		op.FillPattern(part, t, seed, from)
		for at := 0; at < bytes; at += size {
			naiveStep(total[at:], part[at:], t, red)
		}
	}
	if red == op.Avg {
		for at := 0; at < bytes; at += size {
			naiveDivide(total[at:], t, len(seeds))
		}
	}
	return total
}

func isInteger(t op.Dtype) bool { return t == op.U8 || t == op.I32 || t == op.I64 }

func naiveStep(a, b []byte, t op.Dtype, red op.RedOp) {
	if isInteger(t) {
		x, y := integerAt(a, t), integerAt(b, t)
		putInteger(a, t, [...]int64{op.Sum: x + y, op.Prod: x * y, op.Min: min(x, y), op.Max: max(x, y), op.Avg: x + y}[red])
		return
	}
	x, y := numberAt(a, t), numberAt(b, t)
	op.PutNumber(a, t, [...]float64{op.Sum: x + y, op.Prod: x * y, op.Min: min(x, y), op.Max: max(x, y), op.Avg: x + y}[red])
}

func naiveDivide(a []byte, t op.Dtype, n int) {
	if isInteger(t) {
		putInteger(a, t, integerAt(a, t)/int64(n))
		return
	}
	op.PutNumber(a, t, numberAt(a, t)/float64(n))
}

// verifyReduced has a guest check a buffer and gives what it is told.
func (r *testRank) verifyReduced(stream uint64, data []byte, t op.Dtype, red op.RedOp, seeds []uint64, from int64) (mismatches uint64, firstBad int64) {
	r.t.Helper()
	buffer := r.alloc(uint64(len(data)))
	defer r.must("buffer_free", buffer)
	r.memory.Write(hotCallAt, data)
	r.must("buffer_write", buffer, 0, hotCallAt, uint64(len(data)))
	for n, seed := range seeds {
		r.memory.WriteUint64Le(dataAt+8*uint32(n), seed)
	}
	r.must("buffer_verify_reduced", stream, buffer, 0, uint64(len(data)), uint64(t), uint64(red), dataAt, uint64(len(seeds)), uint64(from), outAt)
	bad, _ := r.memory.ReadUint64Le(outAt + 8)
	return r.out(), int64(bad)
}

// Whatever the order of a reduction and however often it rounds, its result is
// accepted; the smallest change of an element that is exact is not.
func TestVerifyReduced(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	stream, random := r.newStream(), rand.New(rand.NewPCG(5, 6))
	for dtype := op.U8; dtype.Valid(); dtype++ {
		for red := op.Sum; red.Valid(); red++ {
			for _, count := range []int{1, 2, 3, 9, 40} {
				seeds := make([]uint64, count)
				for n := range seeds {
					seeds[n] = random.Uint64()
				}
				size := dtype.Size()
				from := int64(8 * random.IntN(1000))
				data := naive(dtype, red, seeds, from, 8*1000)
				random.Shuffle(count, func(i, j int) { seeds[i], seeds[j] = seeds[j], seeds[i] })
				if bad, first := r.verifyReduced(stream, data, dtype, red, seeds, from); bad != 0 || first != -1 {
					t.Fatalf("%v %v of %d: %d elements are refused, the first at %d", dtype, red, count, bad, first)
				}
				if red == op.Avg || red == op.Prod && count > 2 {
					continue // may be rounded
				}
				if count > 9 && (dtype == op.F16 || dtype == op.BF16) {
					continue // likewise
				}
				at := size * random.IntN(len(data)/size)
				data[at] ^= 1
				if bad, first := r.verifyReduced(stream, data, dtype, red, seeds, from); bad != 1 || first != int64(at) {
					t.Fatalf("%v %v of %d: element at %d is wrong, %d are found, the first at %d", dtype, red, count, at, bad, first)
				}
			}
		}
	}
}

// A result that is plainly wrong is found even where rounding is allowed for.
func TestVerifyReducedAllowsForRoundingOnly(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	stream, seeds := r.newStream(), []uint64{1, 2, 3}
	for _, dtype := range []op.Dtype{op.F16, op.BF16, op.F32, op.F64} {
		for _, red := range []op.RedOp{op.Avg, op.Prod} {
			data := naive(dtype, red, seeds, 0, 800)
			for at := 0; at < len(data); at += dtype.Size() {
				v := numberAt(data[at:], dtype)
				op.PutNumber(data[at:], dtype, math.Copysign(math.Abs(v)*1.05+1, v))
			}
			if bad, _ := r.verifyReduced(stream, data, dtype, red, seeds, 0); bad != uint64(len(data)/dtype.Size()) {
				t.Errorf("%v %v: %d of %d wrong elements are found", dtype, red, bad, len(data)/dtype.Size())
			}
		}
	}
}

func TestVerifyReducedRefuses(t *testing.T) {
	r := newLoneRank(t, newEngine(t, proxyModule()), 1)
	stream, buffer := r.newStream(), r.alloc(64)
	for _, c := range []struct {
		name                                          string
		offset, bytes, dtype, redop, seeds, count, at uint64
		want                                          abi.Errno
	}{
		{"no seeds", 0, 64, 5, 0, dataAt, 0, 0, abi.Invalid},
		{"too many seeds", 0, 64, 5, 0, dataAt, maxSeeds + 1, 0, abi.Invalid},
		{"seeds outside", 0, 64, 5, 0, dataAt, 1 << 31, 0, abi.Fault},
		{"bad operator", 0, 64, 5, 5, dataAt, 1, 0, abi.Invalid},
		{"bad type", 0, 64, 7, 0, dataAt, 1, 0, abi.Invalid},
		{"part of an element", 0, 63, 5, 0, dataAt, 1, 0, abi.Range},
		{"pattern from the middle of an element", 0, 64, 5, 0, dataAt, 1, 2, abi.Range},
		{"pattern past the end", 0, 64, 5, 0, dataAt, 1, math.MaxInt64 - 3, abi.Range},
		{"outside the buffer", 4, 64, 5, 0, dataAt, 1, 0, abi.Range},
		{"nothing", 64, 0, 5, 0, dataAt, 1, 0, abi.OK},
	} {
		errno, err := r.call("buffer_verify_reduced", stream, buffer, c.offset, c.bytes, c.dtype, c.redop, c.seeds, c.count, c.at, outAt)
		if err != nil || errno != c.want {
			t.Errorf("%s: %v, %v (%s), want %v", c.name, errno, err, r.LastError(), c.want)
		}
	}
}

// phantomBuffer has a size and no bytes.
type phantomBuffer struct{ op.Buffer }

func (phantomBuffer) Phantom() bool { return true }

// TestPhantomsAreNotVerified shows that nothing is found wrong in bytes that
// are not there, and nothing counted as looked at.
func TestPhantomsAreNotVerified(t *testing.T) {
	d := newFakeWorld(1, true).devices[0]
	recorder, err := newRecorder(t.TempDir(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	b, err := d.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	r := Reduction{Type: op.F32, Seeds: []uint64{1, 2}}
	if wrong, _, err := r.Verify(d, recorder, op.View{Buf: b}, 64); err != nil || wrong == 0 {
		t.Errorf("zeros that are there: %d wrong, %v", wrong, err)
	}
	looked := recorder.Counters().Verified
	wrong, first, err := r.Verify(d, recorder, op.View{Buf: phantomBuffer{b}}, 64)
	if wrong != 0 || first != -1 || err != nil || recorder.Counters().Verified != looked {
		t.Errorf("a phantom: %d wrong from %d on, %v", wrong, first, err)
	}
}
