package op

// CollectiveOp names a collective. The numbers are part of the guest ABI and
// of flight files.
type CollectiveOp uint8

// The collectives whose bandwidth formulas are known; Custom is anything else.
const (
	Custom CollectiveOp = iota
	AllReduce
	AllGather
	ReduceScatter
	Broadcast
	ReduceTo
	Gather
	Scatter
	AllToAll
	AllToAllV
	SendRecv
	BarrierAll
	collectiveCount
)

var collectives = [...]string{
	Custom: "custom", AllReduce: "all_reduce", AllGather: "all_gather", ReduceScatter: "reduce_scatter",
	Broadcast: "broadcast", ReduceTo: "reduce", Gather: "gather", Scatter: "scatter",
	AllToAll: "all_to_all", AllToAllV: "all_to_all_v", SendRecv: "send_recv",
	BarrierAll: "barrier",
}

// Valid reports whether c is one of the collectives above.
func (c CollectiveOp) Valid() bool { return c < collectiveCount }

// String is the name in snake case, as traces use it.
func (c CollectiveOp) String() string {
	if !c.Valid() {
		return "unknown"
	}
	return collectives[c]
}

// Reduces reports whether the collective combines what ranks have.
func (c CollectiveOp) Reduces() bool { return c == AllReduce || c == ReduceScatter || c == ReduceTo }

// BusFactor is what nccl-tests multiplies algorithm bandwidth with to get bus
// bandwidth on n ranks (nccl-tests doc/PERFORMANCE.md). The algorithm
// bandwidth is size/time where size is the whole array: for AllGather,
// ReduceScatter and AllToAll that is n times one rank's share.
func (c CollectiveOp) BusFactor(n int) float64 {
	if n < 1 {
		return 0
	}
	switch c {
	case AllReduce:
		return 2 * float64(n-1) / float64(n)
	case AllGather, ReduceScatter, AllToAll, AllToAllV, Gather, Scatter:
		return float64(n-1) / float64(n)
	default:
		return 1
	}
}
