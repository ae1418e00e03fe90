// Package coll plans collectives: [Plan] turns the shape of a call into the
// program of one rank, which a device then carries out. [All] lists the
// collectives and their algorithms, [Table.Select] chooses among them.
//
// The package is pure: no goroutine, no clock, no memory of its own. It knows
// nothing of addresses; programs name places in areas of ranks.
//
// # Order of reductions
//
// A program combines the same operands in the same order each time, so results
// are bit-identical from run to run and, within one call, on all ranks. With at
// most [op.MaxSources] ranks oneshot and direct give the same bits as each
// other, for all_reduce, reduce_scatter and reduce alike: one move reads all
// sources in rank order, half precision is rounded once. With more ranks they
// add eight sources, then seven at a time to the sum so far, still in rank
// order: the same bits as each other again, and the bits of a plain loop over
// the ranks for types that the device does not accumulate in a wider one.
//
// Ring adds chunk c from rank c+1 around to rank c (reduce: from the rank after
// the root around to the root), rounding at each step; all_reduce and
// reduce_scatter agree if both cut the vector into the same chunks. Doubling
// combines neighbouring halves of the ranks, tree the ranges of ranks below
// each node counted from the root: these agree with others only where the
// operator is exact.
package coll
