package coll

import "github.com/ccrun/ccrun/host/op"

// belt is the way of partial sums around the ring through slots: each rank's
// slot holds two slices, which its right neighbour reads in turn.
type belt struct {
	p      *planner
	length int64 // elements of a slice
	slices int64
	total  int64 // slices that a rank leaves for the next one in all
}

const beltHalfBytes = op.SlotBytesMax / 2

// beltBytesMax is of calls: five steps for each slice of a part.
func beltBytesMax(*Shape) int64 { return StepsMax / 5 * beltHalfBytes / 2 }

// belt cuts a part of the given number of elements. Slices are never longer
// than half a slot, nor so short that they are very many. A rank leaves each of them for the next one so many times.
func (p *planner) belt(count int64, times int) *belt {
	bytes := int64(beltHalfBytes)
	if want := p.SliceBytes; want > 0 && count*p.size/want < slicesMax/int64(p.Ranks) {
		bytes = min(bytes, want)
	}
	length := max(bytes/p.size, 1)
	p.program.SliceBytes = length * p.size
	slices := (count + length - 1) / length
	return &belt{p, length, slices, slices * int64(times)}
}

// passing is one slice at one rank: read the sum so far at the left neighbour,
// add this rank's own and leave it for the right one.
type passing struct {
	piece  span  // elements of the part
	at     int64 // where the part begins in the inputs
	k      int64 // slice
	chunk  int
	step   int   // from 1: how many ranks have added before
	steps  int   // the last step stores the result
	number int64 // how many slices this rank has left for the right one before
	from   int64 // likewise of the left one, when it left this slice
}

// place is where a rank leaves the slice of that number.
func (b *belt) place(rank int, number, bytes int64) op.Place {
	return b.p.slot(rank, number%2*beltHalfBytes, bytes)
}

func (b *belt) pass(t passing) {
	p, bytes := b.p, t.piece.count()*b.p.size
	source := p.in(p.left(), t.at+t.piece.from)
	if t.step > 1 {
		p.wait(p.left(), flagMade, t.from+1)
		source = b.place(p.left(), t.from, bytes)
	}
	last, dest := t.step == t.steps, p.out(p.rank, t.piece.from)
	if !last {
		dest = b.place(p.rank, t.number, bytes)
		if t.number >= 2 {
			p.wait(p.right(), flagTaken, t.number-1)
		}
	}
	p.move([]op.Place{source, p.in(p.rank, t.at+t.piece.from)}, []op.Place{dest}, bytes, last,
		op.Term{Chunk: uint32(t.chunk), Step: uint16(t.step - 1), Slice: uint32(t.k), Message: uint32(t.k)})
	if t.step > 1 && t.from+2 < b.total { // the left rank wants to leave one more there
		p.signal(p.left(), flagTaken, t.from+1)
	}
	if !last {
		p.signal(p.right(), flagMade, t.number+1)
	}
}
