// Package nccl is a model of how long NCCL's collectives take: three protocols
// (LL, LL128, Simple) and three algorithms (ring, tree, NVLS), each a latency
// and a bandwidth, of which the fastest is taken, as NCCL's own tuner does.
package nccl

import "github.com/ccrun/ccrun/host/op"

// Params are the model's numbers for one kind of machine. Times are seconds,
// rates bytes per second.
type Params struct{}

// Call is one collective.
type Call struct {
	Collective op.CollectiveOp
	Bytes      int64 // as nccl-tests counts them: the whole vector; n times one rank's share of all_gather, reduce_scatter and all_to_all
	Ranks      int
	Nodes      int // that the ranks are spread over, evenly
}

// Choice is how NCCL would carry a call out and how long that takes.
type Choice struct {
	Algorithm string // "ring", "tree", "nvls", "direct"
	Protocol  string // "LL", "LL128", "Simple"
	Seconds   float64
}

// Best is the fastest way.
func (p *Params) Best(c Call) Choice { return Choice{} }
