// Package kernels moves and combines memory at the speed of memory: [New] says
// what this processor can do, [Set.Combine] combines up to eight sources into
// up to eight destinations in one pass, and [Set.Copy] copies.
//
// Results do not depend on the instructions. Sources are combined element by
// element from the first to the last; integers wrap; halves (f16, bf16) are
// combined in single precision and rounded once, to nearest, ties to even.
// Min and Max keep the first of equal values (so of zeros with different
// signs) and are not a number if any source is not. Which of the many encodings
// of "not a number" comes out is not specified; everything else is, bit by bit.
// An average is the sum divided by the divisor, truncated for integers.
//
// The vector kernels are assembly for amd64, written by package gen; every
// other processor uses the portable loops, which are also the definition.
//
// What it does not do: wait, allocate, or look at who owns the memory. A
// destination may be one of the sources, at the same address; other overlaps
// of the two are the caller's error.
package kernels

//go:generate go run ./gen/cmd .
