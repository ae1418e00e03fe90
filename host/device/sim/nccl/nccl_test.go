package nccl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/host/op"
	"github.com/cockroachdb/datadriven"
)

var machines = map[string]func() *Params{"hopper": hopper, "blackwell": blackwell}

var all = []op.CollectiveOp{
	op.Custom, op.AllReduce, op.AllGather, op.ReduceScatter, op.Broadcast, op.ReduceTo,
	op.Gather, op.Scatter, op.AllToAll, op.AllToAllV, op.SendRecv, op.BarrierAll,
}

func named(t *testing.T, name string) op.CollectiveOp {
	for _, c := range all {
		if c.String() == name {
			return c
		}
	}
	t.Fatalf("no collective %q", name)
	return 0
}

// TestChoices prints, for each size, the way that is taken, its time and its
// bus bandwidth; or every way.
func TestChoices(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var machine, collective string
			var ranks, nodes int
			d.ScanArgs(t, "machine", &machine)
			d.ScanArgs(t, "op", &collective)
			d.ScanArgs(t, "ranks", &ranks)
			d.ScanArgs(t, "nodes", &nodes)
			p, c := machines[machine](), Call{named(t, collective), 0, ranks, nodes}
			var b strings.Builder
			for _, size := range strings.Fields(d.Input) {
				c.Bytes = parseSize(t, size)
				choices := []Choice{p.Best(c)}
				if d.Cmd == "all" {
					choices = p.All(c)
				}
				for _, choice := range choices {
					bus := float64(c.Bytes) * c.Collective.BusFactor(ranks) / choice.Seconds / 1e9
					fmt.Fprintf(&b, "%6s  %-6s %-6s %12.1f us %8.1f GB/s\n", size, choice.Algorithm, choice.Protocol, choice.Seconds*1e6, bus)
				}
			}
			return b.String()
		})
	})
}

func parseSize(t *testing.T, s string) int64 {
	shift := 0
	if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
		shift, s = 10*(i+1), s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << shift
}

// TestSane walks all collectives over many sizes, ranks and nodes: times are
// positive and finite, no time falls as bytes grow, and the bus bandwidth
// never passes the fastest link's.
func TestSane(t *testing.T) {
	for name, machine := range machines {
		p := machine()
		for _, c := range all {
			for _, ranks := range []int{0, 1, 2, 3, 7, 8, 9, 31, 64, 1000, 16384} {
				for _, nodes := range []int{0, 1, 2, 3, ranks / 8, ranks, ranks + 1} {
					walkSizes(t, name, p, Call{c, 0, ranks, nodes})
				}
			}
		}
	}
}

func walkSizes(t *testing.T, name string, p *Params, c Call) {
	t.Helper()
	before := 0.0
	for c.Bytes = 0; c.Bytes < math.MaxInt64/3; c.Bytes = c.Bytes*3/2 + 1 {
		got := p.Best(c)
		switch {
		case !(got.Seconds > 0) || math.IsInf(got.Seconds, 0):
			t.Fatalf("%s: %+v takes %v", name, c, got)
		case got.Seconds < before:
			t.Fatalf("%s: %+v takes %v, less than %v for fewer bytes", name, c, got, before)
		}
		bus := float64(c.Bytes) * c.Collective.BusFactor(c.Ranks) / got.Seconds
		if c.Ranks > 1 && bus > max(p.Bandwidth, p.NVLSBandwidth)*1.0001 && !shares(c) {
			t.Fatalf("%s: %+v runs at %.0f bytes per second", name, c, bus)
		}
		before = got.Seconds
	}
}

// shares reports whether a direct call uses links of both kinds at once.
func shares(c Call) bool { return direct(c.Collective) && c.Nodes > 1 }

// TestMoreNodesCostMore: the same bytes take no less time on more nodes of
// eight ranks.
func TestMoreNodesCostMore(t *testing.T) {
	for name, machine := range machines {
		p := machine()
		for _, c := range []op.CollectiveOp{op.AllReduce, op.AllGather, op.ReduceScatter, op.Broadcast, op.ReduceTo, op.AllToAll} {
			for bytes := int64(8); bytes < 1<<36; bytes *= 8 {
				before := 0.0
				for nodes := 1; nodes <= 2048; nodes *= 2 {
					got := p.Best(Call{c, bytes, 8 * nodes, nodes}).Seconds
					if got < before {
						t.Errorf("%s: %s of %d bytes takes %g on %d nodes, %g on half of them", name, c, bytes, got, nodes, before)
					}
					before = got
				}
			}
		}
	}
}

// TestBestIsFirstOfFastest compares with a naive search.
func TestBestIsFirstOfFastest(t *testing.T) {
	p := hopper()
	for bytes := int64(1); bytes < 1<<34; bytes *= 2 {
		c := Call{op.AllReduce, bytes, 32, 4}
		got := p.Best(c)
		for _, choice := range p.All(c) {
			if choice.Seconds < got.Seconds {
				t.Errorf("%d bytes: %v is taken, %v is faster", bytes, got, choice)
			}
		}
	}
}

// TestNothingUsable: parameters that leave no way give a time all the same.
func TestNothingUsable(t *testing.T) {
	p := &Params{Overhead: 1e-6}
	for _, c := range all {
		if got := p.Best(Call{c, 1 << 20, 16, 2}); got.Seconds != 1e-6 {
			t.Errorf("%s takes %v", c, got)
		}
	}
}

// TestLargeVectors holds the model against figures for large vectors
// of one machine each, fitted or not.
func TestLargeVectors(t *testing.T) {
	for _, c := range []struct {
		machine      *Params
		call         Call
		busBandwidth float64 // GB/s
	}{
		{hopper(), Call{op.AllReduce, 16 << 30, 8, 1}, 474},
		{hopper(), Call{op.AllGather, 16 << 30, 8, 1}, 361},
		{hopper(), Call{op.ReduceScatter, 16 << 30, 8, 1}, 363},
		{hopper(), Call{op.AllReduce, 16 << 30, 4, 1}, 367}, // too few ranks for NVLS
		{blackwell(), Call{op.AllReduce, 16 << 30, 32, 4}, 382},
		{blackwell(), Call{op.AllReduce, 16 << 30, 8, 1}, 842},
	} {
		seconds := c.machine.Best(c.call).Seconds
		bus := float64(c.call.Bytes) * c.call.Collective.BusFactor(c.call.Ranks) / seconds / 1e9
		if math.Abs(bus/c.busBandwidth-1) > 0.03 {
			t.Errorf("%+v: %.1f GB/s, want %.1f", c.call, bus, c.busBandwidth)
		}
	}
}

func FuzzBest(f *testing.F) {
	f.Add(uint8(1), int64(1<<20), int64(1<<21), 8, 1, 1.0, 1.0)
	f.Add(uint8(8), int64(-1), int64(0), -5, 1<<40, 0.0, -1.0)
	f.Fuzz(func(t *testing.T, c uint8, few, many int64, ranks, nodes int, rate, latency float64) {
		if few > many || math.IsNaN(rate) || math.IsNaN(latency) || math.Abs(rate) > 1e6 || math.Abs(latency) > 1e6 {
			return
		}
		p := hopper()
		p.Bandwidth *= rate
		p.NetBandwidth *= rate
		p.Overhead *= math.Abs(latency)
		p.Ring.NetHop.LL *= latency
		p.Tree.NetHop.Simple *= math.Abs(latency)
		less := p.Best(Call{op.CollectiveOp(c), few, ranks, nodes})
		more := p.Best(Call{op.CollectiveOp(c), many, ranks, nodes})
		if !(less.Seconds >= 0) || less.Seconds > more.Seconds || math.IsInf(more.Seconds, 0) && rate > 1e-6 {
			t.Errorf("%d bytes take %v, %d bytes %v", few, less, many, more)
		}
	})
}
