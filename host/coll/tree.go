package coll

import "math/bits"

// Trees count ranks from the root. Rank v of a tree from the root down has the
// parent that lacks v's highest bit; of a tree towards the root, the one that
// lacks v's lowest bit, so that each subtree is a range of ranks.

// fromRoot is this rank's number counted from the root.
func (p *planner) fromRoot() int { return p.around(p.rank - p.Root) }

// nth is the rank with that number.
func (p *planner) nth(v int) int { return p.around(v + p.Root) }

// childrenDown are the ranks below v in a tree from the root down.
func (p *planner) childrenDown(v int) []int {
	var below []int
	for j := bits.Len(uint(v)); v+1<<j < p.Ranks; j++ {
		below = append(below, v+1<<j)
	}
	return below
}

// childrenUp are the ranks below v in a tree towards the root.
func (p *planner) childrenUp(v int) []int {
	var below []int
	for j := 0; v>>j&1 == 0 && v+1<<j < p.Ranks; j++ {
		below = append(below, v+1<<j)
	}
	return below
}

func parentDown(v int) int { return v &^ (1 << (bits.Len(uint(v)) - 1)) }
func parentUp(v int) int   { return v & (v - 1) }
