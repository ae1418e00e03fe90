package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// TestCopy compares copies, apart and overlapping either way, forward and
// backward, with Go's.
func TestCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	memory := make([]byte, 2<<20)
	randomElements(r, memory, op.U8)
	for _, set := range sets() {
		for range 40 {
			size := r.IntN(1 << r.IntN(21))
			from := r.IntN(len(memory) - size)
			to := r.IntN(len(memory) - size)
			if r.IntN(2) == 0 {
				to = min(max(0, from+r.IntN(2*size+1)-size), len(memory)-size)
			}
			want := bytes.Clone(memory)
			copy(want[to:to+size], want[from:])
			dests, sources := [][]byte{memory[to : to+size]}, [][]byte{memory[from : from+size]}
			set.Combine(dests, sources, Task{Type: op.U8, Backward: r.IntN(2) == 0})
			if !bytes.Equal(memory, want) {
				t.Fatalf("%s: %d bytes from %d to %d went wrong", set.ISA, size, from, to)
			}
		}
	}
}

// TestLargeCombine runs through whole blocks, stretches and their edges.
func TestLargeCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dtype := range dtypes {
		for _, counts := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 2}, {8, 8}} {
			largeCase(t, r, dtype, counts[0], counts[1])
		}
	}
}

func largeCase(t *testing.T, r *rand.Rand, dtype op.Dtype, sourceCount, destCount int) {
	t.Helper()
	length := (150<<10 + r.IntN(5000)) &^ 7
	var sources [][]byte
	for range sourceCount {
		b := make([]byte, length)
		randomElements(r, b, dtype)
		sources = append(sources, b)
	}
	task := Task{Type: dtype, Red: op.Avg, Divisor: 3, Backward: r.IntN(2) == 0}
	want := make([]byte, length)
	define(want, sources, task)
	for _, set := range sets() {
		offset := 8 * r.IntN(8)
		var dests [][]byte
		for range destCount {
			dests = append(dests, make([]byte, length+64)[offset:][:length])
		}
		set.Combine(dests, sources, task)
		for i, d := range dests {
			if at, ok := equalElements(d, want, dtype); !ok {
				t.Fatalf("%s %s streaming from %d: destination %d of %d element %d differs", dtype, set.ISA, set.StreamBytes, i, destCount, at)
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	set := Set{Detect(), 1}
	a, b, c := make([]byte, 40000), make([]byte, 40000), make([]byte, 40000)
	for _, dtype := range dtypes {
		for _, size := range []int{8, 200, 40000} {
			allocated := testing.AllocsPerRun(10, func() {
				dests, sources := [1][]byte{a[:size]}, [2][]byte{b[:size], c[:size]}
				set.Combine(dests[:], sources[:], Task{Type: dtype, Red: op.Avg, Divisor: 2})
				set.Copy(a[:size], b[:size], 0)
			})
			if allocated != 0 {
				t.Errorf("%s of %d bytes allocates %v times", dtype, size, allocated)
			}
		}
	}
}
