package sim_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// A storm is a random program for all ranks. Its order is that of generation:
// whatever touches a block waits, through an event or a signal, for what touched
// it before, so there is one result, which an oracle computes by carrying out
// one operation after the other.
type storm struct {
	random  *rand.Rand
	size    int // ranks
	streams int // of each
	memory  [][]byte
	last    []thread             // by block: who touched it last
	talk    map[thread][]int     // blocks of the messages that a thread has begun one after another
	raised  map[[2]thread]uint64 // signals from a thread to another
	steps   [][]command          // by rank
	calls   int
}

const (
	blocks     = 6 // of a rank
	blockBytes = 512
)

// thread is a stream of a rank; the zero value is none.
type thread struct{ rank, stream int }

// command is one thing that a rank does, with buffers still given by blocks.
type command struct {
	stream  int
	o       op.Op
	blocks  []int // what it writes to first, then what it reads, of all ranks' blocks
	event   int   // index + 1
	program int   // of a call
	sync    bool
	barrier bool
}

func newStorm(seed uint64, size, streams, steps int) *storm {
	p := &storm{
		random: rand.New(rand.NewPCG(seed, uint64(size))), size: size, streams: streams,
		last: make([]thread, size*blocks), talk: make(map[thread][]int), raised: make(map[[2]thread]uint64),
		steps: make([][]command, size),
	}
	for rank := range size {
		p.memory = append(p.memory, make([]byte, blocks*blockBytes))
		op.FillPattern(p.memory[rank], op.U8, uint64(rank), 0)
	}
	for range steps {
		p.step()
	}
	return p
}

func (p *storm) thread(rank int) thread { return thread{rank, 1 + p.random.IntN(p.streams)} }

func (p *storm) block(rank int) int { return rank*blocks + p.random.IntN(blocks) }

func (p *storm) bytes(block int) []byte {
	return p.memory[block/blocks][block%blocks*blockBytes:][:blockBytes]
}

// step generates one thing.
func (p *storm) step() {
	at := p.thread(p.random.IntN(p.size))
	to, from := p.block(at.rank), p.block(p.random.IntN(p.size))
	n := int64(p.random.IntN(blockBytes/4+1)) * 4
	o := op.Op{Bytes: n, Peer: -1, Type: op.I32}
	switch p.random.IntN(9) {
	case 0:
		p.transfer(at, op.Copy, o, to, p.block(at.rank))
	case 1:
		p.transfer(at, op.Put, o, from, to)
	case 2:
		p.transfer(at, op.Get, o, to, from)
	case 3:
		o.Kind, o.Value = op.Fill, p.random.Uint64()
		p.add(at, command{o: o, blocks: []int{to}})
		op.FillPattern(p.bytes(to)[:n], op.I32, o.Value, 0)
	case 4:
		p.reduce(at, o, to)
	case 5:
		p.message(at, p.thread(p.random.IntN(p.size)), n)
	case 6:
		p.call(p.random.IntN(3))
	case 7:
		c := command{stream: at.stream, sync: true}
		p.steps[at.rank] = append(p.steps[at.rank], c)
	case 8:
		if p.random.IntN(10) == 0 {
			for rank := range p.steps {
				p.steps[rank] = append(p.steps[rank], command{barrier: true})
			}
		}
	}
}

func (p *storm) transfer(at thread, kind op.Kind, o op.Op, to, from int) {
	o.Kind = kind
	p.add(at, command{o: o, blocks: []int{to, from}})
	copy(p.bytes(to)[:o.Bytes], p.bytes(from))
}

func (p *storm) reduce(at thread, o op.Op, to int) {
	o.Kind, o.Red = op.Reduce, []op.RedOp{op.Sum, op.Prod, op.Min, op.Max}[p.random.IntN(4)]
	c := command{o: o, blocks: []int{to}}
	var sources [][]byte
	for range 1 + p.random.IntN(op.MaxSources) {
		from := p.block(p.random.IntN(p.size))
		c.blocks = append(c.blocks, from)
		sources = append(sources, p.bytes(from)[:o.Bytes])
	}
	c.o.SourceCount = uint8(len(sources))
	p.add(at, c)
	copy(p.bytes(to), combined(o.Red, sources))
}

// combined is the oracle of a reduction of 32-bit integers.
func combined(red op.RedOp, sources [][]byte) []byte {
	out := slices.Clone(sources[0])
	for _, source := range sources[1:] {
		for i := 0; i < len(out); i += 4 {
			a, b := int32(binary.LittleEndian.Uint32(out[i:])), int32(binary.LittleEndian.Uint32(source[i:]))
			switch red {
			case op.Sum:
				a += b
			case op.Prod:
				a *= b
			case op.Min:
				a = min(a, b)
			case op.Max:
				a = max(a, b)
			}
			binary.LittleEndian.PutUint32(out[i:], uint32(a))
		}
	}
	return out
}

// message is a send and a receive. Channels belong to pairs of threads, so that
// their messages have an order.
func (p *storm) message(from, to thread, n int64) {
	src, dst := p.block(from.rank), p.block(to.rank)
	if src == dst {
		return
	}
	channel := uint32(from.stream*8 + to.stream)
	sent := command{o: op.Op{Kind: op.Send, Peer: int32(to.rank), Slot: channel, Bytes: n}, blocks: []int{src}}
	taken := command{o: op.Op{Kind: op.Recv, Peer: int32(from.rank), Slot: channel, Bytes: n}, blocks: []int{dst}}
	// A signal behind the one must not be what the other waits for.
	p.prepare(from, sent)
	p.prepare(to, taken)
	if from == to { // nothing may come between the two
		p.part(from, []int{src, dst})
	}
	p.add(from, sent)
	p.add(to, taken)
	copy(p.bytes(dst)[:n], p.bytes(src))
}

// call is a collective of all ranks from one block of each to another: two of
// them at once, a group, for kind 2.
func (p *storm) call(kind int) {
	p.calls++
	count := 1 + kind/2
	order := p.random.Perm(blocks)
	var commands []command
	var threads []thread
	for rank := range p.size {
		c := command{o: op.Op{Kind: op.CollectiveCall, Term: op.Term{Collective: uint32(p.calls)}}, program: kind + 1}
		for _, b := range order[:2*count] {
			c.blocks = append(c.blocks, rank*blocks+b)
		}
		commands, threads = append(commands, c), append(threads, p.thread(rank))
		p.prepare(threads[rank], c)
	}
	for rank, c := range commands {
		p.add(threads[rank], c)
	}
	for i := range count {
		var sources [][]byte
		for rank := range p.size {
			sources = append(sources, p.bytes(rank*blocks+order[2*i+1]))
		}
		sum := combined(op.Sum, sources)
		for rank := range p.size {
			copy(p.bytes(rank*blocks+order[2*i]), sum)
		}
	}
}

// add appends a command to its thread, behind what it depends on.
func (p *storm) add(at thread, c command) {
	c.stream = at.stream
	message := c.o.Kind == op.Send || c.o.Kind == op.Recv
	p.prepare(at, c)
	if message {
		p.part(at, c.blocks)
	}
	p.append(at, c)
	if message {
		p.talk[at] = append(p.talk[at], c.blocks...)
	}
}

// part ends a thread's run of messages, which have no order among them, if one
// has touched any of the blocks.
func (p *storm) part(at thread, blocks []int) {
	if slices.ContainsFunc(blocks, func(b int) bool { return slices.Contains(p.talk[at], b) }) {
		p.append(at, command{stream: at.stream, o: signal(at.rank, 1000, 1)})
	}
}

// prepare lets a thread wait for all that has touched a command's blocks.
func (p *storm) prepare(at thread, c command) {
	for _, b := range c.blocks {
		p.depend(at, p.last[b])
		p.last[b] = at
	}
}

func (p *storm) append(at thread, c command) {
	if c.o.Kind != op.Send && c.o.Kind != op.Recv {
		delete(p.talk, at)
	}
	p.steps[at.rank] = append(p.steps[at.rank], c)
}

// depend lets a thread go on only after what was submitted to another before.
func (p *storm) depend(at, before thread) {
	if before == at || before.stream == 0 {
		return
	}
	if before.rank == at.rank && p.random.IntN(2) == 0 {
		event := len(p.steps[at.rank]) + 1
		p.append(before, command{stream: before.stream, o: op.Op{Kind: op.EventRecord, Peer: -1}, event: event})
		p.append(at, command{stream: at.stream, o: op.Op{Kind: op.EventWait, Peer: -1}, event: event})
		return
	}
	pair := [2]thread{before, at}
	p.raised[pair]++
	slot := uint32(before.stream*8 + at.stream)
	p.append(before, command{stream: before.stream, o: signal(at.rank, slot, p.raised[pair])})
	p.append(at, command{stream: at.stream, o: wait(before.rank, slot, p.raised[pair])})
}

// execute carries a rank's part out and compares its memory with the oracle's.
func (p *storm) execute(r *rank) {
	own := r.alloc(blocks * blockBytes)
	begin := make([]byte, own.Size())
	op.FillPattern(begin, op.U8, uint64(r.n), 0)
	r.must(r.Write(view(own, 0), begin))
	all := r.share("memory", own)
	all[r.n] = own
	comm := r.comm("all")
	streams := make([]device.Stream, p.streams+1)
	for i := range p.streams {
		streams[i+1] = r.stream()
	}
	events := make(map[int]device.Event)
	for _, c := range p.steps[r.n] {
		switch {
		case c.sync:
			r.sync(streams[c.stream])
			continue
		case c.barrier:
			r.barrier()
			continue
		case c.event > 0:
			if events[c.event] == nil {
				events[c.event] = r.event()
			}
			c.o.Event = events[c.event]
		}
		o := c.bind(r, comm, all)
		r.must(streams[c.stream].Submit(&o))
	}
	for _, s := range streams[1:] {
		r.must(s.Close())
	}
	r.barrier()
	got := make([]byte, own.Size())
	r.must(r.Read(got, view(own, 0)))
	if want := p.memory[r.n]; !bytes.Equal(got, want) {
		at := 0
		for got[at] == want[at] {
			at++
		}
		r.w.tb.Errorf("rank %d: byte %d of block %d is %d, want %d", r.n, at%blockBytes, at/blockBytes, got[at], want[at])
	}
}

// bind puts buffers in place of blocks.
func (c *command) bind(r *rank, comm device.Comm, all []op.Buffer) op.Op {
	o := c.o
	at := func(i int) op.View { return view(all[c.blocks[i]/blocks], int64(c.blocks[i]%blocks)*blockBytes) }
	switch o.Kind {
	case op.Copy, op.Put, op.Get:
		o.Dst, o.Src = at(0), at(1)
	case op.Fill, op.Recv:
		o.Dst = at(0)
	case op.Send:
		o.Src = at(0)
	case op.Reduce:
		o.Dst = at(0)
		for i := range o.SourceCount {
			o.Sources[i] = at(1 + int(i))
		}
	case op.CollectiveCall:
		program := joint(r.n, r.size, blockBytes)
		if c.program == 2 {
			program = oneshot(r.n, r.size, blockBytes)
		}
		var calls []*op.Call
		for i := 0; i < len(c.blocks); i += 2 {
			calls = append(calls, &op.Call{
				Collective: op.AllReduce, Type: op.I32, Red: op.Sum, Count: blockBytes / 4, Bytes: blockBytes,
				Program: program, In: at(i + 1), Out: at(i),
			})
		}
		term := o.Term
		o = call(comm, calls...)
		o.Term = term
	}
	return o
}

// oneshot is an all-reduce through slots, of up to eight ranks.
func oneshot(rank, size int, bytes int64) *op.Program {
	slot := func(rank int) op.Place { return op.Place{Rank: int32(rank), Area: op.AreaSlot} }
	var slots []op.Place
	for peer := range size {
		slots = append(slots, slot(peer))
	}
	move := func(from []op.Place, to op.Place) op.Step {
		return op.Step{Kind: op.StepMove, Peer: -1, Bytes: bytes, Sources: from, Dests: []op.Place{to}}
	}
	return &op.Program{Name: "oneshot", SlotBytes: bytes, Met: true, Steps: []op.Step{
		move([]op.Place{{Rank: int32(rank), Area: op.AreaIn}}, slot(rank)),
		{Kind: op.StepEnter, Peer: -1},
		{Kind: op.StepMeet, Peer: -1},
		move(slots, op.Place{Rank: int32(rank), Area: op.AreaOut}),
	}}
}

// stormPresets are machines of all kinds.
func stormPresets(tb testing.TB) []*preset.Preset {
	busy := tiny(tb, "host.call=0.3us", "host.wake=1us", "launch.signal=0.2us", "launch.engines=1", "node.ranks=2", "tier.leaf.nodes=1", "tier.leaf.oversubscription=2")
	busy.Name = "tiny, busy"
	return []*preset.Preset{tiny(tb), busy, must(preset.Find("h100")), must(preset.Find("cpu"))}
}

func TestStorm(t *testing.T) {
	for seed := range uint64(8) {
		size := 1 + int(seed)
		p := newStorm(seed, size, 1+int(seed%3), 250)
		for _, machine := range stormPresets(t) {
			t.Run(fmt.Sprintf("seed %d, %d ranks, %s", seed, size, machine.Name), func(t *testing.T) {
				o := sim.Options{Preset: machine, Ranks: size, RealBytes: -1}
				newWorld(t, o).run(p.execute)
			})
		}
		t.Run(fmt.Sprintf("seed %d, %d ranks, free", seed, size), func(t *testing.T) {
			var all sync.WaitGroup
			for _, r := range newWorld(t, sim.Options{Preset: tiny(t), Ranks: size, RealBytes: -1}).ranks {
				all.Go(func() { p.execute(r) })
			}
			all.Wait()
		})
	}
}

// TestSame runs storms again and again: every record of every rank must be the
// same, and so must the time and what the run has cost.
func TestSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(2) {
		p := newStorm(seed, 5, 3, 200)
		for _, machine := range stormPresets(t) {
			t.Run(fmt.Sprintf("seed %d, %s", seed, machine.Name), func(t *testing.T) {
				first := ""
				for run := range 20 {
					runtime.GOMAXPROCS(1 + run%2)
					w := recordedWorld(t, sim.Options{Preset: machine, Ranks: p.size, RealBytes: -1})
					w.run(p.execute)
					if got := w.fingerprint(); first == "" {
						first = got
					} else if got != first {
						t.Fatalf("run %d: %s\nthe first was %s", run, got, first)
					}
				}
			})
		}
	}
}

// fingerprint is a text that depends on all that a run has recorded.
func (w *world) fingerprint() string {
	hash, records := fnv.New64a(), 0
	for _, log := range w.logs {
		for r := range log.Records() {
			fmt.Fprintln(hash, r)
			records++
		}
	}
	return fmt.Sprintf("%d records, %x, %d ns, %+v", records, hash.Sum64(), w.Now(), w.Stats())
}
