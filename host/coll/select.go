package coll

import (
	"slices"

	"github.com/ccrun/ccrun/host/op"
)

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
// synchronisations for a second copy. Between two ranks, each on a processor of
// its own, synchronising costs less than copying 2 KiB; where ranks share
// processors it costs a change of process, as much as copying some 16 KiB.
func DefaultTable() Table {
	const pairBytes, crowdBytes = 2 << 10, 16 << 10
	return Table{
		{Collective: op.AllReduce, RanksMax: 2, BytesMax: pairBytes, Algorithm: Oneshot},
		{Collective: op.AllReduce, RanksMax: 2, Algorithm: Direct},
		{Collective: op.AllReduce, RanksMax: 16, BytesMax: crowdBytes / 4, Algorithm: Oneshot},
		{Collective: op.AllReduce, RanksMax: 16, Algorithm: Direct},
		{Collective: op.AllReduce, BytesMax: pairBytes, Algorithm: Doubling},
		{Collective: op.AllReduce, Algorithm: Direct},
		{Collective: op.AllGather, RanksMax: 2, BytesMax: pairBytes, Algorithm: Oneshot},
		{Collective: op.AllGather, RanksMax: 2, Algorithm: Direct},
		{Collective: op.AllGather, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.AllGather, Algorithm: Direct},
		{Collective: op.ReduceScatter, RanksMax: 2, BytesMax: pairBytes, Algorithm: Oneshot},
		{Collective: op.ReduceScatter, RanksMax: 2, Algorithm: Direct},
		{Collective: op.ReduceScatter, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.ReduceScatter, Algorithm: Direct},
		{Collective: op.Broadcast, RanksMax: 2, BytesMax: pairBytes, Algorithm: Oneshot},
		{Collective: op.Broadcast, RanksMax: 2, Algorithm: Direct},
		{Collective: op.Broadcast, RanksMax: 16, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.Broadcast, BytesMax: crowdBytes, Algorithm: Tree},
		{Collective: op.Broadcast, Algorithm: Direct},
		{Collective: op.ReduceTo, RanksMax: 16, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.ReduceTo, BytesMax: crowdBytes / 4, Algorithm: Tree},
		{Collective: op.ReduceTo, Algorithm: Direct},
		{Collective: op.Gather, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.Gather, Algorithm: Direct},
		{Collective: op.Scatter, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.Scatter, Algorithm: Direct},
		{Collective: op.AllToAll, RanksMax: 2, BytesMax: pairBytes, Algorithm: Oneshot},
		{Collective: op.AllToAll, RanksMax: 2, Algorithm: Direct},
		{Collective: op.AllToAll, BytesMax: crowdBytes, Algorithm: Oneshot},
		{Collective: op.AllToAll, Algorithm: Direct},
		{Collective: op.AllToAll, Algorithm: Swap},
		{Collective: op.AllToAllV, Algorithm: Direct},
		{Collective: op.BarrierAll, RanksMax: 16, Algorithm: Oneshot},
		{Collective: op.BarrierAll, Algorithm: Doubling},
	}
}

// OrDefault is the table with the default's rules behind its own, for calls
// that none of its own applies to.
func (t Table) OrDefault() Table { return append(slices.Clip(t), DefaultTable()...) }

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
