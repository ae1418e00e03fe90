// Package devicetest is the one suite that every device passes. A device's own
// test is
//
//	func TestDevice(t *testing.T) { devicetest.Run(t, cpu.Open) }
//
// The suite runs ranks as goroutines of one process and finds everything that
// a device can do, and must not do, through package device's interfaces.
package devicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Open makes the device of one rank. Ranks of the same world share their
// Config.Exchange, a pointer to an [Exchange].
type Open func(device.Config) (device.Device, error)

// patience is how long anything in the suite may take before it is given up.
const patience = 30 * time.Second

// limitBytes is the memory of a rank unless a case asks for another.
const limitBytes = 32 << 20

// testCase is one promise of a device.
type testCase struct {
	name string
	run  func(t *testing.T, open Open)
}

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, cases := range [][]testCase{
		memoryCases, transferCases, signalCases, streamCases, eventCases, anyCases, messageCases,
		reduceCases, patternCases, shareCases, barrierCases, endCases, ringCases, stormCases,
		callCases, callEndCases, callDesyncCases, gemmCases, boxCases,
	} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { c.run(t, open) })
		}
	}
}

// world is the ranks of one case.
type world struct {
	t        *testing.T
	exchange *Exchange
	ranks    []*rank
	failed   sync.Once
}

// rank is one of them, with shorthands that end its goroutine on an error.
type rank struct {
	device.Device
	w        *world
	recorder *flight.Writer
	n, size  int
	apart    bool // on a goroutine of its own, not the test's
}

// newWorld opens the devices of a world. They are closed, and aborted if the
// case takes too long, without the case's doing.
func newWorld(t *testing.T, open Open, size int, change ...func(*device.Config)) *world {
	t.Helper()
	w := &world{t: t, exchange: new(Exchange)}
	dir := t.TempDir()
	for n := range size {
		recorder, err := flight.Create(filepath.Join(dir, strconv.Itoa(n)), flight.Meta{Rank: n, Size: size}, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := device.Config{
			Rank: n, Size: size, Exchange: w.exchange, Recorder: recorder,
			MemoryBytes: limitBytes, OpTimeout: patience,
		}
		for _, f := range change {
			f(&c)
		}
		d, err := open(c)
		if err != nil {
			t.Fatal(err)
		}
		w.ranks = append(w.ranks, &rank{Device: d, w: w, recorder: recorder, n: n, size: size})
	}
	timer := time.AfterFunc(patience, func() { w.giveUp(errors.New("the case takes too long")) })
	t.Cleanup(func() {
		timer.Stop()
		w.close()
	})
	return w
}

func (w *world) close() {
	for _, r := range w.ranks {
		if err := r.Device.Close(); err != nil && !errors.Is(err, device.ErrClosed) {
			w.t.Errorf("close rank %d: %v", r.n, err)
		}
		if err := r.recorder.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// giveUp ends all waits, so that a case that has failed ends.
func (w *world) giveUp(cause error) {
	w.failed.Do(func() {
		for _, r := range w.ranks {
			r.Abort(cause)
		}
	})
}

// each runs f as every rank at the same time and waits for all.
func (w *world) each(f func(r *rank)) {
	w.t.Helper()
	var all sync.WaitGroup
	for _, r := range w.ranks {
		apart := *r
		apart.apart = true
		all.Go(func() { f(&apart) })
	}
	all.Wait()
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// one is a world of a single rank.
func one(t *testing.T, open Open, change ...func(*device.Config)) *rank {
	t.Helper()
	return newWorld(t, open, 1, change...).ranks[0]
}

// failf reports a failure of the rank and ends its goroutine and the others'
// waits.
func (r *rank) failf(format string, args ...any) {
	r.w.t.Helper()
	r.w.t.Errorf("rank %d: %s", r.n, fmt.Sprintf(format, args...))
	r.w.giveUp(errors.New("another rank failed"))
	if !r.apart {
		r.w.t.FailNow()
	}
	runtime.Goexit()
}

func (r *rank) must(err error) {
	r.w.t.Helper()
	if err != nil {
		r.failf("%v", err)
	}
}

// is demands an error that wraps want.
func (r *rank) is(err, want error) {
	r.w.t.Helper()
	if !errors.Is(err, want) {
		r.failf("error %v, want %v", err, want)
	}
}

func (r *rank) alloc(bytes int64) op.Buffer {
	r.w.t.Helper()
	b, err := r.Alloc(bytes)
	r.must(err)
	return b
}

// filled is a buffer that holds the pattern with the given seed.
func (r *rank) filled(bytes int64, seed uint64) op.Buffer {
	r.w.t.Helper()
	b := r.alloc(bytes)
	r.write(b, 0, pattern(bytes, seed))
	return b
}

func (r *rank) write(b op.Buffer, offset int64, bytes []byte) {
	r.w.t.Helper()
	r.must(r.Write(op.View{Buf: b, Off: offset}, bytes))
}

func (r *rank) read(b op.Buffer) []byte {
	r.w.t.Helper()
	bytes := make([]byte, b.Size())
	r.must(r.Read(bytes, op.View{Buf: b}))
	return bytes
}

func (r *rank) stream() device.Stream {
	r.w.t.Helper()
	s, err := r.NewStream()
	r.must(err)
	return s
}

func (r *rank) event() device.Event {
	r.w.t.Helper()
	e, err := r.NewEvent()
	r.must(err)
	return e
}

func (r *rank) submit(s device.Stream, ops ...op.Op) {
	r.w.t.Helper()
	for i := range ops {
		r.must(s.Submit(&ops[i]))
	}
}

func (r *rank) sync(s device.Stream) {
	r.w.t.Helper()
	r.must(s.Sync(patience))
}

func (r *rank) barrier() {
	r.w.t.Helper()
	r.must(r.Barrier(patience))
}

// publish makes bytes of a buffer known under a name.
func (r *rank) publish(name string, v op.View, bytes int64) {
	r.w.t.Helper()
	h, err := r.Export(v, bytes)
	r.must(err)
	text, err := json.Marshal(h)
	r.must(err)
	r.must(r.w.exchange.Set(fmt.Sprintf("share/%d/%s", r.n, name), text))
}

// lookup waits for what peer publishes under a name and imports it.
func (r *rank) lookup(peer int, name string) op.Buffer {
	r.w.t.Helper()
	b, err := r.Import(peer, r.handle(peer, name))
	r.must(err)
	return b
}

func (r *rank) handle(peer int, name string) device.Handle {
	r.w.t.Helper()
	text, err := r.w.exchange.Get(fmt.Sprintf("share/%d/%s", peer, name), patience)
	r.must(err)
	var h device.Handle
	r.must(json.Unmarshal(text, &h))
	return h
}

// share publishes a whole buffer and gives every rank's, by rank.
func (r *rank) share(name string, b op.Buffer) []op.Buffer {
	r.w.t.Helper()
	r.publish(name, op.View{Buf: b}, b.Size())
	all := make([]op.Buffer, r.size)
	for peer := range all {
		all[peer] = r.lookup(peer, name)
	}
	return all
}

func pattern(bytes int64, seed uint64) []byte {
	b := make([]byte, bytes)
	op.FillPattern(b, op.U8, seed, 0)
	return b
}

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

func at(b op.Buffer, offset int64) op.View { return op.View{Buf: b, Off: offset} }
