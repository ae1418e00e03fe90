package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveHeap knows of each byte, in units of blockAlign, whether it is taken.
type naiveHeap []bool

// fits reports whether any aligned run of free units is long enough.
func (n naiveHeap) fits(bytes, align int64) bool {
	need := int(blockBytes(bytes) / blockAlign)
	for at := 0; at+need <= len(n); at += int(align / blockAlign) {
		if !slices.Contains(n[at:at+need], true) {
			return true
		}
	}
	return false
}

// mark takes or gives a block and reports whether it was wholly the other way.
func (n naiveHeap) mark(b block, taken bool) bool {
	part := n[b.offset/blockAlign : (b.offset+b.bytes)/blockAlign]
	ok := !slices.Contains(part, taken)
	for i := range part {
		part[i] = taken
	}
	return ok
}

// TestHeapAgainstNaive runs random takes and gives against a map of all bytes.
func TestHeapAgainstNaive(t *testing.T) {
	const heapBytes = 1 << 20
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		h, naive := newHeap(heapBytes), make(naiveHeap, heapBytes/blockAlign)
		var taken []block
		for range 400 {
			if len(taken) > 0 && random.IntN(5) < 2 {
				i := random.IntN(len(taken))
				if !naive.mark(taken[i], false) {
					t.Fatalf("seed %d: block %+v was free", seed, taken[i])
				}
				h.give(taken[i])
				taken = slices.Delete(taken, i, i+1)
				continue
			}
			bytes := 1 + random.Int64N(int64(1)<<random.IntN(19))
			b, ok := h.take(bytes)
			if want := naive.fits(bytes, blockAlignment(bytes)); ok != want {
				t.Fatalf("seed %d: take %d is %v, want %v", seed, bytes, ok, want)
			}
			if !ok {
				continue
			}
			if b.bytes < bytes || b.offset%blockAlignment(bytes) != 0 || !naive.mark(b, true) {
				t.Fatalf("seed %d: take %d gave %+v", seed, bytes, b)
			}
			taken = append(taken, b)
		}
		for _, b := range taken {
			h.give(b)
		}
		if len(h.free) != 1 || h.free[0].offset != 0 || h.free[0].bytes != heapBytes {
			t.Fatalf("seed %d: not whole again: %+v", seed, h.free)
		}
	}
}

// TestHeapDirt keeps apart what was given back dirty until it is joined.
func TestHeapDirt(t *testing.T) {
	h := newHeap(1 << 20)
	first, _ := h.take(100)
	second, _ := h.take(100)
	if first.dirty || second.dirty {
		t.Fatalf("fresh blocks are dirty: %+v %+v", first, second)
	}
	first.dirty = true
	h.give(first)
	if again, _ := h.take(100); !again.dirty || again.offset != 0 {
		t.Errorf("block %+v given back dirty came back clean", again)
	}
	h.give(first)
	h.give(second) // clean, but joined with what is dirty
	if all, _ := h.take(1 << 20); !all.dirty {
		t.Error("a block joined from a dirty one is clean")
	}
}
