package nccl

import "math"

// trees is all_reduce up and down two binary trees of nodes, each half of the
// vector in one, with a chain of ranks in every node.
func (p *Params) trees(j job) []Choice {
	var all []Choice
	for _, proto := range p.protocols(&p.Tree, j, min(p.Bandwidth, p.treeNet(j))) {
		latency := proto.base + 2*(float64(j.local-1)*proto.hop+log2(j.nodes)*proto.netHop)
		all = p.add(all, "tree", proto.name, latency, j, proto.rate)
	}
	return all
}

// switches is all_reduce that the switch of each node adds up (NVLS), with
// trees between nodes.
func (p *Params) switches(j job) []Choice {
	if float64(j.local) < p.NVLSRanks || float64(j.nodes) > p.NVLSNodes {
		return nil
	}
	latency := p.NVLSLatency + 2*log2(j.nodes)*p.Tree.NetHop.Simple
	return p.add(nil, "nvls", simple, latency, j, min(p.NVLSBandwidth, p.treeNet(j)))
}

// treeNet is the bus bandwidth that the NICs allow to trees. A node sends its
// half of the vector up one tree and down the other if there are two nodes;
// among more, an inner node of either tree has two children, so twice that.
func (p *Params) treeNet(j job) float64 {
	nics := p.NetBandwidth * float64(j.local)
	switch j.nodes {
	case 1:
		return math.Inf(1)
	case 2:
		return 2 * nics
	}
	return nics
}
