package coll

import "github.com/ccrun/ccrun/host/op"

// Slices of rings. The default is long enough that signals cost little and
// short enough that it stays in a core's cache.
const (
	sliceBytesDefault = 256 << 10
	// slicesMax, divided by the number of ranks, is how many slices a chunk has
	// at most: up to six steps belong to each at each rank. Longer slices are
	// taken instead.
	slicesMax = StepsMax / 8
)

// Flags of rings.
const (
	flagMade  = 0 // raised at the right neighbour: this slice is there
	flagTaken = 1 // raised at the left neighbour: its place may be used again
)

// lane is the way of slices around the ring: every chunk has the same number
// of slices, and slice k of step s is known as s*slices+k+1.
type lane struct {
	p      *planner
	length int64 // elements of a slice
	slices int64 // of a chunk
}

// lane cuts chunks of at most the given number of elements.
func (p *planner) lane(chunk int64) *lane {
	want := p.SliceBytes
	if want == 0 {
		want = sliceBytesDefault
	}
	most := int64(slicesMax / p.Ranks)
	length := max(want/p.size, (chunk+most-1)/most, 1)
	p.program.SliceBytes = length * p.size
	return &lane{p, length, max(1, (chunk+length-1)/length)}
}

// each calls f with the slices of a chunk that are not empty.
func (l *lane) each(chunk span, f func(k int64, piece span)) {
	for k := int64(0); k < l.slices && !l.p.full(); k++ {
		from := chunk.from + k*l.length
		if from >= chunk.to {
			return
		}
		f(k, span{from, min(from+l.length, chunk.to)})
	}
}

// tell lets the right neighbour know that slice k of step s is there, await
// waits for the left one's.
func (l *lane) tell(s int, k int64) {
	l.p.signal(l.p.right(), flagMade, int64(s)*l.slices+k+1)
}

func (l *lane) await(s int, k int64) {
	l.p.wait(l.p.left(), flagMade, int64(s)*l.slices+k+1)
}

func (l *lane) term(chunk, step int, k int64) op.Term {
	return op.Term{Chunk: uint32(chunk), Step: uint16(step), Slice: uint32(k), Message: uint32(k)}
}
