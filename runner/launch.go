package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/runner/guest"
	"github.com/ccrun/ccrun/runner/rendezvous"
)

// launch carries out a run as its launcher. With a place it starts rank 0 only
// and waits for the others to join.
func launch(ctx context.Context, c Config, place *place) (*Result, error) {
	began := time.Now()
	opener, err := pickDevice(c.Device)
	if err != nil {
		return nil, err
	}
	if c.Fault, err = checkFault(c.Fault, c.Ranks); err != nil {
		return nil, err
	}
	wasm, err := readModule(c.WasmPath, c.Replay)
	if err != nil {
		return nil, refusal(err)
	}
	l := &launcher{config: &c, place: place, runID: randomID(8), console: &console{progress: c.Progress}}
	if l.dir, err = l.openDir(); err != nil {
		return nil, refusal(err)
	}
	runtime, _, err := l.prepare(ctx, wasm)
	if err == nil {
		err = runtime.Close(ctx)
	}
	if err != nil {
		_ = l.dir.remove() // the reason it is removed for is worth more
		return nil, refusal(err)
	}
	if c.Ready != nil {
		if err := c.Ready(Start{RunID: l.runID, RunDir: l.dir.path, Device: opener.Name, Ranks: c.Ranks}); err != nil {
			_ = l.dir.remove()
			return nil, err
		}
	}
	supervisor, err := l.run(ctx)
	if err != nil {
		_ = l.dir.remove()
		return nil, refusal(err)
	}
	defer supervisor.closeLogs()
	if c.Keep {
		if err := l.dir.settle(l.runID); err != nil {
			l.console.note(c.Stderr, "warning: the next run of this name will replace the run directory: %v", err)
		}
		supervisor.dir = l.dir.path
	}
	result := &Result{
		RunID: l.runID, Device: opener.Name, Launcher: "launch", Labels: c.Labels, Fault: c.Fault, RunDir: l.dir.path, Ranks: c.Ranks,
		Wall: time.Since(began), Remove: l.dir.remove, Keep: func() (string, error) { return l.dir.preserve(l.runID) },
	}
	if place != nil {
		result.Launcher = place.launcher
	}
	if c.Keep {
		result.Remove = l.dir.keep
	}
	supervisor.conclude(result)
	return result, nil
}

// launcher is what a run needs before it can be supervised.
type launcher struct {
	config  *Config
	place   *place // nil if this launcher starts all ranks
	runID   string
	dir     *runDir
	console *console
	spec    spec // of all ranks, but for their numbers
}

func (l *launcher) openDir() (*runDir, error) {
	if l.place != nil {
		return openMeetingDir(l.config, l.place)
	}
	return openRunDir(l.config, l.runID)
}

// prepare compiles the guest, so that ranks of other processes only have to load
// it, and refuses one that cannot be run.
func (l *launcher) prepare(ctx context.Context, wasm []byte) (*guest.Runtime, wazero.CompiledModule, error) {
	c := l.config
	path, err := filepath.Abs(c.WasmPath)
	if err != nil {
		return nil, nil, fmt.Errorf("workflow: %w", err)
	}
	sum := sha256.Sum256(wasm)
	l.spec = spec{
		RunID: l.runID, Size: c.Ranks, LocalSize: c.Ranks, RunDir: l.dir.path,
		Socket: filepath.Join(l.dir.path, socketName), Token: randomID(32),
		WasmPath: path, WasmSum: hex.EncodeToString(sum[:]), Args: c.Args, CacheDir: l.cacheDir(), Native: c.Native, Fault: c.Fault,
		Algorithms: c.Algorithms.String(),
		Device:     c.Device, OpTimeout: c.OpTimeout, MemoryBytes: c.MemoryBytes, BufferMemoryBytes: c.BufferMemoryBytes,
		TraceLevel: c.TraceLevel, Seed: c.Seed, UnwindGrace: cmp.Or(c.stopGrace, killGrace) * 3 / 4,
		Record: c.Record, Replay: c.Replay, KeepsData: c.keepsData,
	}
	return compile(ctx, &l.spec, c.WasmPath, wasm)
}

// cacheDir is where compiled guests are kept: with this run if there is no
// better place.
func (l *launcher) cacheDir() string {
	dir := l.config.CacheDir
	if dir != "" {
		err := guest.MakePrivate(dir)
		if err == nil {
			return dir
		}
		l.console.note(l.config.Stderr, "note: compiled workflows are not kept: %v", err)
	}
	return filepath.Join(l.dir.path, cacheName)
}

// run starts the ranks and returns when they have ended.
func (l *launcher) run(ctx context.Context) (*supervisor, error) {
	server, err := rendezvous.Listen(l.spec.Socket, l.spec.Token)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	starter := newStarter()
	defer starter.close()
	s := newSupervisor(l.config, l.dir.path, server, l.console)
	started := l.config.Ranks
	if l.place != nil {
		started = 1
		if err := l.invite(s); err != nil {
			return nil, err
		}
	}
	for rank := range started {
		if err := l.start(starter, s, rank); err != nil {
			s.giveUp(KindSetup, "a rank could not be started")
			s.killAll()
			s.run(ctx) // those that were started still write into the run directory
			s.closeLogs()
			return nil, refuse("raise the limit of processes (ulimit -u) or give a smaller -n", "cannot start rank %d: %v", rank, err)
		}
	}
	s.run(ctx)
	return s, nil
}

// start starts the process of a rank.
func (l *launcher) start(starter *starter, s *supervisor, rank int) error {
	spec := l.spec
	spec.Rank, spec.LocalRank = rank, rank
	cpu := -1
	if l.config.Pin {
		cpu = rank
	}
	child, err := startChild(starter, l.config.Self, l.config.Environ, &spec, cpu,
		l.console.lines(l.config, rank, l.config.Stdout), l.console.lines(l.config, rank, l.config.Stderr))
	if err != nil {
		return err
	}
	s.slots[rank].process, s.slots[rank].printing = child, true
	go func() {
		status := child.wait()
		s.events <- event{rank: rank, exit: &status}
		child.copying.Wait()
		s.events <- event{rank: rank, printed: true}
	}()
	return nil
}
