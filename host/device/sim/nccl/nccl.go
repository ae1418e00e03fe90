// Package nccl is a model of how long NCCL's collectives take: three protocols
// (LL, LL128, Simple) and three algorithms (ring, tree, NVLS), each a latency
// and a bandwidth, of which the fastest is taken, as NCCL's own tuner does.
// What is sent from rank to rank without an algorithm is "direct".
//
// Call [Params.Best]; [Params.All] gives every way that NCCL has. The package
// knows no machine: package preset holds the numbers of each. It does not
// model contention with other work, channels, or ranks that come late.
package nccl

import (
	"math"

	"github.com/ccrun/ccrun/host/op"
)

// Params are the model's numbers for one kind of machine. Times are seconds,
// rates bytes per second, fractions and factors plain numbers.
type Params struct {
	// Overhead is what a call costs in any way beyond NCCL's own model: the
	// framework, the launch, and what the clock around them sees.
	Overhead float64

	Ring Way // passes data around; carries all collectives that are not direct
	Tree Way // all_reduce only; its hops grow with the logarithm of the nodes

	// Plateau multiplies the latency of the ring in Simple between nodes: its
	// pipeline of slots runs dry there. NCCL's tuner has 1.4 for it.
	Plateau float64

	Bandwidth    float64 // bus bandwidth of a ring in Simple within a node
	NetBandwidth float64 // what a rank can send to other nodes: the node's NICs by its ranks
	LLMax        float64 // most bus bandwidth of LL within a node
	LLNetMax     float64 // the same between nodes

	NVLSLatency   float64 // of all_reduce in a node's switch, the whole operation
	NVLSBandwidth float64 // bus bandwidth of all_reduce in a node's switch; 0: the switch cannot add
	NVLSRanks     float64 // fewest ranks of a node that it is used for
	NVLSNodes     float64 // most nodes that it is used across, by trees

	DirectBase      float64 // of sends and receives in Simple, the whole operation
	DirectBaseLL    float64 // the same in LL
	DirectPeer      float64 // added for each peer
	DirectBandwidth float64 // what a rank can send within its node
	DirectLLBytes   float64 // most bytes to one peer that go by LL
}

// Way is an algorithm's numbers for each protocol.
type Way struct {
	Base     Protocols // latency of a call
	Hop      Protocols // latency of a step within a node
	NetHop   Protocols // latency of a step to another node; 0: the protocol is not used between nodes
	Fraction Protocols // of the links' bandwidth that reaches the data; 0: the protocol is not used
}

// Protocols holds a number for each of NCCL's protocols.
type Protocols struct {
	LL     float64 // 8-byte stores, half of them flags: least latency
	LL128  float64 // 128-byte stores, a sixteenth of them flags
	Simple float64 // slots and one flag for each: most bandwidth
}

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
func (p *Params) Best(c Call) Choice {
	all := p.All(c)
	best := all[0]
	for _, choice := range all[1:] {
		if choice.Seconds < best.Seconds {
			best = choice
		}
	}
	return best
}

// All is every way that a call can be carried out in, in a fixed order. There
// is always one: of parameters that leave none, a direct way at no cost but
// the overhead.
func (p *Params) All(c Call) []Choice {
	j := c.job()
	if j.ranks == 1 {
		return []Choice{p.alone()}
	}
	var all []Choice
	if direct(c.Collective) {
		all = p.directs(j)
	} else {
		all = p.rings(j)
	}
	if c.Collective == op.AllReduce || c.Collective == op.BarrierAll {
		all = append(all, p.trees(j)...)
		all = append(all, p.switches(j)...)
	}
	if len(all) == 0 {
		return []Choice{p.alone()}
	}
	return all
}

// alone is a call of a single rank: nothing is sent.
func (p *Params) alone() Choice { return Choice{"direct", "Simple", p.Overhead} }

// direct reports whether a collective is sends and receives to NCCL.
func direct(c op.CollectiveOp) bool {
	switch c {
	case op.AllReduce, op.AllGather, op.ReduceScatter, op.Broadcast, op.ReduceTo, op.BarrierAll:
		return false
	}
	return true
}

// job is a call that makes sense.
type job struct {
	collective          op.CollectiveOp
	bytes               float64
	ranks, nodes, local int // local: ranks of the fullest node
}

func (c Call) job() job {
	n := max(c.Ranks, 1)
	k := min(max(c.Nodes, 1), n)
	return job{c.Collective, float64(max(c.Bytes, 0)), n, k, (n + k - 1) / k}
}

// busBytes is what the call's bus bandwidth counts.
func (j job) busBytes() float64 { return j.bytes * j.collective.BusFactor(j.ranks) }

// log2 is the depth of a tree of n nodes.
func log2(n int) float64 { return math.Ceil(math.Log2(float64(n))) }
