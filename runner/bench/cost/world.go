package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/cpu"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// bufferBytes is the size of a buffer: a destination and a source.
const bufferBytes = 2 * sliceBytes

// world is a rank alone in its world, with a guest and without. Both put into
// memory of this rank that it looked up as if it were a peer's.
type world struct {
	dir      string
	store    *rendezvous.Store
	recorder *flight.Writer
	device   device.Device
	stream   device.Stream
	own      op.Buffer
	shared   op.Buffer // own, imported
	runtime  *guest.Runtime
	instance *module.Instance
	context  context.Context
	work     api.Function
}

// openWorld makes a world whose guest does the work.
func openWorld(ctx context.Context, dir string, level flight.Level, work work) (*world, error) {
	w := &world{store: rendezvous.NewStore()}
	err := w.open(dir, level)
	if err == nil {
		err = w.load(ctx, work)
	}
	if err != nil {
		w.close(ctx)
		return nil, err
	}
	return w, nil
}

// recordsMax is more than a row records.
const recordsMax = 1 << 26

func (w *world) open(dir string, level flight.Level) (err error) {
	if w.dir, err = os.MkdirTemp(dir, "world-"); err != nil {
		return err
	}
	if w.recorder, err = flight.Create(filepath.Join(w.dir, "rank-0000.flight"), flight.Meta{Size: 1}, recordsMax); err != nil {
		return err
	}
	w.recorder.Level = level
	if w.device, err = cpu.Open(device.Config{Size: 1, Exchange: w.store, Recorder: w.recorder}); err != nil {
		return err
	}
	if w.own, err = w.device.Alloc(bufferBytes); err != nil {
		return err
	}
	handle, err := w.device.Export(op.View{Buf: w.own}, bufferBytes)
	if err != nil {
		return err
	}
	w.shared, err = w.device.Import(0, handle)
	return err
}

// load makes the guest ready to work, and the stream that both use: a device
// does more itself while it has only one.
func (w *world) load(ctx context.Context, work work) (err error) {
	if w.runtime, err = guest.New(ctx, nil, 0); err != nil {
		return err
	}
	if err := module.Register(ctx, w.runtime.Wazero()); err != nil {
		return err
	}
	compiled, err := w.runtime.Compile(ctx, "cost.wasm", newAssembly(work).bytes())
	if err != nil {
		return err
	}
	once := &oneStream{Device: w.device}
	w.instance = module.New(module.Config{Size: 1, LocalSize: 1, Device: once, Exchange: w.store, Recorder: w.recorder})
	w.context = w.instance.Context(experimental.WithMemoryAllocator(ctx, w.runtime.Memory()))
	m, err := w.runtime.Wazero().InstantiateModule(w.context, compiled, moduleConfig())
	if err != nil {
		return fmt.Errorf("%w (%s)", err, w.instance.LastError())
	}
	w.stream, w.work = once.stream, m.ExportedFunction(workFunction)
	return describeBatch(m.Memory(), work)
}

// oneStream gives away which stream the guest made.
type oneStream struct {
	device.Device
	stream device.Stream
}

// NewStream notes the stream.
func (o *oneStream) NewStream() (s device.Stream, err error) {
	o.stream, err = o.Device.NewStream()
	return o.stream, err
}

// guest does the work in the guest.
func (w *world) guest() error {
	if err := w.work.CallWithStack(w.context, nil); err != nil {
		return fmt.Errorf("%w (%s)", err, w.instance.LastError())
	}
	return nil
}

// check holds that every operation was recorded.
func (w *world) check() error {
	if n := w.recorder.Counters(); n.Dropped != 0 || n.Records == 0 {
		return fmt.Errorf("%d records written, %d dropped", n.Records, n.Dropped)
	}
	return nil
}

// close gives back what there is.
func (w *world) close(ctx context.Context) {
	if w.instance != nil {
		_ = w.instance.Close()
	}
	if w.runtime != nil {
		_ = w.runtime.Close(ctx)
	}
	if w.device != nil {
		_ = w.device.Close()
	}
	if w.recorder != nil {
		_ = w.recorder.Close()
	}
	w.store.Close()
	_ = os.RemoveAll(w.dir)
}
