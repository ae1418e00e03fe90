package script

import (
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// world carries lists out on numbers, one operation at a time, to see what comes
// of them.
type world struct {
	t       *testing.T
	lists   [][]Op
	buffers [][]float64
	slots   map[[3]int]uint64 // from, to, slot
	next    []int
}

const elementBytes = 4

func (w *world) run(round uint64) {
	w.next = make([]int, len(w.lists))
	for moved := true; moved; {
		moved = false
		for rank := range w.lists {
			for w.next[rank] < len(w.lists[rank]) && w.step(rank, &w.lists[rank][w.next[rank]], round) {
				w.next[rank]++
				moved = true
			}
		}
	}
	for rank := range w.lists {
		if w.next[rank] < len(w.lists[rank]) {
			w.t.Fatalf("round %d: rank %d waits for ever in operation %d", round, rank, w.next[rank])
		}
	}
}

// step does an operation unless it has to wait.
func (w *world) step(rank int, o *Op, round uint64) bool {
	value := o.Value + round*o.Raise
	switch o.Kind {
	case op.Wait:
		return w.slots[[3]int{o.Peer, rank, int(o.Slot)}] >= value
	case op.Signal:
		key := [3]int{rank, o.Peer, int(o.Slot)}
		w.slots[key] = max(w.slots[key], value)
		return true
	}
	to, from, second := w.place(rank, o.Dst), w.place(rank, o.Src), w.place(rank, o.Second)
	for i := range o.Bytes / elementBytes {
		to[i] = from[i]
		if o.Kind == op.Reduce {
			to[i] += second[i]
		}
	}
	return true
}

func (w *world) place(rank int, p Place) []float64 {
	n := len(w.lists)
	owner := [...]int{Own: rank, Prev: (rank + n - 1) % n, Next: (rank + 1) % n}[p.Of]
	return w.buffers[owner][p.Offset/elementBytes:]
}

// Two rounds of every ring leave each rank with what the definition of the
// collective says, whatever the shape.
func TestRings(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 7} {
		for _, elements := range []int64{1, 5, 64, 103} {
			for _, sliceBytes := range []int64{4, 32, 1 << 20} {
				testRing(t, op.AllReduce, ranks, elements, sliceBytes)
				testRing(t, op.AllGather, ranks, elements, sliceBytes)
			}
		}
	}
}

func testRing(t *testing.T, collective op.CollectiveOp, ranks int, elements, sliceBytes int64) {
	t.Helper()
	w := &world{t: t, lists: Ring(collective, ranks, elements*elementBytes, sliceBytes), slots: make(map[[3]int]uint64)}
	for round := range uint64(2) {
		w.buffers = nil
		want := make([]float64, elements)
		for rank := range ranks {
			own := make([]float64, elements)
			r := &ring{ranks: ranks, bytes: elements * elementBytes}
			offset, bytes := r.chunk(rank)
			for i := range own {
				own[i] = float64(1000*(rank+1) + i + int(round))
				mine := int64(i) >= offset/elementBytes && int64(i) < (offset+bytes)/elementBytes
				if collective == op.AllReduce || mine {
					want[i] += own[i]
				}
			}
			w.buffers = append(w.buffers, own)
		}
		w.run(round)
		for rank, got := range w.buffers {
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%v, %d ranks, %d elements in slices of %d bytes, round %d: rank %d has %v at %d, want %v", collective, ranks, elements, sliceBytes, round, rank, got[i], i, want[i])
				}
			}
		}
	}
}
