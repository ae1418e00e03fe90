package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// recordsMax bounds a rank's flight file to 256 MiB.
const recordsMax = 4 << 20

// RankMain is one rank, in a process of its own that the launcher has started:
// it takes what it has to do from the environment and gives the exit code.
func RankMain(ctx context.Context, env func(string) string, stdout, stderr io.Writer) int {
	s, err := parseSpec(env(specVariable))
	if err != nil {
		fmt.Fprintf(stderr, "ccrun: error: %v\n", err)
		return ExitUsage
	}
	if s.GuestStderr {
		stderr = os.NewFile(guestStderr, "stderr")
	}
	return runRank(ctx, s, stdout, stderr)
}

// runRank runs a rank and tells the launcher how it ended.
func runRank(ctx context.Context, s *spec, stdout, stderr io.Writer) int {
	exchange, err := rendezvous.Dial(s.Socket, s.Token)
	if err != nil {
		fmt.Fprintf(stderr, "ccrun: error: rank %d: %v\n", s.Rank, err)
		return ExitInternal
	}
	defer exchange.Close()
	r := &rank{spec: s, exchange: exchange, stdout: stdout, stderr: stderr, stop: make(chan struct{}), ended: make(chan guest.Exit, 1)}
	// Beside the guest, which may compute without end, streams and the watch
	// for the launcher's orders need a processor's turn.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	rep := r.run(ctx)
	rep.Rank, rep.EndNanos = s.Rank, r.now()
	if err := rep.write(s.RunDir); err != nil && rep.Kind == "" {
		rep.Kind, rep.Code, rep.Text = KindSetup, exitCodes[KindSetup], err.Error()
	}
	r.tell(rep)
	r.close(ctx)
	return rep.Code
}

// rank is one rank while it runs. What is nil has not been opened.
type rank struct {
	spec           *spec
	exchange       *rendezvous.Client
	stdout, stderr io.Writer

	recorder  *flight.Writer
	device    device.Device
	selection coll.Table
	runtime   *guest.Runtime
	guest     wazero.CompiledModule
	memory    *guest.Memory // the guest's own
	time      guest.Time    // nil for the machine's
	instance  *module.Instance
	keys      device.Exchange // of this rank, the simulated one of a simulated rank

	recording *oplog.Recorder // around the device; nil unless the run is recorded
	site      *guest.CallSite // where the guest is, likewise
	log       *oplog.Log      // of a replay

	stop  chan struct{} // closed, after order is set, when the run is given up
	order *abortOrder
	ended chan guest.Exit // the guest's end
	stuck bool            // the guest did not end: nothing under it may be closed
}

func (r *rank) now() int64 {
	clock := flight.NewClock()
	return clock.Now()
}

// run gives how the rank ended. A panic is a fault of ccrun, and one line.
func (r *rank) run(ctx context.Context) (rep *report) {
	defer func() {
		if fault := recover(); fault != nil {
			rep = &report{Kind: KindInternal, Code: ExitInternal, Text: fmt.Sprintf("internal error: %v", fault)}
			r.stuck = true
		}
	}()
	if err := r.open(ctx); err != nil {
		refused := refusal(err)
		kind := KindSetup
		switch refused.Code {
		case ExitABI:
			kind = KindABI
		case ExitLimit:
			kind = KindLimit
		}
		return &report{Kind: kind, Code: refused.Code, Text: refused.Text}
	}
	go r.watch()
	r.recorder.SetState(flight.StateRunning)
	r.recorder.SetLane(0, flight.LaneBusy)
	go func() { r.ended <- r.execute(ctx) }()
	exit, ok := r.await()
	if !ok {
		r.stuck = true
		return r.stopped(nil)
	}
	return r.judge(exit)
}

// open gets everything ready for the guest.
func (r *rank) open(ctx context.Context) (err error) {
	s := r.spec
	r.recorder, err = flight.Create(flightPath(s.RunDir, s.Rank), flight.Meta{Rank: s.Rank, Size: s.Size, PID: os.Getpid()}, recordsMax)
	if err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	opener, err := pickDevice(s.Device)
	if err != nil {
		return err
	}
	return r.openDevice(opener, r.exchange, killSelf)
}

// openDevice opens the rank's device, faults and all, and makes what the
// guest's calls go to.
func (r *rank) openDevice(opener device.Opener, exchange device.Exchange, kill func()) (err error) {
	s := r.spec
	r.recorder.Level = s.TraceLevel
	r.device, err = opener.Open(device.Config{
		Rank: s.Rank, Size: s.Size, Exchange: exchange, Recorder: r.recorder,
		MemoryBytes: s.BufferMemoryBytes, OpTimeout: s.OpTimeout,
	})
	if err != nil {
		return fmt.Errorf("device %s: %w", opener.Name, err)
	}
	if r.device, err = withFault(r.device, s, kill); err != nil {
		return err
	}
	var notes module.Notes
	if r.keys = exchange; s.Record {
		r.record()
		notes = r.recording
	}
	table, err := coll.ParseTable(s.Algorithms)
	if err != nil {
		return err // of a launcher that is not of this version
	}
	r.selection = table.OrDefault()
	r.instance = module.New(module.Config{
		Rank: s.Rank, Size: s.Size, LocalRank: s.LocalRank, LocalSize: s.LocalSize, Seed: s.Seed,
		Device: r.device, Exchange: exchange, Recorder: r.recorder, OpTimeout: s.OpTimeout,
		Selection: r.selection, Notes: notes,
	})
	return nil
}

// load gets the compiled guest, from the cache that the launcher has filled.
func (r *rank) load(ctx context.Context) error {
	wasm, err := readModule(r.spec.WasmPath, r.spec.Replay)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != r.spec.WasmSum {
		return refuse("run it again", "%s is not the module that the other ranks run, or has changed meanwhile", r.spec.WasmPath)
	}
	r.runtime, r.guest, err = compile(ctx, r.spec, r.spec.WasmPath, wasm)
	if err != nil {
		return err
	}
	r.memory = r.runtime.Memory()
	return r.loadLog()
}

// watch waits for the order to stop. A launcher that is gone is one.
func (r *rank) watch() {
	order := &abortOrder{Kind: KindLost, Code: ExitRankLost, Text: "the launcher is gone"}
	if data, err := r.exchange.Get(keyAbort, device.Forever); err == nil {
		_ = json.Unmarshal(data, order) // what cannot be read is an order all the same
	}
	r.order = order
	close(r.stop)
	r.instance.Abort(order)
}

// execute runs the guest, and then what it has left running in its streams,
// which its peers may wait for.
func (r *rank) execute(ctx context.Context) guest.Exit {
	switch {
	case r.spec.Native != "":
		return r.executeNative()
	case r.spec.Replay:
		return r.executeReplay()
	case r.site != nil:
		ctx = r.site.Context(ctx)
	}
	exit := r.runtime.Run(r.instance.Context(ctx), r.guest, r.spec.WasmPath, guest.WASI{
		Args: r.spec.Args, Stdout: r.stdout, Stderr: r.stderr, Seed: r.spec.Seed, Rank: r.spec.Rank,
		Stop: r.stop, Cause: func() error { return fmt.Errorf("%w: %w", device.ErrAborted, r.order) },
		Time: r.time, Memory: r.memory,
	})
	if exit = r.endRecording(exit); exit.Err != nil {
		return exit
	}
	if err := r.instance.Drain(device.Forever); errors.Is(err, device.ErrAborted) {
		exit.Err = err // other failures were the guest's to look for
	}
	return exit
}

// await gives the guest's exit, or false if it was told to stop and does not.
func (r *rank) await() (guest.Exit, bool) {
	select {
	case exit := <-r.ended:
		return exit, true
	case <-r.stop:
	}
	select {
	case exit := <-r.ended:
		return exit, true
	case <-time.After(r.spec.UnwindGrace):
		return guest.Exit{}, false
	}
}

// stopped is the report of a rank that was given up.
func (r *rank) stopped(stack []guest.Frame) *report {
	r.recorder.SetState(flight.StateAborted)
	return &report{
		Kind: kindStopped, Code: r.order.Code, Text: r.order.Text, Stack: stack, Desync: r.instance.Desync(), Corrupt: r.instance.Corrupt(),
		GuestPeakBytes: r.memory.PeakBytes(),
	}
}

// tell sends the report to the launcher and waits until all guests have ended:
// until then peers may read this rank's memory.
func (r *rank) tell(rep *report) {
	if r.exchange.Set(keyDone(r.spec.Rank), rep.encode(rendezvous.ValueBytesMax)) != nil || rep.Kind != "" {
		return
	}
	_, _ = r.exchange.Get(keyFinish, device.Forever) // a launcher that is gone waits for nobody
}

// close gives back what was opened, as far as the guest is out of it.
func (r *rank) close(ctx context.Context) {
	if r.stuck {
		return
	}
	if r.instance != nil {
		_ = r.instance.Close()
	}
	if r.device != nil {
		_ = r.device.Close()
	}
	if r.runtime != nil {
		_ = r.runtime.Close(ctx)
	}
	if r.recorder != nil {
		r.recorder.SetLane(0, flight.LaneIdle)
		_ = r.recorder.Close()
	}
}
