// Package script makes a guest that carries out lists of operations, over and
// over, and tells how long each took: describe what all ranks do as a [Script],
// give [Script.Guest] to the runner and what it prints to [Results]. The same
// module runs on real ranks and on the simulator. [Ring] has the rings that
// workflows script, as such lists.
//
// It starts nothing and reads no clock: cmd/ccrun runs the guest.
package script

import "github.com/ccrun/ccrun/host/op"

// Script is what a number of ranks do, piece by piece.
type Script struct {
	Ranks  int
	Pieces []Piece
}

// Piece is a list of operations for each rank, which all ranks carry out
// Rounds times in each of Samples samples. Ranks meet before a sample, and the
// time of a sample is that of its rounds.
type Piece struct {
	Bytes   int64 // of the one buffer that each rank has, for this piece only
	Samples int
	Rounds  int
	Lists   [][]Op // by rank
}

// Op is an operation of a list.
type Op struct {
	Kind     op.Kind
	Peer     int // of a Signal or a Wait
	Slot     uint32
	Value    uint64 // of a Signal or a Wait, in the first round
	Raise    uint64 // by how much the value is more in each later round
	Dst, Src Place
	Second   Place // of a Reduce, whose other source is Src
	Bytes    int64
}

// Place is where something lies.
type Place struct {
	Of     Owner
	Offset int64
}

// Owner says whose buffer it is.
type Owner int

// The buffers that a rank has access to. Of two ranks, the previous one is the
// next one.
const (
	Own Owner = iota
	Prev
	Next
)

// Sample is what a rank measured.
type Sample struct {
	Piece, Rank, Number int
	Nanos               int64 // of all rounds
}

// prev is the rank whose buffer is Prev.
func (s *Script) prev(rank int) int { return (rank + s.Ranks - 1) % s.Ranks }

func (s *Script) next(rank int) int { return (rank + 1) % s.Ranks }
