package main

import (
	"bytes"
	"fmt"
)

// platformXML is a machine for SimGrid of the shape of the preset: nodes of 8
// GPUs, each behind a link of NVLink's rate to the switch of its node, and nodes
// behind links to all others. A ring leaves a node over one NIC and enters it
// over one, so a node has the link of one. The rates are the preset's; latencies
// add up to those of a way within and between nodes.
func platformXML(nodes int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
`)
	for node := range nodes {
		fmt.Fprintf(&b, `<cluster id="node%d" prefix="gpu" suffix="" radical="%d-%d" speed="1Gf" bw="376GBps" lat="0.75us" sharing_policy="SPLITDUPLEX" router_id="switch%d"/>`+"\n",
			node, node*nodeRanks, node*nodeRanks+nodeRanks-1, node)
	}
	for node := range nodes {
		fmt.Fprintf(&b, `<link id="nic%d" bandwidth="48GBps" latency="0.75us" sharing_policy="SPLITDUPLEX"/>`+"\n", node)
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
