package sim

import (
	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/device/sim/network"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// cores is a node whose ranks share processor cores, rank i core i mod n, as
// the cpu device pins them. Operations are work for a core, in seconds; copies
// of several cores at once share the memory.
type cores struct {
	preset *preset.Preset
	links  []network.Link // by core
	memory network.Link
	ranks  int
}

func newCores(c *Cluster) *cores {
	n := max(c.preset.CPU.Cores, 1)
	m := &cores{preset: c.preset, ranks: c.ranks}
	for range n {
		m.links = append(m.links, c.net.AddLink(1))
	}
	m.memory = c.net.AddLink(float64(n))
	return m
}

func (m *cores) core(rank int) network.Link { return m.links[rank%len(m.links)] }
func (m *cores) raisePicos() int64          { return 0 }
func (m *cores) callPicos() int64           { return picos(m.preset.Host.Call) }
func (m *cores) wakePicos() int64           { return picos(m.preset.Host.Wake) }
func (m *cores) node(int) int               { return 0 }

func (m *cores) signalPicos(from, to int) int64 {
	if m.core(from) == m.core(to) && from != to {
		return picos(m.preset.CPU.Switch)
	}
	return picos(m.preset.CPU.Signal)
}

func (m *cores) barrierPicos() int64 {
	if m.ranks > len(m.links) {
		return picos(m.preset.CPU.Switch) * int64(m.ranks)
	}
	return 2 * picos(m.preset.CPU.Signal)
}

// pass adds work on a core: bytes at the rate of a table.
func (m *cores) pass(d *demand, rank int, bytes int64, rates []preset.Point) {
	if bytes == 0 {
		return
	}
	seconds := float64(bytes) / interpolate(rates, float64(bytes), 1e10)
	f := d.add(seconds, 1).over(m.core(rank))
	if share := interpolate(m.preset.CPU.Sharing, float64(bytes), float64(len(m.links))); share < float64(len(m.links)) {
		f.over(m.memory)
	}
}

func (m *cores) demand(d *demand, rank int, t *task) {
	d.alpha = picos(m.preset.CPU.Op)
	switch t.kind {
	case op.Reduce:
		m.pass(d, rank, t.bytes, m.preset.CPU.Reduce)
	case op.Gemm:
		g := &t.extra.gemm
		d.add(2*float64(g.M)*float64(g.N)*float64(g.K)/max(m.preset.Gemm.F32, 1), 1).over(m.core(rank))
	default:
		m.pass(d, rank, t.bytes, m.preset.CPU.Copy)
	}
}

func (m *cores) step(d *demand, rank int, w *stepWork) {
	d.alpha = picos(m.preset.CPU.Op)
	rates := m.preset.CPU.Copy
	if w.sourceCount > 1 {
		rates = m.preset.CPU.Reduce
	}
	m.pass(d, rank, w.bytes, rates)
}

func (m *cores) callModel(nccl.Call) (nccl.Choice, bool) { return nccl.Choice{}, false }
