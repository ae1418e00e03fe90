package nccl

import "github.com/ccrun/ccrun/host/op"

// rings is the ring in each protocol.
func (p *Params) rings(j job) []Choice {
	bus := p.Bandwidth
	if j.nodes > 1 {
		// A ring for each NIC enters and leaves a node once, so the nodes'
		// number does not matter.
		bus = min(bus, p.NetBandwidth*float64(j.local))
	}
	steps, net := ringSteps(j)
	var all []Choice
	for _, proto := range p.protocols(&p.Ring, j, bus) {
		latency := proto.base + float64(steps-net)*proto.hop + float64(net)*proto.netHop
		if proto.name == simple && j.nodes > 1 {
			latency *= max(p.Plateau, 1)
		}
		all = p.add(all, "ring", proto.name, latency, j, proto.rate)
	}
	return all
}

// ringSteps is how many steps of a ring follow each other, and how many of
// those cross nodes.
func ringSteps(j job) (steps, net int) {
	steps, net = j.ranks-1, j.nodes
	if j.collective == op.AllReduce || j.collective == op.BarrierAll {
		steps, net = 2*steps, 2*net
	}
	if j.nodes == 1 {
		return steps, 0
	}
	return steps, min(net, steps)
}

// protocol is one protocol's numbers of one algorithm for one call.
type protocol struct {
	name              string
	base, hop, netHop float64
	rate              float64 // bus bandwidth
}

const simple = "Simple"

// protocols is those protocols of a way that can carry the call, where links
// allow a bus bandwidth of bus.
func (p *Params) protocols(w *Way, j job, bus float64) []protocol {
	most := p.LLMax
	if j.nodes > 1 {
		most = p.LLNetMax
	}
	all := []protocol{
		{"LL", w.Base.LL, w.Hop.LL, w.NetHop.LL, min(bus*w.Fraction.LL, most)},
		{"LL128", w.Base.LL128, w.Hop.LL128, w.NetHop.LL128, bus * w.Fraction.LL128},
		{simple, w.Base.Simple, w.Hop.Simple, w.NetHop.Simple, bus * w.Fraction.Simple},
	}
	usable := all[:0]
	for _, proto := range all {
		if proto.rate > 0 && (j.nodes == 1 || proto.netHop > 0) {
			usable = append(usable, proto)
		}
	}
	return usable
}

// add appends a choice that takes latency and then moves the call's bus bytes
// at rate, unless the rate is none.
func (p *Params) add(all []Choice, algorithm, protocol string, latency float64, j job, rate float64) []Choice {
	if !(rate > 0) {
		return all
	}
	return append(all, Choice{algorithm, protocol, p.Overhead + latency + j.busBytes()/rate})
}
