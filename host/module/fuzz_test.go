package module

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// FuzzCalls makes a guest of random bytes: a seed for its memory, then calls,
// each a row and a way to choose each argument. Whatever it does: the host
// does not panic, the errno is one of the row's, nothing is written outside
// the declared ranges, nothing is left when the instance is closed, and the
// same guest on a fresh instance sees the same.
func FuzzCalls(f *testing.F) {
	e := newEngine(f, proxyModule())
	recorder, err := newRecorder(f.TempDir(), 0, 2)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { recorder.Close() })
	for row := range abi.Table {
		f.Add([]byte{1, byte(row), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
		f.Add([]byte{2, byte(row), 0, 2, 4, 6, 8, 10, 12, 14, 16, 18})
		f.Add([]byte{3, byte(row), 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, byte(row), 2, 4, 6, 1, 1, 1, 1, 1, 1, 1})
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		first, second := fuzzRun(t, e, recorder, input), fuzzRun(t, e, recorder, input)
		if first != second {
			t.Errorf("two runs of the same guest differ:\n%s\n--- and ---\n%s", first, second)
		}
	})
}

// maxFuzzCalls bounds one input's calls, so that streams do not grow for ever.
const maxFuzzCalls = 24

// fuzzGuest is one run of an input.
type fuzzGuest struct {
	*testRank
	input   []byte
	world   *fakeWorld
	handles []uint64 // live ones, stale ones and near misses
	log     strings.Builder
}

func fuzzRun(t *testing.T, e *engine, recorder *flight.Writer, input []byte) string {
	g := newFuzzGuest(t, e, recorder, input)
	defer g.end()
	for range maxFuzzCalls {
		if len(g.input) == 0 || !g.step() {
			break
		}
	}
	return g.log.String()
}

// newFuzzGuest gives a guest with one of everything.
func newFuzzGuest(t *testing.T, e *engine, recorder *flight.Writer, input []byte) *fuzzGuest {
	exchange := newMemoryExchange()
	exchange.noWait = true
	joinWorld(t, exchange, 2)
	world := newFakeWorld(2, true)
	world.devices[0].recorder = recorder
	g := &fuzzGuest{world: world}
	g.testRank = &testRank{t: t, recorder: recorder, Instance: New(Config{
		Size: 2, LocalSize: 2, Seed: 1, Device: world.devices[0], Exchange: exchange, Recorder: recorder, OpTimeout: 1, MaxHandles: 8,
	})}
	g.ctx = g.Context(context.Background())
	var err error
	if g.module, err = e.runtime.InstantiateModule(g.ctx, e.proxy, wazero.NewModuleConfig().WithName("")); err != nil {
		t.Fatal(err)
	}
	g.memory = g.module.Memory()
	g.prepare()
	g.scramble(g.byte(&input))
	g.input = input
	return g
}

func (g *fuzzGuest) prepare() {
	a, b, freed := g.alloc(64), g.alloc(256), g.alloc(16)
	g.must("buffer_free", freed)
	s := g.newStream()
	g.must("event_create", outAt)
	event := g.out()
	pointer, length := g.text("x")
	g.must("share_publish", pointer, length, 0, a, 8, 32)
	g.must("share_lookup", 0, pointer, length, 0, 0, outAt, outAt+8)
	share := g.out()
	g.must("mark_begin", pointer, length, outAt)
	mark := g.out()
	g.must("comm_world", forever, outAt)
	world := g.out()
	other := ballot{splitVote: splitVote{color: -1}}
	if err := g.config.Exchange.Set(ballotKey("world.0/0", 1), other.encode()); err != nil {
		g.t.Fatal(err)
	}
	g.must("comm_split", world, 0, 0, forever, outAt) // of this rank alone
	g.handles = []uint64{a, b, freed, s, event, share, mark, 0, a + 1, s + 1<<32, world, g.out()}
	g.handles = append(g.handles, g.newPipeline(0), g.newPipeline(2))
}

// newPipeline makes a pipeline with entries that stay here, come from the other
// rank and go there; if there are any it is built, and the other has agreed.
func (g *fuzzGuest) newPipeline(entries int) uint64 {
	whole, _ := g.memory.Read(0, g.memory.Size())
	clear(whole[fuzzPipelinesAt:][:abi.PipelineBytes])
	put32(whole[fuzzPipelinesAt+52:], 1) // channels
	g.must("pipeline_create", fuzzPipelinesAt, outAt)
	handle := g.out()
	if entries == 0 {
		return handle
	}
	put32(whole[dataAt:], 0)
	put32(whole[dataAt+4:], 1)
	g.must("pipeline_ranks", handle, dataAt, 2)
	for n := range entries {
		g.scrambleEntry(whole[fuzzEntriesAt+n*abi.PipelineEntryBytes:], 0, n)
	}
	g.must("pipeline_add", handle, fuzzEntriesAt, uint64(entries))
	g.must("pipeline_build", handle, outAt)
	p, _ := g.pipes.get(handle)
	pact := append(p.pact(), 0, 0, 0, 0, 0, 0, 0, 0)
	if err := g.config.Exchange.Set(fmt.Sprintf("pipeline/%d/pact/1", p.number), pact); err != nil {
		g.t.Fatal(err)
	}
	g.must("pipeline_agree", handle, 0)
	return handle
}

// scrambleEntry writes an entry structure that is good for some seeds.
func (g *fuzzGuest) scrambleEntry(b []byte, seed byte, n int) {
	b = b[:abi.PipelineEntryBytes]
	clear(b)
	put32(b, uint32(int(seed)+n)%3)
	put32(b[4:], uint32(int(seed)/2+n)%3) // dst_first
	put32(b[8:], 1+uint32(seed)%2)
	put32(b[16:], uint32(seed)/64) // part_count
	put32(b[20:], uint32(n))
	b[28], b[30] = seed%8, byte(n)%5
	for at := 32; at < 56; at += 8 {
		put64(b[at:], 1+uint64(int(seed)*at/8)%3)
	}
	for at := 56; at < 120; at += 8 {
		put64(b[at:], uint64(seed)%7)
	}
	put64(b[56:], g.handles[n%2])
	put64(b[88:], g.handles[(n+1)%2])
}

// scramble fills the guest's memory, and puts good op structures, views and a
// collective where a pointer may well point.
func (g *fuzzGuest) scramble(seed byte) {
	whole, _ := g.memory.Read(0, g.memory.Size())
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	for at := 0; at < len(whole); at += 8 {
		put64(whole[at:], random.Uint64())
	}
	clear(whole[fuzzCollectiveAt:][:abi.CollectiveBytes])
	put32(whole[fuzzCollectiveAt:], uint32(seed%12))
	copy(whole[dataAt:], "x")
	clear(whole[fuzzPipelinesAt:][:abi.PipelineBytes])
	for at := 0; at < 64; at += 4 {
		put32(whole[fuzzPipelinesAt+at:], uint32(int(seed)*at)%4)
	}
	put32(whole[fuzzPipelinesAt+60:], 0)
	for n := range 8 {
		g.scrambleEntry(whole[fuzzEntriesAt+n*abi.PipelineEntryBytes:], seed, n)
		o := whole[fuzzOpsAt+n*abi.OpBytes:][:abi.OpBytes]
		clear(o)
		put32(o, uint32(seed>>2)%17+uint32(n))
		put64(o[8:], g.handles[(int(seed)+n)%len(g.handles)])
		put64(o[24:], g.handles[n%2])
		put64(o[40:], uint64(seed%80))
		put64(o[48:], uint64(n))
		o[62] = byte(n)
		put32(o[64:], fuzzViewsAt)
		if op.Kind(get32(o)).Boxed() {
			put32(o[64:], uint32(fuzzBoxesAt+n*abi.BoxBytes))
		}
		put64(o[88:], g.handles[4])
		g.scrambleBox(whole[fuzzBoxesAt+n*abi.BoxBytes:][:abi.BoxBytes], seed, n)
		g.scrambleCall(whole[fuzzCallsAt+n*abi.CallBytes:][:abi.CallBytes], seed, n)
		put64(whole[fuzzViewsAt+n*abi.ViewBytes:], g.handles[n])
		put64(whole[fuzzViewsAt+n*abi.ViewBytes+8:], uint64(n))
	}
}

// scrambleBox writes a box structure that is good for some seeds.
func (g *fuzzGuest) scrambleBox(box []byte, seed byte, n int) {
	clear(box)
	put64(box, g.handles[(int(seed)+n)%len(g.handles)])
	put64(box[32:], g.handles[n%2])
	for field := 16; field < 88; field += 8 {
		if field != 32 && field != 40 {
			put64(box[field:], uint64(int(seed)+n*field)%17)
		}
	}
}

// scrambleCall writes a call structure that is good for some seeds.
func (g *fuzzGuest) scrambleCall(call []byte, seed byte, n int) {
	clear(call)
	put64(call, g.handles[10+n%2])
	put32(call[8:], uint32(int(seed)+n)%13)
	put32(call[12:], uint32(n)%3)
	call[16], call[17] = seed%8, byte(n)%6
	put64(call[24:], uint64(seed%40))
	put64(call[32:], g.handles[int(seed)%2*7])
	put64(call[48:], g.handles[1])
	for field := 72; field < 88; field += 4 {
		put32(call[field:], fuzzViewsAt)
	}
}

const (
	fuzzCallsAt      = 24576
	fuzzOpsAt        = 8192
	fuzzViewsAt      = 16384
	fuzzCollectiveAt = 20480
	fuzzBoxesAt      = 28672
	fuzzPipelinesAt  = 32768
	fuzzEntriesAt    = 36864
)

func (g *fuzzGuest) byte(input *[]byte) byte {
	if len(*input) == 0 {
		return 0
	}
	b := (*input)[0]
	*input = (*input)[1:]
	return b
}

// argument is a likely value or, seldom, any.
func (g *fuzzGuest) argument() uint64 {
	likely := append([]uint64{
		outAt, outAt + 8, dataAt, fuzzOpsAt, fuzzViewsAt, fuzzCollectiveAt, fuzzCallsAt, fuzzBoxesAt, fuzzPipelinesAt, fuzzEntriesAt, 1, 2, 3, 4, 16, 63, 64, 65,
		1<<17 - 8, 1 << 17, 1<<32 - 1, 1<<32 - 8, 1<<63 - 1, 1 << 63, 1<<64 - 1, outAt + 1, outAt + 4,
	}, g.handles...)
	choice := int(g.byte(&g.input))
	if choice < len(likely) {
		return likely[choice]
	}
	var v uint64
	for range choice % 9 {
		v = v<<8 | uint64(g.byte(&g.input))
	}
	return v
}

// step makes one call and checks it; false ends the guest.
func (g *fuzzGuest) step() bool {
	row := &abi.Table[int(g.byte(&g.input))%len(abi.Table)]
	args := make([]uint64, len(row.Params))
	for n := range row.Params {
		args[n] = g.argument()
		if row.Params[n].Val == abi.I32 {
			args[n] = uint64(uint32(args[n]))
		}
	}
	whole, _ := g.memory.Read(0, g.memory.Size())
	before, live := bytes.Clone(whole), g.live()
	errno, err := g.call(row.Name, args...)
	fmt.Fprintf(&g.log, "%s%x: %v %v\n", row.Name, args, errno, err)
	var abort *AbortError
	if errors.As(err, &abort) && row.Name == "abort" {
		return false
	}
	if err != nil {
		g.t.Fatalf("%s%x: %v", row.Name, args, err)
	}
	if !row.Returns(errno) {
		g.t.Errorf("%s%x: %v is not one of its errnos (%s)", row.Name, args, errno, g.LastError())
	}
	if errno != abi.OK && g.live() > live {
		g.t.Errorf("%s%x: %v, and yet a handle more", row.Name, args, errno)
	}
	g.checkWrites(row, args, errno, before, whole)
	return true
}

func (g *fuzzGuest) live() int {
	return g.buffers.live + g.streams.live + g.events.live + g.marks.live + g.comms.live + g.pipes.live
}

// checkWrites compares memory outside the ranges that the row declares, all of
// it if the call failed (but for a count that is written all the same).
func (g *fuzzGuest) checkWrites(row *abi.Row, args []uint64, errno abi.Errno, before, after []byte) {
	for n := range row.Params {
		p := &row.Params[n]
		if p.Role != abi.Out || errno != abi.OK && p.Name != "accepted" {
			continue
		}
		length := uint64(p.Bytes)
		if n+1 < len(args) && row.Params[n+1].Role == abi.Len {
			length *= args[n+1]
		}
		if args[n]+length > uint64(len(after)) {
			continue
		}
		fmt.Fprintf(&g.log, " %x", after[args[n]:args[n]+length])
		copy(before[args[n]:], after[args[n]:args[n]+length])
	}
	if !bytes.Equal(before, after) {
		g.t.Errorf("%s%x: %v, and memory outside its results has changed", row.Name, args, errno)
	}
}

// end closes the instance and looks for what is left.
func (g *fuzzGuest) end() {
	if err := g.Close(); err != nil {
		g.t.Errorf("close: %v", err)
	}
	g.module.Close(context.Background())
	d := g.world.devices[0]
	// A stream that still waits is left to the device.
	if d.used != 0 || d.imports != 0 || d.events != 0 {
		g.t.Errorf("left: %d bytes, %d imports, %d events", d.used, d.imports, d.events)
	}
}
