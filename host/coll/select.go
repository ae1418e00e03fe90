package coll

import "github.com/ccrun/ccrun/host/op"

// Rule recommends an algorithm for calls of a collective up to a number of
// ranks and a size. A zero limit is none.
type Rule struct {
	Collective op.CollectiveOp
	RanksMax   int
	BytesMax   int64 // as nccl-tests counts; see [Shape.Bytes]
	Algorithm  Algorithm
}

// Table is a list of rules. The first that applies counts.
type Table []Rule

// DefaultTable is what is used without calibration. Slots save one of two
// synchronisations for a second copy, so they are for what fits into the first
// cache; beyond, direct moves the least.
func DefaultTable() Table {
	return Table{
		{Collective: op.AllReduce, RanksMax: 16, BytesMax: op.SlotBytesMax, Algorithm: Oneshot},
		{Collective: op.AllReduce, BytesMax: 2 << 10, Algorithm: Doubling},
		{Collective: op.AllReduce, Algorithm: Direct},
		{Collective: op.AllGather, Algorithm: Oneshot},
		{Collective: op.AllGather, Algorithm: Direct},
		{Collective: op.ReduceScatter, Algorithm: Oneshot},
		{Collective: op.ReduceScatter, Algorithm: Direct},
		{Collective: op.Broadcast, RanksMax: 16, BytesMax: op.SlotBytesMax, Algorithm: Oneshot},
		{Collective: op.Broadcast, BytesMax: op.SlotBytesMax, Algorithm: Tree},
		{Collective: op.Broadcast, Algorithm: Direct},
		{Collective: op.ReduceTo, RanksMax: 16, BytesMax: op.SlotBytesMax, Algorithm: Oneshot},
		{Collective: op.ReduceTo, BytesMax: 4 << 10, Algorithm: Tree},
		{Collective: op.ReduceTo, Algorithm: Direct},
		{Collective: op.Gather, Algorithm: Oneshot},
		{Collective: op.Gather, Algorithm: Direct},
		{Collective: op.Scatter, Algorithm: Oneshot},
		{Collective: op.Scatter, Algorithm: Direct},
		{Collective: op.AllToAll, Algorithm: Oneshot},
		{Collective: op.AllToAll, Algorithm: Direct},
		{Collective: op.AllToAll, Algorithm: Swap},
		{Collective: op.AllToAllV, Algorithm: Direct},
		{Collective: op.BarrierAll, RanksMax: 16, Algorithm: Oneshot},
		{Collective: op.BarrierAll, Algorithm: Doubling},
	}
}

// Select chooses the algorithm of a shape by the first rule that applies and
// whose algorithm can carry out the call, and else the first algorithm of the
// collective that can. It is [Auto] if there is none. Ranks that give the same
// shape choose the same.
func (t Table) Select(s Shape) Algorithm {
	row := Of(s.Collective)
	if row == nil {
		return Auto
	}
	for i := range t {
		if t[i].applies(&s) && row.carriesOut(t[i].Algorithm, &s) {
			return t[i].Algorithm
		}
	}
	for i := range row.Algorithms {
		if a := row.Algorithms[i].Algorithm; row.carriesOut(a, &s) {
			return a
		}
	}
	return Auto
}

func (r *Rule) applies(s *Shape) bool {
	return r.Collective == s.Collective && (r.RanksMax == 0 || s.Ranks <= r.RanksMax) && (r.BytesMax == 0 || s.Bytes() <= r.BytesMax)
}

func (c *Collective) carriesOut(a Algorithm, s *Shape) bool {
	v := c.variant(a)
	return v != nil && v.fits(s) == nil
}
