package coll

import "github.com/ccrun/ccrun/host/op"

// Collective is one row of [All].
type Collective struct {
	Op         op.CollectiveOp
	Rooted     bool // has a root
	Reduces    bool // combines elements
	Algorithms []Variant

	// Parts of one rank that In and Out hold: 1, or as many as there are ranks.
	wholeIn, wholeOut bool
}

// Variant is an algorithm as one collective uses it.
type Variant struct {
	Algorithm Algorithm
	// slotBytes is what it needs of a slot; nil if that always fits.
	slotBytes func(s *Shape) int64
	// bytesMax is the size of the largest call whose program is short enough;
	// nil if all are.
	bytesMax func(s *Shape) int64
	inPlace  placing
	plan     func(p *planner)
}

// placing says which calls a variant can carry out.
type placing uint8

const (
	anywhere placing = iota
	apart            // not in place
	together         // only in place
)

// All lists the collectives, each with its algorithms.
var All = []Collective{
	{Op: op.AllReduce, Reduces: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: onePart, plan: allReduceOneshot},
		{Algorithm: Direct, bytesMax: combineBytesMax, plan: allReduceDirect},
		{Algorithm: Ring, plan: allReduceRing},
		{Algorithm: Doubling, slotBytes: doublingSlotBytes, plan: allReduceDoubling},
	}},
	{Op: op.AllGather, wholeOut: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: onePart, plan: allGatherOneshot},
		{Algorithm: Direct, plan: allGatherDirect},
		{Algorithm: Pull, plan: allGatherPull},
		{Algorithm: Ring, plan: allGatherRing},
	}},
	{Op: op.ReduceScatter, Reduces: true, wholeIn: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: everyPart, plan: reduceScatterOneshot},
		{Algorithm: Direct, bytesMax: combineBytesMax, plan: reduceScatterDirect},
		{Algorithm: Ring, bytesMax: beltBytesMax, plan: reduceScatterRing},
	}},
	{Op: op.Broadcast, Rooted: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: onePart, plan: broadcastOneshot},
		{Algorithm: Direct, plan: broadcastDirect},
		{Algorithm: Ring, plan: broadcastRing},
		{Algorithm: Tree, slotBytes: onePart, plan: broadcastTree},
	}},
	{Op: op.ReduceTo, Rooted: true, Reduces: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: onePart, plan: reduceOneshot},
		{Algorithm: Direct, bytesMax: combineBytesMax, plan: reduceDirect},
		{Algorithm: Ring, bytesMax: beltBytesMax, plan: reduceRing},
		{Algorithm: Tree, slotBytes: treeSlotBytes, plan: reduceTree},
	}},
	{Op: op.Gather, Rooted: true, wholeOut: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: onePart, plan: gatherOneshot},
		{Algorithm: Direct, plan: gatherDirect},
	}},
	{Op: op.Scatter, Rooted: true, wholeIn: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: everyPart, plan: scatterOneshot},
		{Algorithm: Direct, plan: scatterDirect},
	}},
	{Op: op.AllToAll, wholeIn: true, wholeOut: true, Algorithms: []Variant{
		{Algorithm: Oneshot, slotBytes: everyPart, plan: allToAllOneshot},
		{Algorithm: Direct, inPlace: apart, plan: allToAllDirect},
		{Algorithm: Swap, inPlace: together, bytesMax: swapBytesMax, plan: allToAllSwap},
	}},
	{Op: op.AllToAllV, Algorithms: []Variant{
		{Algorithm: Direct, inPlace: apart, plan: allToAllVDirect},
	}},
	{Op: op.BarrierAll, Algorithms: []Variant{
		{Algorithm: Oneshot, plan: barrierOneshot},
		{Algorithm: Doubling, plan: barrierDoubling},
	}},
}

// Of finds the row of a collective, nil if there is none.
func Of(c op.CollectiveOp) *Collective {
	for i := range All {
		if All[i].Op == c {
			return &All[i]
		}
	}
	return nil
}

// variant finds an algorithm of the collective, nil if it has no such one.
func (c *Collective) variant(a Algorithm) *Variant {
	for i := range c.Algorithms {
		if c.Algorithms[i].Algorithm == a {
			return &c.Algorithms[i]
		}
	}
	return nil
}

func onePart(s *Shape) int64   { return s.partBytes() }
func everyPart(s *Shape) int64 { return s.partBytes() * int64(s.Ranks) }
