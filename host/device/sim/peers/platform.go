package main

import (
	"bytes"
	"fmt"

	"github.com/ccrun/ccrun/host/device/sim/preset"
)

// platformXML is a machine for SimGrid of the shape of a preset: nodes of GPUs,
// each behind a link to the switch of its node, and nodes behind links to all
// others. A ring leaves a node over one NIC and enters it over one, so a node
// has the link of one. Rates are the preset's; latencies of links add up to
// those of a way within and between nodes. Adding an element of 4 bytes up is an
// operation that moves 12 bytes of memory.
func platformXML(p *preset.Preset, nodes int) []byte {
	near, far := p.NVLink.Latency, p.NIC.Latency+p.Leaf.Latency
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
`)
	for node := range nodes {
		fmt.Fprintf(&b, `<cluster id="node%d" prefix="gpu" suffix="" radical="%d-%d" speed="%gf" bw="%gBps" lat="%.4gs" sharing_policy="SPLITDUPLEX" router_id="switch%d"/>`+"\n",
			node, node*nodeRanks, node*nodeRanks+nodeRanks-1, p.Memory.Bandwidth/12, p.NVLink.Bandwidth, near/2, node)
	}
	for node := range nodes {
		fmt.Fprintf(&b, `<link id="nic%d" bandwidth="%gBps" latency="%.4gs" sharing_policy="SPLITDUPLEX"/>`+"\n", node, p.NIC.Bandwidth, max(far-near, 0)/2)
	}
	for from := range nodes {
		for to := from + 1; to < nodes; to++ {
			fmt.Fprintf(&b, `<zoneRoute src="node%d" dst="node%d" gw_src="switch%d" gw_dst="switch%d"><link_ctn id="nic%d" direction="UP"/><link_ctn id="nic%d" direction="DOWN"/></zoneRoute>`+"\n",
				from, to, from, to, from, to)
		}
	}
	b.WriteString("</zone>\n</platform>\n")
	return b.Bytes()
}

// hostfile puts a rank on each GPU, in order.
func hostfile(ranks int) []byte {
	var b bytes.Buffer
	for rank := range ranks {
		fmt.Fprintf(&b, "gpu%d\n", rank)
	}
	return b.Bytes()
}
