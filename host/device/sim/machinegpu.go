package sim

import (
	"math"
	"sort"

	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/device/sim/network"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// gpus is a cluster of nodes with GPUs. Each GPU has a port into its node's
// switch, one link for each direction, memory, processors and a share of a NIC;
// each node has links to its leaf switch, each leaf to the spine, where the
// preset oversubscribes them.
type gpus struct {
	preset                                 *preset.Preset
	perNode                                int
	ports                                  []port
	nics                                   []duplex // by node and NIC
	up                                     []duplex // by node, to the leaf; nil if not oversubscribed
	spine                                  []duplex // by leaf
	call, wake, near, kernel, copy, signal int64
}

// port is what a GPU has of its own.
type port struct {
	link   duplex
	memory network.Link
	cores  network.Link
	nic    int32
	node   int32
	leaf   int32
}

// duplex is a link for each direction.
type duplex struct{ out, in network.Link }

func newGPUs(c *Cluster) *gpus {
	p := c.preset
	g := &gpus{
		preset: p, perNode: p.Node.Ranks, call: picos(p.Host.Call), wake: picos(p.Host.Wake),
		near: picos(p.NVLink.Latency), kernel: picos(p.Launch.Kernel), copy: picos(p.Launch.Copy), signal: picos(p.Launch.Signal),
	}
	if g.perNode <= 0 {
		g.perNode = c.ranks
	}
	pair := func(bandwidth float64) duplex {
		return duplex{out: c.net.AddLink(bandwidth), in: c.net.AddLink(bandwidth)}
	}
	nodes := (c.ranks + g.perNode - 1) / g.perNode
	nicsPerNode := max(p.Node.NICs, 1)
	nicBandwidth := p.NIC.Bandwidth * float64(g.perNode) / float64(nicsPerNode)
	for node := range nodes {
		if nodes > 1 {
			for range nicsPerNode {
				g.nics = append(g.nics, pair(nicBandwidth))
			}
			if p.Leaf.Nodes > 0 && p.Leaf.Oversubscription > 1 {
				g.up = append(g.up, pair(nicBandwidth*float64(nicsPerNode)/p.Leaf.Oversubscription))
			}
		}
		for i := range min(g.perNode, c.ranks-node*g.perNode) {
			leaf := int32(0)
			if p.Leaf.Nodes > 0 {
				leaf = int32(node / p.Leaf.Nodes)
			}
			g.ports = append(g.ports, port{
				link: pair(p.NVLink.Bandwidth), memory: c.net.AddLink(p.Memory.Bandwidth), cores: c.net.AddLink(1),
				nic: int32(node*nicsPerNode + i*nicsPerNode/g.perNode), node: int32(node), leaf: leaf,
			})
		}
	}
	if p.Leaf.Nodes > 0 && p.Spine.Oversubscription > 1 {
		for range (nodes + p.Leaf.Nodes - 1) / p.Leaf.Nodes {
			g.spine = append(g.spine, pair(nicBandwidth*float64(nicsPerNode*p.Leaf.Nodes)/p.Spine.Oversubscription))
		}
	}
	return g
}

func (g *gpus) raisePicos() int64 { return g.signal }
func (g *gpus) shares(int) bool   { return false }
func (g *gpus) callPicos() int64  { return g.call }
func (g *gpus) wakePicos() int64  { return g.wake }
func (g *gpus) node(rank int) int { return int(g.ports[rank].node) }

// hopPicos is what the way from one rank to another adds to a message.
func (g *gpus) hopPicos(from, to int) int64 {
	a, b := &g.ports[from], &g.ports[to]
	if a.node == b.node {
		return 0
	}
	latency := g.preset.NIC.Latency
	if g.preset.Leaf.Nodes > 0 {
		latency += g.preset.Leaf.Latency
		if a.leaf != b.leaf {
			latency += g.preset.Spine.Latency
		}
	}
	return picos(latency)
}

func (g *gpus) signalPicos(from, to int) int64 {
	if from == to {
		return 0
	}
	if hop := g.hopPicos(from, to); hop > 0 {
		return hop
	}
	return g.near
}

// barrierPicos is two signals across the cluster, there and back.
func (g *gpus) barrierPicos() int64 { return 2 * g.signalPicos(0, len(g.ports)-1) }

// path adds a flow from one rank's memory to another's.
func (g *gpus) path(d *demand, from, to int, bytes int64, limit float64) {
	a, b := &g.ports[from], &g.ports[to]
	f := d.add(float64(bytes), limit)
	if a.node == b.node {
		f.over(a.link.out).over(b.link.in)
		return
	}
	f.over(g.nics[a.nic].out)
	if len(g.up) > 0 {
		f.over(g.up[a.node].out)
	}
	if a.leaf != b.leaf && len(g.spine) > 0 {
		f.over(g.spine[a.leaf].out).over(g.spine[b.leaf].in)
	}
	if len(g.up) > 0 {
		f.over(g.up[b.node].in)
	}
	f.over(g.nics[b.nic].in)
	d.hop = max(d.hop, g.hopPicos(from, to))
}

// local adds passes over a rank's own memory.
func (g *gpus) local(d *demand, rank int, bytes float64) {
	if bytes > 0 {
		d.add(bytes, 0).over(g.ports[rank].memory)
	}
}

func (g *gpus) demand(d *demand, rank int, t *task) {
	switch t.kind {
	case op.Put:
		g.transfer(d, rank, t.dst.buf.rank(), t.bytes)
	case op.Get, op.Copy, op.Recv:
		g.transfer(d, t.src.buf.rank(), rank, t.bytes)
	case op.CopyBox, op.GetBox:
		g.copyBox(d, rank, t)
	case op.Reduce:
		g.reduce(d, rank, t)
	case op.Signal:
		d.alpha = g.signal
	case op.Gemm:
		d.add(g.gemmSeconds(t), 0).over(g.ports[rank].cores)
		d.alpha += g.kernel
	default:
		g.local(d, rank, float64(t.bytes))
		d.alpha += g.kernel
	}
}

// reduce is a kernel that reads its sources, peers' through their links, and
// writes the result. One that reads from peers is held up by its own memory too,
// but takes no share of it from others.
func (g *gpus) reduce(d *demand, rank int, t *task) {
	own, remote := 1, false
	for i := range int(t.sources) {
		if t.source(i).buf.rank() == rank {
			own++
		} else {
			remote = true
		}
	}
	d.alpha = g.kernel
	if !remote {
		g.local(d, rank, float64(own)*float64(t.bytes))
		return
	}
	limit := g.preset.Memory.Bandwidth / float64(own)
	for i := range int(t.sources) {
		from := t.source(i).buf.rank()
		switch {
		case from == rank:
		case g.ports[from].node == g.ports[rank].node:
			g.path(d, from, rank, t.bytes, min(limit, g.preset.NVLink.Kernel))
		default:
			g.path(d, from, rank, t.bytes, min(limit, g.preset.NIC.Kernel))
		}
	}
}

// transfer is a copy by a copy engine.
func (g *gpus) transfer(d *demand, from, to int, bytes int64) {
	d.alpha = g.copy
	if from == to {
		g.local(d, from, 2*float64(bytes))
		return
	}
	g.path(d, from, to, bytes, 0)
	d.copies = true
}

// copyBox is a copy whose rows, where they are short, are passed over as if they
// were longer: a made-up rule, which was compared with no GPU. One from a peer is
// held up by the memory that it is read from, and by that which it is written to,
// but takes no share of them from others.
func (g *gpus) copyBox(d *demand, rank int, t *task) {
	d.alpha = g.copy
	longer := 1.0
	if row := float64(t.extra.box.RowBytes); row > 0 && row < g.preset.Memory.Row {
		longer = g.preset.Memory.Row / row
	}
	from := t.src.buf.rank()
	if from == rank {
		g.local(d, rank, 2*float64(t.bytes)*longer)
		return
	}
	limit := 0.0
	if longer > 1 {
		limit = g.preset.Memory.Bandwidth / longer
	}
	g.path(d, from, rank, t.bytes, limit)
	d.copies = true
}

// gemmSeconds is a roofline: the operations at the rate that products of this
// size reach, or the bytes, whichever takes longer.
func (g *gpus) gemmSeconds(t *task) float64 {
	x := &t.extra.gemm
	operations := 2 * float64(x.M) * float64(x.N) * float64(x.K)
	peak := g.preset.Gemm.F32
	if t.dtype == op.F64 {
		peak = g.preset.Gemm.F64
	}
	size := float64(t.dtype.Size())
	bytes := size * (float64(x.M)*float64(x.K) + float64(x.K)*float64(x.N) + float64(x.M)*float64(x.N))
	return max(operations/(peak*interpolate(g.preset.Gemm.Efficiency, operations, 1)), bytes/g.preset.Memory.Bandwidth)
}

// interpolate gives the value of a table at x, between its points by the
// logarithm of x, beyond them that of the last; otherwise if there are none.
func interpolate(points []preset.Point, x, otherwise float64) float64 {
	if len(points) == 0 {
		return otherwise
	}
	i := sort.Search(len(points), func(i int) bool { return points[i].X >= x })
	switch i {
	case 0:
		return points[0].Y
	case len(points):
		return points[i-1].Y
	}
	a, b := points[i-1], points[i]
	part := (math.Log(x) - math.Log(a.X)) / (math.Log(b.X) - math.Log(a.X))
	return a.Y + float64(part*(b.Y-a.Y))
}

func (g *gpus) step(*demand, int, *stepWork) {}

func (g *gpus) callModel(call nccl.Call) (nccl.Choice, bool) {
	return g.preset.NCCL.Best(call), true
}
