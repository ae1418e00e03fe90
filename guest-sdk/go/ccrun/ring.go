package ccrun

// Ring is the ranks of the world in a circle, as one of them sees it.
type Ring struct {
	Rank, Size int
	Next, Prev int // the neighbours: data flows from Prev to this rank to Next
}

// Ring is the ring of all ranks, in order.
func (w *World) Ring() Ring { return NewRing(w.Rank(), w.Size()) }

// NewRing is the ring of size ranks as rank sees it.
func NewRing(rank, size int) Ring {
	return Ring{Rank: rank, Size: size, Next: (rank + 1) % size, Prev: (rank + size - 1) % size}
}

// Steps is how often data moves on before every rank has seen every chunk.
func (r Ring) Steps() int { return r.Size - 1 }

// Sends is the chunk that this rank passes on to Next in a step of an
// all-gather: its own first, then what it received in the step before.
func (r Ring) Sends(step int) int { return ((r.Rank-step)%r.Size + r.Size) % r.Size }

// Receives is the chunk that this rank receives from Prev in a step of an
// all-gather.
func (r Ring) Receives(step int) int { return r.Sends(step + 1) }

// Combines is the chunk that this rank combines with what it has received from
// Prev in a step of a reduce-scatter. After the last step it is the chunk of
// this rank's own number.
func (r Ring) Combines(step int) int { return r.Sends(step + 2) }
