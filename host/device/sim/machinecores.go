package sim

import (
	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/device/sim/network"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// cores is a node whose ranks share processor cores, rank i core i mod n, as
// the cpu device pins them. An operation is work for its rank's core, in
// seconds: a fixed time, and its bytes at a rate that depends on two things.
//
// One is where the bytes are. What another core has written since this one last
// had it must be fetched from there (cpu.copy, and cpu.reduce for a reduction);
// what this core has itself need not (cpu.local). [lines] keeps track of it.
//
// The other is how much is in use, because caches hold what was used last, and a
// schedule comes back to its buffers in turn: rates are looked up by the bytes
// that all ranks have allocated, for each core that ranks run on. It is not the
// size of the operation: a slice of a large buffer is not in a cache just because
// it is small.
//
// A waiting rank gives its core away, so that waiting costs others nothing; but
// if ranks share a core, the waiter has to be scheduled before it sees a signal
// (cpu.switch instead of cpu.signal). Ranks that are busy on one core get equal
// parts of it, and cores that are busy at once share the memory (cpu.sharing).
type cores struct {
	preset  *preset.Preset
	cluster *Cluster
	links   []network.Link // by core
	memory  network.Link
	ranks   int
}

func newCores(c *Cluster) *cores {
	n := max(c.preset.CPU.Cores, 1)
	m := &cores{preset: c.preset, cluster: c, ranks: c.ranks}
	for range n {
		m.links = append(m.links, c.net.AddLink(1))
	}
	m.memory = c.net.AddLink(float64(n))
	return m
}

func (m *cores) coreOf(rank int) int        { return rank % len(m.links) }
func (m *cores) core(rank int) network.Link { return m.links[m.coreOf(rank)] }
func (m *cores) raisePicos() int64          { return picos(m.preset.CPU.Op) }
func (m *cores) callPicos() int64           { return picos(m.preset.Host.Call) }
func (m *cores) wakePicos() int64           { return picos(m.preset.Host.Wake) }
func (m *cores) node(int) int               { return 0 }

// shares reports whether a rank has no core to itself.
func (m *cores) shares(rank int) bool {
	n := len(m.links)
	return rank >= n || rank+n < m.ranks
}

func (m *cores) signalPicos(from, to int) int64 {
	switch {
	case from == to:
		return 0
	case m.shares(to):
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

// inUse is the bytes that ranks have allocated, for each core that they run on.
func (m *cores) inUse() float64 {
	return float64(max(1, m.cluster.allocated)) / float64(min(m.ranks, len(m.links)))
}

// pass adds work on a core: bytes that it has, and bytes that it has to fetch at
// the rates of a table.
func (m *cores) pass(d *demand, rank int, held, fetched int64, rates []preset.Point) {
	if held+fetched == 0 {
		return
	}
	const otherwise = 1e10
	cpu, inUse := &m.preset.CPU, m.inUse()
	seconds := float64(fetched) / interpolate(rates, inUse, otherwise)
	if held > 0 {
		seconds += float64(held) / interpolate(cpu.Local, inUse, otherwise)
	}
	d.add(seconds, 1).over(m.core(rank))
	all := float64(len(m.links))
	if share := interpolate(cpu.Sharing, inUse, all); share < all {
		// One core alone is not slowed down, and all together do what share of
		// them would.
		d.add(seconds*all/share, all/share).over(m.memory)
	}
}

func (m *cores) demand(d *demand, rank int, t *task) {
	d.alpha = picos(m.preset.CPU.Op)
	switch t.kind {
	case op.Signal:
	case op.Gemm:
		g := &t.extra.gemm
		d.add(2*float64(g.M)*float64(g.N)*float64(g.K)/max(m.preset.Gemm.F32, 1), 1).over(m.core(rank))
		m.written(rank, t.dst, t.bytes)
	case op.Reduce:
		fetched := int64(0)
		for i := range int(t.sources) {
			fetched = max(fetched, m.read(rank, t.source(i), t.bytes))
		}
		m.finish(d, rank, t, fetched, m.preset.CPU.Reduce)
	case op.Verify, op.Digest:
		fetched := m.read(rank, t.dst, t.bytes)
		m.pass(d, rank, t.bytes-fetched, fetched, m.preset.CPU.Copy)
	case op.Fill:
		m.finish(d, rank, t, 0, m.preset.CPU.Copy)
	default:
		m.finish(d, rank, t, m.read(rank, t.src, t.bytes), m.preset.CPU.Copy)
	}
}

// finish adds the work of an operation that writes what it has read: lines that
// it writes have to be fetched, too, unless the core has them.
func (m *cores) finish(d *demand, rank int, t *task, fetched int64, rates []preset.Point) {
	fetched = max(fetched, m.written(rank, t.dst, t.bytes))
	m.pass(d, rank, t.bytes-fetched, fetched, rates)
}

// read notes that a rank reads a region, and gives how much of it its core has
// to fetch.
func (m *cores) read(rank int, p place, bytes int64) int64 {
	if p.buf == nil {
		return 0
	}
	l, off, core := p.buf.owner.linesOf(), p.buf.offset+p.off, m.coreOf(rank)
	fetched := l.missing(off, bytes, core)
	l.read(off, bytes, core)
	return fetched
}

// written is the same of a region that is written.
func (m *cores) written(rank int, p place, bytes int64) int64 {
	if p.buf == nil {
		return 0
	}
	l, off, core := p.buf.owner.linesOf(), p.buf.offset+p.off, m.coreOf(rank)
	fetched := l.missing(off, bytes, core)
	l.written(off, bytes, core)
	return fetched
}

// step takes all bytes of a call's step as fetched: calls move what others have
// just written.
func (m *cores) step(d *demand, rank int, w *stepWork) {
	d.alpha = picos(m.preset.CPU.Op)
	rates := m.preset.CPU.Copy
	if w.sourceCount > 1 {
		rates = m.preset.CPU.Reduce
	}
	m.pass(d, rank, 0, w.bytes, rates)
}

func (m *cores) callModel(nccl.Call) (nccl.Choice, bool) { return nccl.Choice{}, false }
