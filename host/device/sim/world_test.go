package sim_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// tiny is a preset of round numbers: nodes of four GPUs that have 1 GB/s to
// each other and to other nodes, memory of 10 GB/s, 1 Tflop/s, and threads that
// cost nothing. Settings are as of --set.
func tiny(tb testing.TB, settings ...string) *preset.Preset {
	tb.Helper()
	const us = 1e-6
	p := &preset.Preset{
		Name: "tiny", Machine: preset.GPU,
		Node:    preset.Node{Ranks: 4, NICs: 4},
		Memory:  preset.Memory{Bytes: 1 << 40, Bandwidth: 10e9},
		Launch:  preset.Launch{Kernel: 1 * us, Copy: 2 * us},
		NVLink:  preset.Link{Bandwidth: 1e9, Kernel: 1e9, Latency: 1 * us},
		NIC:     preset.Link{Bandwidth: 1e9, Kernel: 1e9, Latency: 5 * us},
		Gemm:    preset.Gemm{F32: 1e12, F64: 5e11, BF16: 1e12},
		Sources: make(map[string]string),
		CPU:     preset.CPU{Cores: 2, Op: 1 * us, Signal: 1 * us, Switch: 2 * us},
	}
	p.NCCL.Overhead = 10 * us
	for _, s := range settings {
		if err := p.Set(s); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

// world is a cluster and what its ranks have in common.
type world struct {
	*sim.Cluster
	tb    testing.TB
	logs  []*flight.Log // of ranks with recorders
	ranks []*rank

	everyone []int // numbers of all ranks
}

// rank is one of them, with shorthands that end its body on an error.
type rank struct {
	device.Device
	w       *world
	n, size int
	x       device.Exchange
}

// newWorld opens the devices of a cluster.
func newWorld(tb testing.TB, o sim.Options) *world {
	tb.Helper()
	w := &world{Cluster: must(sim.New(o)), tb: tb}
	for n := range o.Ranks {
		w.open(n, o.Ranks, nil)
	}
	return w
}

// recordedWorld is a world whose ranks have recorders, as runs have.
func recordedWorld(tb testing.TB, o sim.Options) *world {
	tb.Helper()
	w := &world{Cluster: must(sim.New(o)), tb: tb}
	dir := tb.TempDir()
	for n := range o.Ranks {
		path := filepath.Join(dir, fmt.Sprint(n))
		recorder := must(flight.CreateVirtual(path, flight.Meta{Rank: n, Size: o.Ranks}, 1<<16, w.Now))
		tb.Cleanup(recorder.Discard)
		w.logs = append(w.logs, recorder.Log())
		w.open(n, o.Ranks, recorder)
	}
	return w
}

func (w *world) open(n, size int, recorder *flight.Writer) {
	d := must(w.Open(device.Config{Rank: n, Size: size, Recorder: recorder}))
	w.everyone = append(w.everyone, n)
	w.ranks = append(w.ranks, &rank{Device: d, w: w, n: n, size: size, x: w.Exchange(n)})
}

// each runs a body as every rank.
func (w *world) each(body func(r *rank)) error {
	bodies := make([]func(), len(w.ranks))
	for i, r := range w.ranks {
		bodies[i] = func() { body(r) }
	}
	return w.Run(bodies)
}

// run is each, and demands that all goes well.
func (w *world) run(body func(r *rank)) {
	w.tb.Helper()
	if err := w.each(body); err != nil {
		w.tb.Fatal(err)
	}
}

func (r *rank) must(err error) {
	r.w.tb.Helper()
	if err != nil {
		r.w.tb.Fatalf("rank %d: %v", r.n, err)
	}
}

// is demands an error that wraps want.
func (r *rank) is(err, want error) {
	r.w.tb.Helper()
	if !errors.Is(err, want) {
		r.w.tb.Fatalf("rank %d: error %v, want %v", r.n, err, want)
	}
}

// at demands a virtual time.
func (r *rank) at(nanos int64) {
	r.w.tb.Helper()
	if now := r.Now(); now != nanos {
		r.w.tb.Errorf("rank %d: it is %d ns, want %d", r.n, now, nanos)
	}
}

func (r *rank) alloc(bytes int64) op.Buffer {
	r.w.tb.Helper()
	b, err := r.Alloc(bytes)
	r.must(err)
	return b
}

func (r *rank) stream() device.Stream {
	r.w.tb.Helper()
	s, err := r.NewStream()
	r.must(err)
	return s
}

func (r *rank) event() device.Event {
	r.w.tb.Helper()
	e, err := r.NewEvent()
	r.must(err)
	return e
}

func (r *rank) submit(s device.Stream, ops ...op.Op) {
	r.w.tb.Helper()
	for i := range ops {
		r.must(s.Submit(&ops[i]))
	}
}

func (r *rank) sync(s device.Stream) {
	r.w.tb.Helper()
	r.must(s.Sync(device.Forever))
}

func (r *rank) barrier() {
	r.w.tb.Helper()
	r.must(r.Barrier(device.Forever))
}

// share makes a buffer known under a name and gives every rank's.
func (r *rank) share(name string, b op.Buffer) []op.Buffer {
	r.w.tb.Helper()
	h, err := r.Export(view(b, 0), b.Size())
	r.must(err)
	r.must(r.x.Set(fmt.Sprint(name, r.n), h.Encode()))
	all := make([]op.Buffer, r.size)
	for peer := range all {
		text, err := r.x.Get(fmt.Sprint(name, peer), device.Forever)
		r.must(err)
		h, err := device.DecodeHandle(text)
		r.must(err)
		all[peer], err = r.Import(peer, h)
		r.must(err)
	}
	return all
}

// comm is the communicator of all ranks.
func (r *rank) comm(name string) device.Comm {
	r.w.tb.Helper()
	c, err := r.Device.(device.Collectives).NewComm(name, r.w.everyone, device.Forever)
	r.must(err)
	return c
}

func view(b op.Buffer, off int64) op.View { return op.View{Buf: b, Off: off} }

func signal(peer int, slot uint32, value uint64) op.Op {
	return op.Op{Kind: op.Signal, Peer: int32(peer), Slot: slot, Value: value}
}

func wait(peer int, slot uint32, value uint64) op.Op {
	return op.Op{Kind: op.Wait, Peer: int32(peer), Slot: slot, Value: value}
}

// move is a Copy, Put or Get.
func move(kind op.Kind, dst, src op.View, bytes int64) op.Op {
	return op.Op{Kind: kind, Dst: dst, Src: src, Bytes: bytes, Peer: -1}
}

func send(peer int, channel uint32, src op.View, bytes int64) op.Op {
	return op.Op{Kind: op.Send, Peer: int32(peer), Slot: channel, Src: src, Bytes: bytes}
}

func recv(peer int, channel uint32, dst op.View, bytes int64) op.Op {
	return op.Op{Kind: op.Recv, Peer: int32(peer), Slot: channel, Dst: dst, Bytes: bytes}
}

func reduce(dst op.View, bytes int64, sources ...op.View) op.Op {
	o := op.Op{Kind: op.Reduce, Type: op.F32, Red: op.Sum, Peer: -1, Dst: dst, Bytes: bytes, SourceCount: uint8(len(sources))}
	copy(o.Sources[:], sources)
	return o
}

// joint is a program of a collective in which each rank writes its part of the
// sum of all inputs to its own output: all must come, and none leaves early.
func joint(rank, size int, bytes int64) *op.Program {
	all := func(kind op.StepKind) op.Step { return op.Step{Kind: kind, Peer: -1} }
	p := &op.Program{Name: "joint", Met: true, Steps: []op.Step{all(op.StepEnter), all(op.StepMeet)}}
	me := op.Place{Rank: int32(rank), Area: op.AreaOut}
	for peer := range size {
		from := []op.Place{{Rank: int32(peer), Area: op.AreaIn}}
		if peer > 0 {
			from = append([]op.Place{me}, from...)
		}
		p.Steps = append(p.Steps, op.Step{Kind: op.StepMove, Peer: -1, Bytes: bytes, Sources: from, Dests: []op.Place{me}})
	}
	p.Steps = append(p.Steps, all(op.StepLeave), all(op.StepPart))
	return p
}

// allReduce is a call of that program.
func allReduce(c op.Comm, in, out op.Buffer) *op.Call {
	bytes := in.Size()
	return &op.Call{
		Collective: op.AllReduce, Type: op.I32, Red: op.Sum, Count: bytes / 4, Bytes: bytes,
		Program: joint(c.Rank(), c.Size(), bytes), In: view(in, 0), Out: view(out, 0),
	}
}

func call(c op.Comm, calls ...*op.Call) op.Op {
	for i := range calls[1:] {
		calls[i].Next = calls[i+1]
	}
	return op.Op{Kind: op.CollectiveCall, Comm: c, Call: calls[0], Term: op.Term{Collective: 1}}
}
