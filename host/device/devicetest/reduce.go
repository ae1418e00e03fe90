package devicetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var reduceCases = []testCase{
	{"reduce/every type and operator", reduceEvery},
	{"reduce/in place", reduceInPlace},
	{"reduce/peers", reducePeers},
}

var (
	dtypes = []op.Dtype{op.U8, op.I32, op.I64, op.F16, op.BF16, op.F32, op.F64}
	redOps = []op.RedOp{op.Sum, op.Prod, op.Min, op.Max, op.Avg}
)

// number reads element i of b as both an integer and a float.
func number(b []byte, t op.Dtype, i int) (whole uint64, real float64) {
	b = b[i*t.Size():]
	switch t {
	case op.U8:
		whole = uint64(b[0])
	case op.I32:
		whole = uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	case op.I64:
		whole = binary.LittleEndian.Uint64(b)
	case op.F16:
		real = float64(op.F32FromF16(binary.LittleEndian.Uint16(b)))
	case op.BF16:
		real = float64(op.F32FromBF16(binary.LittleEndian.Uint16(b)))
	case op.F32:
		real = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case op.F64:
		real = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return whole, real
}

// isWhole reports whether t is computed in integers, which wrap.
func isWhole(t op.Dtype) bool { return t == op.U8 || t == op.I32 || t == op.I64 }

// naiveReduce is the definition of a reduction, element by element.
func naiveReduce(sources [][]byte, t op.Dtype, red op.RedOp) []byte {
	size := t.Size()
	out := make([]byte, len(sources[0]))
	for i := range len(out) / size {
		if isWhole(t) {
			putWhole(out[i*size:], t, naiveWhole(sources, t, red, i))
			continue
		}
		_, sum := number(sources[0], t, i)
		for _, s := range sources[1:] {
			_, v := number(s, t, i)
			switch red {
			case op.Prod:
				sum *= v
			case op.Min:
				sum = min(sum, v)
			case op.Max:
				sum = max(sum, v)
			default:
				sum += v
			}
		}
		if red == op.Avg {
			sum /= float64(len(sources))
		}
		op.PutNumber(out[i*size:], t, sum)
	}
	return out
}

func naiveWhole(sources [][]byte, t op.Dtype, red op.RedOp, i int) int64 {
	first, _ := number(sources[0], t, i)
	sum := int64(first)
	for _, s := range sources[1:] {
		u, _ := number(s, t, i)
		v := int64(u)
		switch red {
		case op.Prod:
			sum *= v
		case op.Min:
			sum = min(sum, v)
		case op.Max:
			sum = max(sum, v)
		default:
			sum += v
		}
	}
	if red == op.Avg {
		var wrapped [8]byte // the sum is of the type, and wraps as it does
		putWhole(wrapped[:], t, sum)
		u, _ := number(wrapped[:], t, 0)
		sum = int64(u) / int64(len(sources))
	}
	return sum
}

func putWhole(b []byte, t op.Dtype, v int64) {
	switch t {
	case op.U8:
		b[0] = byte(v)
	case op.I32:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, uint64(v))
	}
}

// reduceEvery checks every type, operator and number of sources, at counts
// around the blocks that kernels work in and at unaligned offsets.
func reduceEvery(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	const countMax = 2051
	var buffers []op.Buffer
	for range op.MaxSources {
		buffers = append(buffers, r.alloc(countMax*8+16))
	}
	dst := r.alloc(countMax*8 + 16)
	for _, dtype := range dtypes {
		for k := 1; k <= op.MaxSources; k++ {
			for j, red := range redOps {
				count := []int64{0, 1, 511, 513, countMax}[(k+j)%5]
				offset := int64([]int{0, 1, 8}[(k+j)%3])
				for i, b := range buffers[:k] {
					numbers := make([]byte, countMax*dtype.Size())
					op.FillPattern(numbers, dtype, uint64(i)+7, 0)
					r.write(b, offset, numbers)
				}
				r.checkReduce(s, dst, buffers[:k], dtype, red, count*int64(dtype.Size()), offset)
			}
		}
	}
}

func (r *rank) checkReduce(s device.Stream, dst op.Buffer, from []op.Buffer, dtype op.Dtype, red op.RedOp, n, offset int64) {
	r.w.t.Helper()
	o := op.Op{Kind: op.Reduce, Type: dtype, Red: red, Bytes: n, Dst: at(dst, offset), SourceCount: uint8(len(from)), Peer: -1}
	var sources [][]byte
	want := r.read(dst)
	for i, b := range from {
		o.Sources[i] = at(b, offset)
		sources = append(sources, r.read(b)[offset:offset+n])
	}
	copy(want[offset:], naiveReduce(sources, dtype, red))
	r.must(s.Submit(&o))
	r.must(s.Sync(patience))
	if got := r.read(dst); !bytes.Equal(got, want) {
		r.failf("%s", firstDifference(got, want, fmt.Sprintf("%s of %d x %s, %d bytes at %d", red, len(from), dtype, n, offset)))
	}
}

func firstDifference(got, want []byte, what string) string {
	for i := range want {
		if got[i] != want[i] {
			return fmt.Sprintf("%s: byte %d is %#x, want %#x", what, i, got[i], want[i])
		}
	}
	return what
}

// reduceInPlace lets each source in turn be the destination.
func reduceInPlace(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	const count = 1500
	for _, dtype := range dtypes {
		for k := 1; k <= op.MaxSources; k++ {
			for place := range k {
				var from []op.Buffer
				for i := range k {
					b := r.alloc(int64(count * dtype.Size()))
					r.fill(b, dtype, uint64(i))
					from = append(from, b)
				}
				r.checkReduce(s, from[place], from, dtype, redOps[place%len(redOps)], from[place].Size(), 0)
				for _, b := range from {
					r.must(r.Free(b))
				}
			}
		}
	}
}

func (r *rank) fill(b op.Buffer, dtype op.Dtype, seed uint64) {
	r.w.t.Helper()
	bytes := make([]byte, b.Size())
	op.FillPattern(bytes, dtype, seed, 0)
	r.write(b, 0, bytes)
}

// reducePeers reads all ranks' buffers where they are.
func reducePeers(t *testing.T, open Open) {
	w := newWorld(t, open, 4)
	const bytes = 40_000
	w.each(func(r *rank) {
		mine := r.alloc(bytes)
		r.fill(mine, op.F32, uint64(r.n))
		all := r.share("b", mine)
		dst, s := r.alloc(bytes), r.stream()
		r.barrier()
		for _, red := range redOps {
			r.checkReduce(s, dst, all, op.F32, red, bytes, 0)
			all[r.n], mine = mine, all[r.n] // own memory by both its names
		}
		r.barrier()
	})
}
