package devicetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var stormCases = []testCase{
	{"storm/one rank", func(t *testing.T, open Open) { storm(t, open, 1, 3, 600) }},
	{"storm/three ranks", func(t *testing.T, open Open) { storm(t, open, 3, 2, 900) }},
	{"storm/five ranks, one stream", func(t *testing.T, open Open) { storm(t, open, 5, 1, 600) }},
}

// A storm is a random program for all ranks. Its order is that of generation:
// whatever touches a block waits, through an event or a signal, for what
// touched it before. An oracle in memory executes the same program one
// operation after the other.
type program struct {
	random  *rand.Rand
	size    int // ranks
	streams int
	memory  [][]byte    // by rank
	last    []place     // by block: who touched it last
	raised  []uint64    // by stream of the world: its signals' value
	steps   [][]command // by rank
}

const (
	stormBlocks     = 8 // per rank
	stormBlockBytes = 1 << 10
)

// place is a stream of a rank; the zero value is none.
type place struct{ rank, stream int }

// command is one thing that a rank submits, with buffers still given by rank.
type command struct {
	stream  int
	o       op.Op
	dst     int
	sources []int // by rank; one for transfers
	event   int   // index + 1
	sync    bool
}

func storm(t *testing.T, open Open, size, streams, steps int) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := &program{
				random: rand.New(rand.NewPCG(seed, uint64(size))), size: size, streams: streams,
				memory: make([][]byte, size), last: make([]place, size*stormBlocks),
				raised: make([]uint64, size*streams), steps: make([][]command, size),
			}
			for i := range p.memory {
				p.memory[i] = pattern(stormBlocks*stormBlockBytes, uint64(i))
			}
			for range steps {
				p.step()
			}
			w := newWorld(t, open, size)
			w.each(func(r *rank) { p.execute(r) })
		})
	}
}

// step generates one operation somewhere.
func (p *program) step() {
	at := place{p.random.IntN(p.size), p.random.IntN(p.streams) + 1}
	kind := []op.Kind{op.Copy, op.Put, op.Get, op.Fill, op.Reduce, op.CopyBox, op.GetBox}[p.random.IntN(7)]
	c := command{stream: at.stream, dst: at.rank, o: op.Op{Kind: kind, Peer: -1, Type: op.I32}}
	c.o.Bytes = int64(p.random.IntN(stormBlockBytes/8)) * 4
	offset := func() int64 {
		return int64(p.random.IntN(stormBlocks)*stormBlockBytes + p.random.IntN(stormBlockBytes/8)*4)
	}
	c.o.Dst.Off = offset()
	switch kind {
	case op.Copy, op.CopyBox:
		c.sources = []int{at.rank}
	case op.Put:
		c.dst, c.sources = p.random.IntN(p.size), []int{at.rank}
	case op.Get, op.GetBox:
		c.sources = []int{p.random.IntN(p.size)}
	case op.Fill:
		c.o.Value = p.random.Uint64()
	case op.Reduce:
		c.o.Red = redOps[p.random.IntN(len(redOps))]
		for range 1 + p.random.IntN(op.MaxSources) {
			from, rank := offset(), p.random.IntN(p.size)
			if rank == c.dst && from/stormBlockBytes == c.o.Dst.Off/stormBlockBytes {
				from = c.o.Dst.Off // in place, or apart: what overlaps otherwise is undefined
			}
			c.o.Sources[len(c.sources)].Off = from
			c.sources = append(c.sources, rank)
		}
		c.o.SourceCount = uint8(len(c.sources))
	}
	if kind != op.Fill && kind != op.Reduce {
		c.o.Src.Off = offset()
	}
	if kind.Boxed() {
		p.stormBox(&c.o)
	}
	p.schedule(at, c)
}

// stormBox makes o the copy of a box from another block than it goes to. The box
// spans no more than half of either.
func (p *program) stormBox(o *op.Op) {
	if o.Src.Off/stormBlockBytes == o.Dst.Off/stormBlockBytes {
		o.Src.Off = (o.Src.Off + stormBlockBytes) % (stormBlocks * stormBlockBytes)
	}
	distance := func(least int64) int64 { return least + int64(p.random.IntN(stormBlockBytes/64)) }
	b := &op.BoxShape{Planes: 1 + p.random.Int64N(2), Rows: 1 + p.random.Int64N(4), RowBytes: p.random.Int64N(stormBlockBytes / 32)}
	b.DstRow, b.SrcRow = distance(b.RowBytes), distance(b.RowBytes)
	b.DstPlane, b.SrcPlane = b.Rows*b.DstRow, b.Rows*b.SrcRow
	o.Box, o.Bytes = b, b.Bytes()
}

// schedule appends the command to its rank's, behind what it depends on, and
// applies it to the oracle's memory.
func (p *program) schedule(at place, c command) {
	blocks := []int{c.dst*stormBlocks + int(c.o.Dst.Off)/stormBlockBytes}
	for i, rank := range c.sources {
		blocks = append(blocks, rank*stormBlocks+int(c.source(i))/stormBlockBytes)
	}
	for _, b := range blocks {
		p.depend(at, p.last[b])
		p.last[b] = at
	}
	p.steps[at.rank] = append(p.steps[at.rank], c)
	p.apply(c)
	if p.random.IntN(50) == 0 {
		p.steps[at.rank] = append(p.steps[at.rank], command{stream: 1 + p.random.IntN(p.streams), sync: true})
	}
}

func (c *command) source(i int) int64 {
	if c.o.Kind == op.Reduce {
		return c.o.Sources[i].Off
	}
	return c.o.Src.Off
}

// depend lets stream at go on only after what was submitted to before.
func (p *program) depend(at, before place) {
	if before == at || before.stream == 0 {
		return
	}
	if before.rank == at.rank && p.random.IntN(2) == 0 {
		event := len(p.steps[at.rank]) + 1
		p.steps[at.rank] = append(p.steps[at.rank],
			command{stream: before.stream, o: op.Op{Kind: op.EventRecord, Peer: -1}, event: event},
			command{stream: at.stream, o: op.Op{Kind: op.EventWait, Peer: -1}, event: event})
		return
	}
	value := &p.raised[before.rank*p.streams+before.stream-1]
	*value++
	p.steps[before.rank] = append(p.steps[before.rank], command{stream: before.stream, o: signal(at.rank, uint32(before.stream), *value)})
	p.steps[at.rank] = append(p.steps[at.rank], command{stream: at.stream, o: wait(before.rank, uint32(before.stream), *value)})
}

// apply executes a command in the oracle's memory.
func (p *program) apply(c command) {
	if c.o.Kind.Boxed() {
		drawBox(p.memory[c.dst][c.o.Dst.Off:], p.memory[c.sources[0]][c.o.Src.Off:], *c.o.Box)
		return
	}
	dst := p.memory[c.dst][c.o.Dst.Off:][:c.o.Bytes]
	switch c.o.Kind {
	case op.Fill:
		op.FillPattern(dst, c.o.Type, c.o.Value, 0)
	case op.Reduce:
		var sources [][]byte
		for i, rank := range c.sources {
			sources = append(sources, p.memory[rank][c.source(i):][:c.o.Bytes])
		}
		copy(dst, naiveReduce(sources, c.o.Type, c.o.Red))
	default:
		copy(dst, p.memory[c.sources[0]][c.o.Src.Off:][:c.o.Bytes])
	}
}

// execute runs a rank's part and compares its memory with the oracle's.
func (p *program) execute(r *rank) {
	own := r.filled(stormBlocks*stormBlockBytes, uint64(r.n))
	all := r.share("memory", own)
	streams := make([]device.Stream, p.streams+1)
	for i := range p.streams {
		streams[i+1] = r.stream()
	}
	events := make(map[int]device.Event)
	for _, c := range p.steps[r.n] {
		s, o := streams[c.stream], c.o
		if c.sync {
			r.sync(s)
			continue
		}
		if c.event != 0 {
			if events[c.event] == nil {
				events[c.event] = r.event()
			}
			o.Event = events[c.event]
		}
		if o.Kind == op.Copy || len(c.sources) > 0 || o.Kind == op.Fill {
			p.bind(&o, &c, r.n, own, all)
		}
		r.must(s.Submit(&o))
	}
	for _, s := range streams[1:] {
		r.sync(s)
	}
	r.barrier()
	if got := r.read(own); !bytes.Equal(got, p.memory[r.n]) {
		r.failf("%s", firstDifference(got, p.memory[r.n], "memory after the storm"))
	}
	r.barrier()
}

// bind puts buffers in place of ranks.
func (p *program) bind(o *op.Op, c *command, rank int, own op.Buffer, all []op.Buffer) {
	buffer := func(of int) op.Buffer {
		if of == rank {
			return own
		}
		return all[of]
	}
	o.Dst.Buf = buffer(c.dst)
	for i, of := range c.sources {
		if o.Kind == op.Reduce {
			o.Sources[i].Buf = buffer(of)
		} else {
			o.Src.Buf = buffer(of)
		}
	}
}
