package preset

import (
	"slices"

	"github.com/ccrun/ccrun/host/device/sim/nccl"
)

// ncclKeys is the numbers of NCCL's time model.
var ncclKeys = slices.Concat(
	[]key{
		{name: "nccl.overhead", unit: duration, machines: onGPU, greatest: 1, doc: "what a call costs beyond NCCL's own model: the framework, the launch, the clock around them", at: func(p *Preset) any { return &p.NCCL.Overhead }},
		{name: "nccl.bandwidth", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "bus bandwidth of a ring in Simple within a node", at: func(p *Preset) any { return &p.NCCL.Bandwidth }},
		{name: "nccl.net.bandwidth", unit: rate, machines: onGPU, greatest: 1e15, doc: "what a rank can send to other nodes: the node's NICs by its ranks", at: func(p *Preset) any { return &p.NCCL.NetBandwidth }},
		{name: "nccl.ll.max", unit: rate, machines: onGPU, greatest: 1e15, doc: "most bus bandwidth of LL within a node", at: func(p *Preset) any { return &p.NCCL.LLMax }},
		{name: "nccl.ll.net.max", unit: rate, machines: onGPU, greatest: 1e15, doc: "most bus bandwidth of LL between nodes", at: func(p *Preset) any { return &p.NCCL.LLNetMax }},
		{name: "nccl.plateau", unit: ratio, machines: onGPU, least: 1, greatest: 100, doc: "factor on the latency of the ring in Simple between nodes", at: func(p *Preset) any { return &p.NCCL.Plateau }},
	},
	wayKeys("ring", func(p *Preset) *nccl.Way { return &p.NCCL.Ring }),
	wayKeys("tree", func(p *Preset) *nccl.Way { return &p.NCCL.Tree }),
	[]key{
		{name: "nccl.nvls.latency", unit: duration, machines: onGPU, greatest: 1, doc: "of an all_reduce that the node's switch adds up, the whole operation", at: func(p *Preset) any { return &p.NCCL.NVLSLatency }},
		{name: "nccl.nvls.bandwidth", unit: rate, machines: onGPU, greatest: 1e15, doc: "its bus bandwidth; 0 if the switch cannot add", at: func(p *Preset) any { return &p.NCCL.NVLSBandwidth }},
		{name: "nccl.nvls.ranks", unit: count, machines: onGPU, greatest: 1 << 20, doc: "fewest ranks of a node that it is used for", at: func(p *Preset) any { return &p.NCCL.NVLSRanks }},
		{name: "nccl.nvls.nodes", unit: count, machines: onGPU, greatest: 1 << 20, doc: "most nodes that it is used across", at: func(p *Preset) any { return &p.NCCL.NVLSNodes }},
		{name: "nccl.direct.base.ll", unit: duration, machines: onGPU, greatest: 1, doc: "latency of sends and receives in LL, the whole operation", at: func(p *Preset) any { return &p.NCCL.DirectBaseLL }},
		{name: "nccl.direct.base.simple", unit: duration, machines: onGPU, greatest: 1, doc: "the same in Simple", at: func(p *Preset) any { return &p.NCCL.DirectBase }},
		{name: "nccl.direct.peer", unit: duration, machines: onGPU, greatest: 1, doc: "added for each peer", at: func(p *Preset) any { return &p.NCCL.DirectPeer }},
		{name: "nccl.direct.bandwidth", unit: rate, machines: onGPU, least: 1e6, greatest: 1e15, doc: "what a rank can send within its node", at: func(p *Preset) any { return &p.NCCL.DirectBandwidth }},
		{name: "nccl.direct.ll.max", unit: size, machines: onGPU, greatest: 1 << 40, doc: "most bytes to one peer that go by LL", at: func(p *Preset) any { return &p.NCCL.DirectLLBytes }},
	},
)

// wayKeys is an algorithm's numbers for each protocol.
func wayKeys(algorithm string, way func(*Preset) *nccl.Way) []key {
	prefix := "nccl." + algorithm
	return slices.Concat(
		protocolKeys(prefix+".base", duration, "latency of a call by "+algorithm, func(p *Preset) *nccl.Protocols { return &way(p).Base }),
		protocolKeys(prefix+".hop", duration, "latency of a step within a node", func(p *Preset) *nccl.Protocols { return &way(p).Hop }),
		protocolKeys(prefix+".nethop", duration, "latency of a step to another node; 0: not used between nodes", func(p *Preset) *nccl.Protocols { return &way(p).NetHop }),
		protocolKeys(prefix+".fraction", ratio, "fraction of the links' bandwidth that reaches the data; 0: not used", func(p *Preset) *nccl.Protocols { return &way(p).Fraction }),
	)
}

func protocolKeys(prefix string, unit *dimension, doc string, at func(*Preset) *nccl.Protocols) []key {
	return []key{
		{name: prefix + ".ll", unit: unit, machines: onGPU, greatest: 1, doc: doc + ", in LL", at: func(p *Preset) any { return &at(p).LL }},
		{name: prefix + ".ll128", unit: unit, machines: onGPU, greatest: 1, doc: doc + ", in LL128", at: func(p *Preset) any { return &at(p).LL128 }},
		{name: prefix + ".simple", unit: unit, machines: onGPU, greatest: 1, doc: doc + ", in Simple", at: func(p *Preset) any { return &at(p).Simple }},
	}
}
