package script

import "github.com/ccrun/ccrun/host/op"

// Ring is the lists of a ring of ranks that pull from the previous one, slice
// by slice, as the workflows ring_allreduce and ring_allgather script it: of an
// [op.AllReduce] of vectors of so many bytes, or of an [op.AllGather] that gives
// as many in all. A slice moves on as soon as it is there, and a round ends when
// the next rank has ended it too.
func Ring(collective op.CollectiveOp, ranks int, bytes, sliceBytes int64) [][]Op {
	lists := make([][]Op, ranks)
	for rank := range lists {
		r := &ring{ranks: ranks, rank: rank, bytes: bytes, sliceBytes: sliceBytes, all: ranks - 1}
		if collective == op.AllReduce {
			r.reducing, r.all = ranks-1, 2*(ranks-1)
		}
		lists[rank] = r.list()
	}
	return lists
}

// Slots of a ring: one that a rank raises at the next one counts slices that it
// may pull, the other, at the previous one, rounds that have ended.
const (
	slotData = iota
	slotFree
)

type ring struct {
	ranks, rank       int
	bytes, sliceBytes int64
	reducing, all     int // steps
}

// received is the chunk that a rank receives in a step.
func (r *ring) received(rank, step int) int {
	n := r.ranks
	if step < r.reducing {
		return ((rank-step-2)%n + 2*n) % n
	}
	return ((rank-(step-r.reducing)-1)%n + 2*n) % n
}

// chunk is where a chunk lies: the elements of a vector evenly shared, earlier
// chunks with one more.
func (r *ring) chunk(number int) (offset, bytes int64) {
	const elementBytes = 4
	elements, n, i := r.bytes/elementBytes, int64(r.ranks), int64(number)
	each, more := elements/n, elements%n
	offset, bytes = i*each+min(i, more), each
	if i < more {
		bytes++
	}
	return offset * elementBytes, bytes * elementBytes
}

// slices is how many slices a chunk has at most.
func (r *ring) slices() int {
	_, bytes := r.chunk(0)
	return int(max(1, (bytes+r.sliceBytes-1)/r.sliceBytes))
}

func (r *ring) list() []Op {
	slices := r.slices()
	perRound := uint64(r.all * slices)
	next, prev := (r.rank+1)%r.ranks, (r.rank+r.ranks-1)%r.ranks
	signal := func(order int) Op {
		return Op{Kind: op.Signal, Peer: next, Slot: slotData, Value: uint64(order), Raise: perRound}
	}
	list := []Op{signal(slices)}
	for step := range r.all {
		for slice := range slices {
			order := step*slices + slice + 1
			list = append(list, Op{Kind: op.Wait, Peer: prev, Slot: slotData, Value: uint64(order), Raise: perRound})
			if o := r.move(step, slice); o.Bytes > 0 {
				list = append(list, o)
			}
			if step+1 < r.all {
				list = append(list, signal(order+slices))
			}
		}
	}
	return append(list,
		Op{Kind: op.Signal, Peer: prev, Slot: slotFree, Value: 1, Raise: 1},
		Op{Kind: op.Wait, Peer: next, Slot: slotFree, Value: 1, Raise: 1})
}

// move pulls a slice, or combines it with what is here.
func (r *ring) move(step, slice int) Op {
	offset, bytes := r.chunk(r.received(r.rank, step))
	start := min(int64(slice)*r.sliceBytes, bytes)
	own, theirs := Place{Own, offset + start}, Place{Prev, offset + start}
	o := Op{Kind: op.Get, Dst: own, Src: theirs, Bytes: min(r.sliceBytes, bytes-start)}
	if step < r.reducing {
		o.Kind, o.Src, o.Second = op.Reduce, own, theirs
	}
	return o
}
