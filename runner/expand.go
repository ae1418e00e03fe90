package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/module"
	"github.com/ccrun/ccrun/runner/guest"
)

// Expansion is what came of [Expand].
type Expansion struct {
	Log    *oplog.Log
	Looked int // at so many ranks, whose guests ran
	Calls  int // of each rank
}

// Expand finds out what all ranks of a world ask of their devices, from what a
// few of them ask: their guests run one after another on a sketch of a device,
// which does nothing and is never late. A simulated device says how many ranks
// there are and which share a node; otherwise all do. It refuses a workflow whose
// ranks, as far as it looks at them, do not all do the same in numbers that depend
// on the rank.
func Expand(ctx context.Context, c Config) (*Expansion, error) {
	place := func(rank int) (localRank, localSize int) { return rank, c.Ranks }
	if isSimulated(c.Device) {
		t, err := findTarget(&c)
		if err != nil {
			return nil, err
		}
		c.Ranks, place = t.ranks, t.place
	}
	if c.Ranks < 1 || c.Ranks > oplog.RanksMax {
		return nil, refuse("say how many ranks there are with -n", "%d ranks: from 1 to %d can be expanded", c.Ranks, oplog.RanksMax)
	}
	wasm, err := guest.Read(c.WasmPath)
	if err != nil {
		return nil, refusal(err)
	}
	s := &spec{CacheDir: c.CacheDir, MemoryBytes: c.MemoryBytes, Record: true}
	runtime, compiled, err := compile(ctx, s, c.WasmPath, wasm)
	if err != nil {
		return nil, refusal(err)
	}
	if c.Timeout > 0 {
		late := &Error{Code: ExitTimeout, Text: "the workflow took longer than " + c.Timeout.String(), Hint: "--timeout raises the limit"}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, late)
		defer cancel()
	}
	e := &expander{config: &c, place: place, runtime: runtime, compiled: compiled}
	x, err := e.await(ctx)
	var unfit *oplog.UnfitError
	if errors.As(err, &unfit) {
		return nil, refuse("simulate all ranks instead: ccrun run --device sim:PRESETxNODES, or record --device sim:PRESETxNODES", "%s cannot be expanded: %v", c.WasmPath, err)
	}
	return x, err
}

// expander runs guests on sketches.
type expander struct {
	config   *Config
	place    func(rank int) (localRank, localSize int)
	runtime  *guest.Runtime
	compiled wazero.CompiledModule
	garbage  *collector
}

// await expands until it is told to stop: a guest that computes without end is
// left behind then, and nothing under it is given back.
func (e *expander) await(ctx context.Context) (*Expansion, error) {
	leaveProcessor(e.config)
	e.garbage = newCollector()
	type outcome struct {
		x   *Expansion
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		x, err := e.expand(ctx)
		done <- outcome{x, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done:
		case <-time.After(cmp.Or(e.config.stopGrace, killGrace)):
			return nil, context.Cause(ctx)
		}
	}
	e.garbage.end()
	return o.x, errors.Join(o.err, e.runtime.Close(context.WithoutCancel(ctx)))
}

func (e *expander) expand(ctx context.Context) (*Expansion, error) {
	p, looked, err := oplog.Expand(e.config.Ranks, func(rank int) (*oplog.Program, error) { return e.sketch(ctx, rank) })
	if err != nil {
		return nil, err
	}
	return &Expansion{Log: &oplog.Log{Device: "sketch", Ranks: e.config.Ranks, Shared: p}, Looked: looked, Calls: p.Lines()}, nil
}

// sketch runs one rank's guest, and gives what it asked for.
func (e *expander) sketch(ctx context.Context, rank int) (*oplog.Program, error) {
	e.garbage.look()
	e.garbage.between()
	c, site, sketch := e.config, &guest.CallSite{}, oplog.NewSketch(rank, e.config.Ranks)
	recording := oplog.Record(sketch, oplog.Options{Rank: rank, Ranks: c.Ranks, Function: site.Function})
	recorder, err := flight.CreateVirtual("", flight.Meta{Rank: rank, Size: c.Ranks}, 1, sketch.Now)
	if err != nil {
		return nil, err
	}
	defer recorder.Discard()
	localRank, localSize := e.place(rank)
	instance := module.New(module.Config{
		Rank: rank, Size: c.Ranks, LocalRank: localRank, LocalSize: localSize, Seed: c.Seed, Device: recording.Wrapped(), Exchange: sketch,
		Recorder: recorder, Selection: c.Algorithms.OrDefault(), Notes: recording,
	})
	stopped := context.AfterFunc(ctx, func() { instance.Abort(context.Cause(ctx)) })
	defer stopped()
	exit := e.runtime.Run(instance.Context(site.Context(context.WithoutCancel(ctx))), e.compiled, c.WasmPath, guest.WASI{
		Args: c.Args, Stdout: io.Discard, Stderr: c.Stderr, Seed: c.Seed, Rank: rank, Stop: ctx.Done(),
		Cause: func() error { return fmt.Errorf("%w: %w", device.ErrAborted, context.Cause(ctx)) }, Time: sketchTime{sketch}, Memory: e.runtime.NewMemory(),
	})
	if err := recording.End(); err != nil {
		return nil, err
	}
	return recording.Program(), e.ended(ctx, rank, exit, instance)
}

// sketchTime passes as the guest looks at it.
type sketchTime struct{ sketch *oplog.Sketch }

func (t sketchTime) Now() int64        { return t.sketch.Now() }
func (t sketchTime) Sleep(int64) error { return nil }

// ended says why a guest did not come to its end.
func (e *expander) ended(ctx context.Context, rank int, exit guest.Exit, instance *module.Instance) error {
	const hint = "it may look at data, at peers or at the time, which a sketch of a run has not: simulate all ranks instead"
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exit.Err == nil:
		return nil
	case exit.Trap != "":
		return refuse(hint, "%s cannot be expanded: rank %d: %s%s", e.config.WasmPath, rank, exit.Trap, lastCall(instance))
	}
	return refuse(hint, "%s cannot be expanded: rank %d exited with code %d%s", e.config.WasmPath, rank, exit.Code, lastCall(instance))
}

func lastCall(i *module.Instance) string {
	if text := i.LastError(); text != "" {
		return "; its last call that failed: " + text
	}
	return ""
}
