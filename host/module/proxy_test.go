package module

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
)

// engine is a runtime with the host module and the compiled proxy.
type engine struct {
	runtime wazero.Runtime
	proxy   wazero.CompiledModule
}

func newEngine(t testing.TB, m *wasmModule) *engine {
	t.Helper()
	ctx := context.Background()
	e := &engine{runtime: wazero.NewRuntime(ctx)}
	t.Cleanup(func() { e.runtime.Close(ctx) })
	if err := Register(ctx, e.runtime); err != nil {
		t.Fatal(err)
	}
	proxy, err := e.runtime.CompileModule(ctx, m.encode())
	if err != nil {
		t.Fatal(err)
	}
	e.proxy = proxy
	return e
}

// testRank is a rank whose guest is the proxy.
type testRank struct {
	*Instance
	t        testing.TB
	ctx      context.Context
	module   api.Module
	memory   api.Memory
	recorder *flight.Writer
	path     string                  // of the flight file
	exports  map[string]api.Function // those called so far: looking one up makes a call engine
}

func newTestRank(t testing.TB, e *engine, c Config) *testRank {
	t.Helper()
	dir := t.TempDir()
	recorder, err := newRecorder(dir, c.Rank, c.Size)
	if err != nil {
		t.Fatal(err)
	}
	if fake, ok := c.Device.(*fakeDevice); ok {
		fake.recorder = recorder
	}
	c.Recorder, c.LocalRank, c.LocalSize = recorder, c.Rank, c.Size
	r := &testRank{Instance: New(c), t: t, recorder: recorder, path: recorderPath(dir, c.Rank)}
	r.ctx = r.Context(context.Background())
	r.module, err = e.runtime.InstantiateModule(r.ctx, e.proxy, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	r.memory = r.module.Memory()
	t.Cleanup(func() {
		r.module.Close(context.Background())
		if r.recorder != nil {
			recorder.Close()
		}
	})
	return r
}

// newLoneRank is rank 0 of a world in which no other rank does anything.
func newLoneRank(t testing.TB, e *engine, size int) *testRank {
	t.Helper()
	exchange := newMemoryExchange()
	exchange.noWait = true
	joinWorld(t, exchange, size)
	w := newFakeWorld(size, true)
	return newTestRank(t, e, Config{Size: size, Seed: 42, Device: w.devices[0], Exchange: exchange, OpTimeout: 1})
}

// call calls a row through the guest.
func (r *testRank) call(name string, args ...uint64) (abi.Errno, error) {
	f, ok := r.exports[name]
	if !ok {
		if r.exports == nil {
			r.exports = make(map[string]api.Function)
		}
		f = r.module.ExportedFunction(name)
		r.exports[name] = f
	}
	results, err := f.Call(r.ctx, args...)
	if err != nil {
		return 0, err
	}
	return abi.Errno(results[0]), nil
}

// must calls a row that has to succeed.
func (r *testRank) must(name string, args ...uint64) {
	r.t.Helper()
	if errno, err := r.call(name, args...); err != nil || errno != abi.OK {
		r.t.Errorf("%s%v: %v, %v (%s)", name, args, errno, err, r.LastError())
	}
}

// Where tests keep things in the guest's memory.
const (
	outAt  = 1024 // results
	dataAt = 4096 // inputs
)

// out reads the 64-bit result at outAt.
func (r *testRank) out() uint64 {
	v, _ := r.memory.ReadUint64Le(outAt)
	return v
}

func (r *testRank) alloc(bytes uint64) uint64 {
	r.t.Helper()
	r.must("buffer_alloc", bytes, outAt)
	return r.out()
}

func (r *testRank) newStream() uint64 {
	r.t.Helper()
	r.must("stream_create", outAt)
	return r.out()
}

// text puts a string into the guest's memory and gives the two arguments for
// it.
func (r *testRank) text(s string) (pointer, length uint64) {
	r.memory.WriteString(dataAt, s)
	return dataAt, uint64(len(s))
}

var _ device.Device = (*fakeDevice)(nil)

// joinWorld has all ranks ask for the world's communicator.
func joinWorld(t testing.TB, exchange *memoryExchange, size int) {
	t.Helper()
	for rank := range size {
		if err := exchange.Set(joinKey("world.0", rank), []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
}
