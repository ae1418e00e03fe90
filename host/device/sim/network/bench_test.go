package network

import (
	"fmt"
	"testing"
)

const gigabytes = 1e9

// ports adds a link into and one out of each rank.
func (n *Network) ports(ranks int, capacity float64) (out, in []Link) {
	for range ranks {
		out = append(out, n.AddLink(capacity))
		in = append(in, n.AddLink(capacity))
	}
	return out, in
}

func perFlow(b *testing.B, flows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(flows), "ns/flow")
}

// BenchmarkLone runs one flow from start to finish while others run elsewhere.
func BenchmarkLone(b *testing.B) {
	for _, others := range []int{16, 256, 4096, 16384} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			var n Network
			out, in := n.ports(2, 50*gigabytes)
			// The others share links in fours.
			for i := range others {
				if i%4 == 0 {
					n.AddLink(50 * gigabytes)
				}
				n.Start(0, 1e15, 0, 0, Link(len(n.links)-1))
			}
			n.Settle(0)
			now := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				f := n.Start(now, 4096, 0, 1, out[0], in[1])
				due := n.Settle(now)
				now = due[0].At
				n.Finish(now, f)
			}
		})
	}
}

// BenchmarkRing1024 sends a slice from each of 1,024 ranks to the next. Each
// finish starts the next slice, as ranks of a ring do.
func BenchmarkRing1024(b *testing.B) {
	const ranks = 1024
	var n Network
	out, in := n.ports(ranks, 50*gigabytes)
	flows := make([]Flow, ranks)
	for r := range ranks {
		flows[r] = n.Start(0, 16384, 0, uint32(r), out[r], in[(r+1)%ranks])
	}
	now := n.Settle(0)[0].At
	b.ReportAllocs()
	for b.Loop() {
		next := int64(0)
		for r := range ranks {
			n.Finish(now, flows[r])
			flows[r] = n.Start(now, 16384, 0, uint32(r), out[r], in[(r+1)%ranks])
			next = n.Settle(now)[0].At
		}
		now = next
	}
	perFlow(b, ranks)
}

// BenchmarkTiers1024 is the ring over a switch that all pass and that never
// fills up.
func BenchmarkTiers1024(b *testing.B) {
	const ranks = 1024
	var n Network
	out, in := n.ports(ranks, 50*gigabytes)
	tier := n.AddLink(ranks * 50 * gigabytes)
	flows := make([]Flow, ranks)
	for r := range ranks {
		flows[r] = n.Start(0, 16384, 0, uint32(r), out[r], tier, in[(r+1)%ranks])
	}
	now := n.Settle(0)[0].At
	b.ReportAllocs()
	for b.Loop() {
		next := int64(0)
		for r := range ranks {
			n.Finish(now, flows[r])
			flows[r] = n.Start(now, 16384, 0, uint32(r), out[r], tier, in[(r+1)%ranks])
			next = n.Settle(now)[0].At
		}
		now = next
	}
	perFlow(b, ranks)
}

// BenchmarkAllToAll64 starts 4,032 flows at once, settles, and finishes them all
// at the one time at which they are done.
func BenchmarkAllToAll64(b *testing.B) {
	const ranks = 64
	var n Network
	out, in := n.ports(ranks, 50*gigabytes)
	flows := make([]Flow, 0, ranks*ranks)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		flows = flows[:0]
		for from := range ranks {
			for to := range ranks {
				if from != to {
					flows = append(flows, n.Start(now, 1e6, 0, 0, out[from], in[to]))
				}
			}
		}
		due := n.Settle(now)
		now = due[0].At
		if due[len(due)-1].At != now {
			b.Fatal("equal flows end apart")
		}
		for _, f := range flows {
			n.Finish(now, f)
		}
		n.Settle(now)
	}
	perFlow(b, len(flows))
}

// BenchmarkIncast1024 has 1,024 flows into one rank, and measures what it costs
// that one of them ends and another comes.
func BenchmarkIncast1024(b *testing.B) {
	const ranks = 1024
	var n Network
	out, in := n.ports(ranks, 50*gigabytes)
	flows := make([]Flow, ranks)
	for r := range ranks {
		flows[r] = n.Start(0, 1e15, 0, 0, out[r], in[0])
	}
	n.Settle(0)
	now := int64(0)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		r := i % ranks
		n.Finish(now, flows[r])
		n.Settle(now)
		flows[r] = n.Start(now, 1e15, 0, 0, out[r], in[0])
		n.Settle(now)
		i++
	}
	perFlow(b, 2*ranks)
}

// BenchmarkUneven16 is an all-to-all of uneven amounts, to the end: each flow
// that ends leaves the others more.
func BenchmarkUneven16(b *testing.B) {
	const ranks = 16
	var n Network
	out, in := n.ports(ranks, 50*gigabytes)
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		flows := make([]Flow, 0, ranks*ranks)
		for from := range ranks {
			for to := range ranks {
				if from != to {
					flows = append(flows, n.Start(now, float64(1e6+1000*((from*7+to*11)%97)), 0, 0, out[from], in[to]))
				}
			}
		}
		n.Settle(now)
		for len(flows) > 0 {
			least := 0
			for i, f := range flows {
				if n.Due(f) < n.Due(flows[least]) {
					least = i
				}
			}
			now = n.Due(flows[least])
			n.Finish(now, flows[least])
			flows[least] = flows[len(flows)-1]
			flows = flows[:len(flows)-1]
			n.Settle(now)
		}
	}
	perFlow(b, ranks*(ranks-1))
}
