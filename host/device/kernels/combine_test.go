package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

var dtypes = []op.Dtype{op.U8, op.I32, op.I64, op.F16, op.BF16, op.F32, op.F64}

var redOps = []op.RedOp{op.Sum, op.Prod, op.Min, op.Max, op.Avg}

// sets are what this processor can execute, streaming and not.
func sets() (all []Set) {
	for isa := Portable; isa <= Detect(); isa++ {
		all = append(all, Set{isa, math.MaxInt64}, Set{isa, 1})
	}
	return all
}

// specials are bit patterns that a random element rarely has.
var specials = map[op.Dtype][]uint64{
	op.F16:  {0, 0x8000, 1, 0x83ff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x7bff, 0xfbff, 0x3c00},
	op.BF16: {0, 0x8000, 1, 0x807f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x7f7f, 0xff7f, 0x3f80},
	op.F32:  {0, 1 << 31, 1, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x7f7fffff, 0x00800000},
	op.F64:  {0, 1 << 63, 1, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0x7ff<<52 + 1, 1 << 52},
	op.U8:   {0, 255, 128},
	op.I32:  {0, 1 << 31, math.MaxUint32},
	op.I64:  {0, 1 << 63, math.MaxUint64},
}

// randomElements fills b with any bits, one element in four with a special.
func randomElements(r *rand.Rand, b []byte, t op.Dtype) {
	var word [8]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(word[:], r.Uint64())
		copy(b[i:], word[:])
	}
	size, list := t.Size(), specials[t]
	for i := r.IntN(4) * size; i < len(b); i += (1 + r.IntN(7)) * size {
		binary.LittleEndian.PutUint64(word[:], list[r.IntN(len(list))])
		copy(b[i:], word[:size])
	}
}

// equalElements compares bits; all that is not a number is equal.
func equalElements(a, b []byte, t op.Dtype) (int, bool) {
	if bytes.Equal(a, b) {
		return 0, true
	}
	for i := 0; i < len(a); i += t.Size() {
		x, y := a[i:i+t.Size()], b[i:i+t.Size()]
		if !bytes.Equal(x, y) && !(isNaN(x, t) && isNaN(y, t)) {
			return i / t.Size(), false
		}
	}
	return 0, true
}

func isNaN(b []byte, t op.Dtype) bool {
	switch t {
	case op.F16:
		return binary.LittleEndian.Uint16(b)&0x7fff > 0x7c00
	case op.BF16:
		return binary.LittleEndian.Uint16(b)&0x7fff > 0x7f80
	case op.F32:
		return binary.LittleEndian.Uint32(b)&0x7fffffff > 0x7f800000
	case op.F64:
		return binary.LittleEndian.Uint64(b)&(1<<63-1) > 0x7ff<<52
	}
	return false
}

// arena is memory of which parts at any offset are used; the rest must not
// change.
type arena struct{ all, before []byte }

const guard = 192

// part is a stretch at an odd offset, with guards around it.
func (a *arena) part(offset, bytes int) []byte { return a.all[guard+offset:][:bytes:bytes] }

func (a *arena) check(t *testing.T, offset, length int) {
	t.Helper()
	from := guard + offset
	to := from + length
	if !bytes.Equal(a.all[:from], a.before[:from]) || !bytes.Equal(a.all[to:], a.before[to:]) {
		t.Fatalf("bytes outside of %d bytes were written", length)
	}
}

// TestCombine compares every set with the definition: types, operators,
// numbers of sources and destinations, lengths, offsets, in place.
func TestCombine(t *testing.T) {
	for _, dtype := range dtypes {
		for _, red := range redOps {
			t.Run(fmt.Sprintf("%s/%s", dtype, red), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(dtype), uint64(red)))
				for sources := 1; sources <= op.MaxSources; sources++ {
					for dests := 1; dests <= op.MaxSources; dests++ {
						combineCase(t, r, dtype, red, sources, dests)
					}
				}
			})
		}
	}
}

// lengths are in elements; odd ones leave parts of vectors.
var lengths = []int{0, 1, 3, 7, 15, 16, 17, 31, 33, 63, 64, 127, 129, 511, 1000}

func combineCase(t *testing.T, r *rand.Rand, dtype op.Dtype, red op.RedOp, sourceCount, destCount int) {
	t.Helper()
	size := dtype.Size()
	elementCount := lengths[r.IntN(len(lengths))]
	if r.IntN(2) == 0 {
		elementCount = r.IntN(200)
	}
	length := elementCount * size
	var sources [][]byte
	for range sourceCount {
		b := make([]byte, length+64)[r.IntN(64):][:length]
		randomElements(r, b, dtype)
		sources = append(sources, b)
	}
	task := Task{Type: dtype, Red: red, Divisor: sourceCount + r.IntN(3)*100, Backward: r.IntN(2) == 0}
	want := make([]byte, length)
	define(want, sources, task)
	offset, apart := r.IntN(64), r.IntN(2)
	before := make([]byte, length+2*guard+128)
	randomElements(r, before, op.U8)
	for _, set := range sets() {
		in, arenas, dests := clone(sources), make([]*arena, destCount), make([][]byte, destCount)
		for i := range dests {
			arenas[i] = &arena{bytes.Clone(before), before}
			dests[i] = arenas[i].part(offset+apart*i, length)
		}
		inPlace := r.IntN(2) == 0
		if inPlace {
			copy(dests[0], in[sourceCount-1])
			in[sourceCount-1] = dests[0]
		}
		set.Combine(dests, in, task)
		for i := range dests {
			if at, ok := equalElements(dests[i], want, dtype); !ok {
				t.Fatalf("%s streaming from %d, %d sources, %d destinations, %d elements, in place %v, divisor %d: destination %d element %d is %x, want %x",
					set.ISA, set.StreamBytes, sourceCount, destCount, elementCount, inPlace, task.Divisor,
					i, at, dests[i][at*size:][:size], want[at*size:][:size])
			}
			arenas[i].check(t, offset+apart*i, length)
		}
	}
}

func clone(list [][]byte) (copies [][]byte) {
	for _, b := range list {
		copies = append(copies, bytes.Clone(b))
	}
	return copies
}

// TestEveryHalf combines every half with some others.
func TestEveryHalf(t *testing.T) {
	const count = 1 << 16
	every, other := make([]byte, 2*count), make([]byte, 2*count)
	got, want := make([]byte, 2*count), make([]byte, 2*count)
	for i := range count {
		binary.LittleEndian.PutUint16(every[2*i:], uint16(i))
	}
	for _, dtype := range []op.Dtype{op.F16, op.BF16} {
		r := rand.New(rand.NewPCG(5, uint64(dtype)))
		for _, red := range redOps {
			randomElements(r, other, dtype)
			task := Task{Type: dtype, Red: red, Divisor: 3}
			define(want, [][]byte{every, other}, task)
			for _, set := range sets() {
				set.Combine([][]byte{got}, [][]byte{every, other}, task)
				if at, ok := equalElements(got, want, dtype); !ok {
					t.Fatalf("%s %s %s: %#04x and %x make %x, want %x", set.ISA, dtype, red, at, other[2*at:][:2], got[2*at:][:2], want[2*at:][:2])
				}
			}
		}
	}
}
