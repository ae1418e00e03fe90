// Package reshard plans how tensors get from the ranks that hold them to those
// that are to: M-to-N redistribution of sharded, replicated and partial tensors
// between meshes of one to three dimensions, which may be equal, overlap or
// have no rank in common.
//
// Say with a [Layout] which part of a tensor each rank of a [Mesh] holds, with
// a [Move] from which layout to which a tensor goes, and give all moves to
// [New]. Every rank makes the plan of all ranks, from the same arguments, and
// so they all get the same entries in the same order; [Plan.Describe] shows one
// in a line. What a rank has to allocate is [Layout.Local] of each tensor, or [Plan.SourceOffsets]
// and [Plan.TargetOffsets] for one buffer that holds all of them.
//
// The package computes with numbers and nothing else: it neither sends nor
// allocates. [Entry.Pipeline] is an entry as a bucket pipeline takes it, which
// compares the entries of all ranks before it moves anything.
//
// # Cells
//
// A tensor is cut, in each dimension, wherever a shard of its source or of its
// target layout ends, so a cell lies in exactly one shard of either, whatever
// does not divide. Every rank that has the cell could be its source. One that
// also needs it copies its own. The others get it from a rank of their node if
// one has it ([Options.RanksPerNode]), and else from any; among those that are
// as near, from the one that has the fewest bytes to send so far.
//
// Partial tensors are reduced before they travel. A group of ranks holds the
// parts of a cell, all combinations of its partial mesh dimensions together.
// One of them adds up for all destinations, preferably one that is a
// destination itself, then one on a destination's node, then the one with the
// fewest bytes to send so far.
package reshard

// Move takes a tensor from one layout to another.
type Move struct {
	Tensor Tensor
	Source Layout
	Target Layout // no dimension of it is partial
}

// Moves is one for each tensor, all between the same layouts.
func Moves(source, target Layout, tensors []Tensor) []Move {
	moves := make([]Move, len(tensors))
	for i, t := range tensors {
		moves[i] = Move{Tensor: t, Source: source, Target: target}
	}
	return moves
}

// Split says what becomes of a cell that several ranks are to get from others.
// One that is made of parts is never split, for it would be added up as often.
type Split uint8

// How it is sent.
const (
	// Whole is one entry to all that are on nodes without a source, and one for
	// each node with a source.
	Whole Split = iota
	// PerNode is an entry for each node with destinations.
	PerNode
	// PerRank is an entry for each destination.
	PerRank
)

// Options is what a plan is free to choose. All ranks give the same.
type Options struct {
	MaxEntryBytes int64 // cells are cut into entries of at most so many bytes, or one element; 0 for no limit
	RanksPerNode  int   // ranks 0 to RanksPerNode-1 are on one node, and so on; 0 for all on one
	Split         Split
}

// Plan is the entries that carry moves out, sorted by tensor, cell, source and
// first destination. The cells of a tensor cover it: each rank of the target
// layout gets each element of its part once.
type Plan struct {
	Moves   []Move
	Options Options
	Entries []Entry
}
