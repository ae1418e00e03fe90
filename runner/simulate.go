package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner/guest"
)

// A simulated run happens in this process: one guest's code, an instance of it
// and a [module.Instance] for each rank, and a cluster that lets one of them go
// on at a time. What ranks report and how a run is judged is the same as of real
// ranks; there is no rendezvous, no launcher's order and no process to lose.

// simulatedRecordsMax bounds the records of all ranks together to 4 GiB.
const simulatedRecordsMax = 64 << 20

// simulator is a simulated run.
type simulator struct {
	config  *Config
	target  *target
	console *console
	cluster *sim.Cluster
	garbage *collector
	dir     string
	ranks   []*rank
	outputs []*lineWriter // two of each rank
	stuck   bool          // a guest did not end: nothing under it may be closed

	asked atomic.Pointer[abortOrder] // why the run is to be given up, as far as anybody has asked
	stop  chan struct{}              // closed when ranks are told

	mu sync.Mutex // guards the roster while guests run
	roster
	endNanos int64         // virtual, of the last rank
	deadlock *sim.Deadlock // nil if there was none
}

// simulate carries a simulated run out.
func simulate(ctx context.Context, c Config) (*Result, error) {
	began := time.Now()
	t, err := findTarget(&c)
	if err != nil {
		return nil, err
	}
	c.Ranks, c.OpTimeout = t.ranks, 0 // a wait that cannot end is found at once
	if c.Native != "" {
		return nil, refuse("leave --native out: a guest carries the benchmark out as well", "%s cannot carry out a benchmark without a guest", c.Device)
	}
	if c.Fault, err = checkFault(c.Fault, c.Ranks); err != nil {
		return nil, err
	}
	wasm, err := readModule(c.WasmPath, c.Replay)
	if err != nil {
		return nil, refusal(err)
	}
	leaveProcessor(&c)
	l := &launcher{config: &c, runID: t.runIDOf(&c, wasm), console: &console{progress: c.Progress}}
	l.noteLauncher()
	dirID := randomID(8) // the same run may be under way elsewhere
	if l.dir, err = openRunDir(&c, dirID); err != nil {
		return nil, refusal(err)
	}
	s, err := l.simulate(ctx, t, wasm)
	if err != nil {
		_ = l.dir.remove() // the reason it is removed for is worth more
		return nil, refusal(err)
	}
	result := &Result{
		RunID: l.runID, Device: "sim", Launcher: "simulate", Labels: c.Labels, Fault: c.Fault, RunDir: l.dir.path, Ranks: c.Ranks,
		Wall: time.Since(began), Remove: l.dir.remove, Keep: func() (string, error) { return l.dir.preserve(dirID) },
	}
	if c.Keep {
		result.Remove = l.dir.keep
	}
	if err := s.conclude(result); err != nil {
		_ = l.dir.remove()
		return nil, refuse("make room, or record less with --trace collective", "%v", err)
	}
	return result, nil
}

// leaveProcessor sees to it that, beside a guest, which may compute without end,
// somebody else has a turn.
func leaveProcessor(c *Config) {
	if c.Env == nil || c.Env("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	}
}

// noteLauncher says that what another launcher wants is of no concern.
func (l *launcher) noteLauncher() {
	if place, err := detect(l.config.Env); place != nil && err == nil {
		l.console.note(l.config.Stderr, "note: a simulated run is one process, whatever %s says of ranks", place.launcher)
	}
}

// simulate runs the guests to their ends.
func (l *launcher) simulate(ctx context.Context, t *target, wasm []byte) (*simulator, error) {
	vm, compiled, err := l.prepare(ctx, wasm)
	if err != nil {
		return nil, err
	}
	s := &simulator{config: l.config, target: t, console: l.console, dir: l.dir.path, stop: make(chan struct{}), garbage: newCollector()}
	realBytes := int64(realBytesMax)
	switch {
	case l.config.Data:
		realBytes = -1
	case l.config.Replay && !l.config.keepsData:
		realBytes = 0 // nobody looks at what there would be
	}
	s.cluster, err = sim.New(sim.Options{Preset: t.preset, Ranks: t.ranks, Seed: l.config.Seed, RealBytes: realBytes, GivenUp: s.givenUp, Between: s.garbage.between})
	if err == nil {
		err = s.open(&l.spec, vm, compiled)
	}
	if err == nil && l.config.Ready != nil {
		err = l.config.Ready(Start{RunID: l.runID, RunDir: l.dir.path, Device: "sim", Ranks: t.ranks})
	}
	if err != nil {
		s.discard()
		s.garbage.end()
		return nil, errors.Join(err, vm.Close(ctx))
	}
	if s.run(ctx); !s.stuck {
		s.garbage.end()
		err = vm.Close(ctx)
	}
	return s, err
}

// open makes all ranks.
func (s *simulator) open(common *spec, vm *guest.Runtime, compiled wazero.CompiledModule) error {
	records := max(1, min(recordsMax, simulatedRecordsMax/int64(s.target.ranks)))
	opener := device.Opener{Name: "sim", Open: s.cluster.Open}
	for i := range s.target.ranks {
		own := *common
		own.Rank = i
		own.LocalRank, own.LocalSize = s.target.place(i)
		recorder, err := flight.CreateVirtual(flightPath(s.dir, i), flight.Meta{Rank: i, Size: own.Size}, records, s.cluster.Now)
		if err != nil {
			return err
		}
		r := &rank{
			spec: &own, recorder: recorder, runtime: vm, guest: compiled, memory: vm.NewMemory(), stop: s.stop, log: s.config.log,
		}
		stdout, stderr := s.console.lines(s.config, i, s.config.Stdout), s.console.lines(s.config, i, s.config.Stderr)
		r.stdout, r.stderr = stdout, stderr
		s.outputs = append(s.outputs, stdout, stderr)
		r.time = simulatedTime{s.cluster, r}
		s.ranks = append(s.ranks, r)
		s.slots = append(s.slots, &slot{rank: i, log: recorder.Log()})
		if err := r.openDevice(opener, s.cluster.Exchange(i), func() { s.kill(i) }); err != nil {
			return err
		}
	}
	return nil
}

// run lets the ranks run to their ends.
func (s *simulator) run(ctx context.Context) {
	bodies := make([]func(), len(s.ranks))
	for i, r := range s.ranks {
		bodies[i] = func() { s.body(ctx, r) }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.catch()
		_ = s.cluster.Run(bodies) // what it says has been told to givenUp
	}()
	defer s.console.draw("")
	s.stuck = s.watch(ctx, done)
	if s.stuck || s.asked.Load() != nil { // of the last rank, nobody else was there to be told
		s.givenUp(nil)
	}
	if !s.stuck {
		s.shut()
	}
}

// catch makes a fault of the simulator one line of a verdict.
func (s *simulator) catch() {
	if fault := recover(); fault != nil {
		s.giveUp(KindInternal, fmt.Sprintf("internal error: %v", fault))
		s.givenUp(nil)
	}
}

// watch waits for the end, and gives the run up if it is told to or takes too
// long. It reports whether the ranks did not heed it.
func (s *simulator) watch(ctx context.Context, done <-chan struct{}) (stuck bool) {
	ticker := time.NewTicker(samplePeriod)
	defer ticker.Stop()
	var timeout <-chan time.Time
	if s.config.Timeout > 0 {
		timer := time.NewTimer(s.config.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var overdue <-chan time.Time
	cancelled, progress := ctx.Done(), progress{began: time.Now()}
	for {
		select {
		case <-done:
			return false
		case <-overdue:
			return true
		case now := <-ticker.C:
			s.garbage.look()
			s.showProgress(s.console, &progress, now)
			continue
		case <-cancelled:
			cancelled = nil
			s.giveUp(KindSignal, "stopped by a signal")
		case <-timeout:
			s.giveUp(KindTimeout, "the run took longer than "+s.config.Timeout.String())
		}
		overdue = time.After(cmp.Or(s.config.stopGrace, killGrace))
	}
}

// giveUp asks that the run be given up. Any goroutine may call it; the first
// reason counts.
func (s *simulator) giveUp(kind, text string) {
	order := &abortOrder{Kind: kind, Text: text}
	if s.asked.CompareAndSwap(nil, order) {
		s.cluster.Abort(order)
	}
}

// givenUp is called where no rank runs, while their waits stand in their
// recorders: it notes what each does and tells all of them. If nobody has asked
// for it, none can go on.
func (s *simulator) givenUp(cause error) {
	s.asked.CompareAndSwap(nil, &abortOrder{Kind: KindDeadlock, Text: "deadlock: no rank can move"})
	asked := s.asked.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order != nil {
		return
	}
	_ = errors.As(cause, &s.deadlock) // if it is one
	s.decide(asked.Kind, asked.Text)
	for _, r := range s.ranks {
		r.order = s.order
	}
	close(s.stop)
	for _, r := range s.ranks {
		r.instance.Abort(s.order)
	}
}

// body is a rank from its start to its report.
func (s *simulator) body(ctx context.Context, r *rank) {
	rep := r.simulate(ctx)
	for _, output := range s.outputs[2*r.spec.Rank:][:2] {
		output.flush()
	}
	rep.Rank, rep.EndNanos = r.spec.Rank, r.device.Now()
	if s.config.Keep { // thousands of files that nobody would read otherwise
		if err := rep.write(s.dir); err != nil && rep.Kind == "" {
			rep.Kind, rep.Code, rep.Text = KindSetup, exitCodes[KindSetup], err.Error()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.slots[r.spec.Rank]
	if slot.exit != nil { // it was killed
		return
	}
	slot.report = rep
	s.endNanos = max(s.endNanos, rep.EndNanos)
	if rep.failed() {
		s.giveUp(rep.Kind, rep.Text)
	}
}

// simulate runs the guest. A panic is a fault of ccrun, and one line.
func (r *rank) simulate(ctx context.Context) (rep *report) {
	defer func() {
		if fault := recover(); fault != nil {
			rep = &report{Kind: KindInternal, Code: ExitInternal, Text: fmt.Sprintf("internal error: %v", fault)}
		}
	}()
	r.recorder.SetState(flight.StateRunning)
	r.recorder.SetLane(0, flight.LaneBusy)
	return r.judge(r.execute(ctx))
}

// kill ends a rank as if somebody had killed its process.
func (s *simulator) kill(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.slots[rank]
	if slot.report == nil && slot.exit == nil && s.order == nil {
		slot.exit, slot.exitAt = &exitStatus{text: "killed by SIGKILL", code: -1}, s.cluster.Now()
		s.giveUp(KindLost, "a rank was lost")
	}
}

// shut gives back what ranks left, in their order, when all have ended.
func (s *simulator) shut() {
	s.finished = s.order == nil
	for _, r := range s.ranks {
		_ = r.instance.Close()
	}
	for _, r := range s.ranks {
		_ = r.device.Close()
		r.recorder.SetLane(0, flight.LaneIdle)
	}
}

// conclude fills in the result and, for a run that is kept, writes the flight
// files, whose disk may be full.
func (s *simulator) conclude(result *Result) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill(result)
	if v := result.Verdict; v != nil && v.Kind == KindDeadlock && s.deadlock != nil {
		v.Text += fmt.Sprintf("\nat %v of virtual time", time.Duration(s.deadlock.AtNanos))
	}
	result.Simulation = s.simulation()
	if result.Simulation.Phantoms && (result.Verified == nil || *result.Verified) {
		result.Verified = nil // what had no bytes was not looked at
	}
	if !s.config.Keep && !s.stuck {
		s.keepInMemory(result)
		return nil
	}
	for _, r := range s.ranks {
		write := r.recorder.Close
		if s.stuck {
			write = r.recorder.Save
		}
		if e := write(); err == nil {
			err = e
		}
	}
	return err
}

// keepInMemory leaves the records where they are: thousands of files that are
// removed at once would take longer than their ranks. They are written if the
// run is to be kept after all.
func (s *simulator) keepInMemory(result *Result) {
	for _, r := range s.ranks {
		result.Logs = append(result.Logs, r.recorder.Log())
	}
	remove, keep := result.Remove, result.Keep
	result.Remove = func() error {
		s.discard()
		return remove()
	}
	result.Keep = func() (dir string, err error) {
		for _, r := range s.ranks {
			if e := r.recorder.Save(); err == nil {
				err = e
			}
		}
		dir, e := keep()
		return dir, cmp.Or(err, e)
	}
}

// discard gives the recorders of ranks back that will not run.
func (s *simulator) discard() {
	for _, r := range s.ranks {
		r.recorder.Discard()
	}
}
