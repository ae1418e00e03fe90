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
// schedule comes back to its buffers in turn: rates are looked up by the bytes of
// all buffers that operations have touched, for each core that ranks run on. It
// is not the size of the operation: a slice of a large buffer is not in a cache
// just because it is small.
//
// Ranks that share a core take turns, see [turns]: a rank keeps its core until it
// waits, and to give it to another one takes time (cpu.switch). So a rank can be
// held up by what another one does before it comes to what they do together.
// Cores that are busy at once share the memory (cpu.sharing).
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
	if c.ranks > n {
		c.turns = newTurns(n, picos(c.preset.CPU.Switch))
	}
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
	if from == to {
		return 0
	}
	return picos(m.preset.CPU.Signal)
}

func (m *cores) barrierPicos() int64 {
	if m.ranks > len(m.links) {
		return picos(m.preset.CPU.Switch) * int64(m.ranks)
	}
	return 2 * picos(m.preset.CPU.Signal)
}

// inUse is the bytes that operations have touched, for each core that ranks run
// on.
func (m *cores) inUse() float64 {
	return float64(max(1, m.cluster.touched)) / float64(min(m.ranks, len(m.links)))
}

// seconds is what a core takes for bytes of which it has to fetch some, at the
// rates of a table.
func (m *cores) seconds(bytes, fetched int64, rates []preset.Point) float64 {
	const otherwise = 1e10
	inUse, seconds := m.inUse(), 0.0
	if fetched > 0 {
		seconds += float64(fetched) / interpolate(rates, inUse, otherwise)
	}
	if held := bytes - fetched; held > 0 {
		seconds += float64(held) / interpolate(m.preset.CPU.Local, inUse, otherwise)
	}
	return seconds
}

// work adds what keeps a rank's core busy for so long if nobody else does, and
// the part of it in which bytes move.
func (m *cores) work(d *demand, rank int, busy, moving float64) {
	if busy == 0 {
		return
	}
	d.add(busy, 1).over(m.core(rank))
	all := float64(len(m.links))
	if share := interpolate(m.preset.CPU.Sharing, m.inUse(), all); share < all {
		// One core alone is not slowed down, and all together do what share of
		// them would.
		d.add(moving*all/share, all/share).over(m.memory)
	}
}

// move adds work of which all is to move bytes.
func (m *cores) move(d *demand, rank int, seconds float64) { m.work(d, rank, seconds, seconds) }

func (m *cores) demand(d *demand, rank int, t *task) {
	d.alpha = picos(m.preset.CPU.Op)
	d.rank, d.turns = int32(rank), m.shares(rank)
	cpu := &m.preset.CPU
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
		fetched = max(fetched, m.written(rank, t.dst, t.bytes))
		m.move(d, rank, m.seconds(t.bytes, fetched, cpu.Reduce))
	case op.CopyBox, op.GetBox:
		b := t.extra.box
		fetched := m.touchBox(rank, t.src, b, b.SrcRow, b.SrcPlane, (*lines).read)
		fetched = max(fetched, m.touchBox(rank, t.dst, b, b.DstRow, b.DstPlane, (*lines).written))
		m.move(d, rank, m.seconds(t.bytes, fetched, cpu.Copy))
	case op.Digest:
		m.move(d, rank, m.seconds(t.bytes, m.read(rank, t.dst, t.bytes), cpu.Copy))
	case op.Verify:
		m.pattern(d, rank, t.bytes, m.read(rank, t.dst, t.bytes))
	case op.Fill:
		m.pattern(d, rank, t.bytes, m.written(rank, t.dst, t.bytes))
	default:
		fetched := m.read(rank, t.src, t.bytes)
		fetched = max(fetched, m.written(rank, t.dst, t.bytes))
		m.move(d, rank, m.seconds(t.bytes, fetched, cpu.Copy))
	}
}

// pattern adds the making of a pattern, which takes longer than writing it.
func (m *cores) pattern(d *demand, rank int, bytes, fetched int64) {
	moving := m.seconds(bytes, fetched, m.preset.CPU.Copy)
	busy := moving
	if rate := m.preset.CPU.Pattern; rate > 0 {
		busy = max(busy, float64(bytes)/rate)
	}
	m.work(d, rank, busy, moving)
}

// step takes a pass over the bytes for each source after the first, and for each
// destination after the first.
func (m *cores) step(d *demand, rank int, w *stepWork) {
	d.alpha = picos(m.preset.CPU.Op)
	d.rank, d.turns = int32(rank), m.shares(rank)
	cpu, seconds := &m.preset.CPU, 0.0
	first := m.read(rank, w.from[0], w.bytes)
	for i := 1; i < w.sourceCount; i++ {
		seconds += m.seconds(w.bytes, max(first, m.read(rank, w.from[i], w.bytes)), cpu.Reduce)
		first = 0
	}
	for i := range w.destCount {
		written := m.written(rank, w.to[i], w.bytes)
		if i == 0 && w.sourceCount > 1 {
			continue // the last reduction has written it
		}
		seconds += m.seconds(w.bytes, max(first, written), cpu.Copy)
		first = 0
	}
	m.move(d, rank, seconds)
}

// read notes that a rank reads a region, and gives how much of it its core has
// to fetch. Slots, which are nowhere, are always fetched.
func (m *cores) read(rank int, p place, bytes int64) int64 {
	return m.touch(rank, p, bytes, (*lines).read)
}

// written is the same of a region that is written: a line is fetched before it
// is.
func (m *cores) written(rank int, p place, bytes int64) int64 {
	return m.touch(rank, p, bytes, (*lines).written)
}

func (m *cores) touch(rank int, p place, bytes int64, note func(l *lines, off, bytes int64, core int)) int64 {
	if p.buf == nil {
		return bytes
	}
	l, off, core := p.buf.owner.linesOf(), p.buf.offset+p.off, m.coreOf(rank)
	fetched := l.missing(off, bytes, core)
	m.cluster.touched -= l.touched
	note(l, off, bytes, core)
	m.cluster.touched += l.touched
	return fetched
}

func (m *cores) callModel(nccl.Call) (nccl.Choice, bool) { return nccl.Choice{}, false }
