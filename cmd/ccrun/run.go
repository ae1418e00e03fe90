package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/traces"
)

// runOptions are the flags of a run.
type runOptions struct {
	ranks                     countValue
	device                    string
	timeout, opTimeout        durationValue
	memory, bufferMemory      sizeValue
	trace                     levelValue
	algorithms                algorithmsValue
	outputs                   outputsValue
	thresholds                thresholdsValue
	seed                      seedValue
	labels                    labelsValue
	faults                    faultsValue
	set                       setsValue
	data                      bool
	opTimeoutGiven            bool
	runDir                    string
	prefix                    choiceValue
	spansMax                  spansValue
	json, keep, noPin, silent bool
	warned                    bool // before the run, that there is no collector
}

func defaultOptions() *runOptions {
	return &runOptions{
		opTimeout: durationValue(5 * time.Minute),
		memory:    1 << 30,
		trace:     levelValue(flight.LevelSlice),
		spansMax:  10_000,
		labels:    labelsValue{},
		prefix:    choiceValue{"auto", []string{"auto", "always", "never"}},
	}
}

func runCommand(s *state) *cli.Command {
	o := defaultOptions()
	return &cli.Command{
		Name:      "run",
		Usage:     "run a workflow on every rank; the word run can be left out",
		UsageText: "ccrun [run] [flags] WORKFLOW.wasm [the workflow's own arguments]",
		Description: `   ccrun -n 4 ring_allgather.wasm -bytes 64MiB -slice 1MiB -iters 20
   ccrun --json -n 8 ring_allgather.wasm > result.json
   ccrun -o json=spans.json --trace message -n 2 ring_allgather.wasm
   ccrun --threshold 'all_gather.cct.p99<5ms' -n 4 ring_allgather.wasm
   ccrun --fault delay=2:3x -n 4 ring_allgather.wasm
   ccrun --device sim:h100x2 --set link.nic.bandwidth=2x ring_allgather.wasm
   torchrun --no-python --nproc-per-node 4 ccrun ring_allgather.wasm

Flags before the path are ccrun's, those after it the workflow's. Sizes take K,
M, G, KiB, MiB, GiB, all powers of 1024. The exit code is the workflow's own (1
to 95), or 99 a threshold was crossed, 104 bad usage, 105 signal, 107 trap, 111
rank lost, 112 deadlock, 113 ranks disagree, 114 verification failed, 115 limit
exceeded, 116 ABI mismatch, 117 timeout.

Faults are delay=RANK:3x or delay=RANK:200us (copy, copy_box, put, get, get_box,
recv and reduce take longer), jitter=RANK:5% (each operation takes up to 5 % longer),
corrupt=RANK (the first byte that each of them writes is wrong, and nobody is
told), fail=RANK@N, hang=RANK@N and kill=RANK@N (in its Nth such operation), with
any of ,kind=put+signal ,peer=RANK ,nth=N ,p=PROBABILITY after it, and reduction
(wrong numbers on all ranks). RANK is * for any. What was asked for stands in the
summary. Simulated buffers without bytes cannot be corrupted: see --data.

--device sim simulates a cluster in this process: sim:PRESET[xNODES], where PRESET
is one that ccrun devices lists or the path of your own (./mine.yaml). There are
as many ranks as the nodes have GPUs, or -n. The same module, arguments, preset
and seed give the same records, to the byte. Buffers beyond 1 GiB in all have no
bytes unless --data is given. --timeout is of real time, --op-timeout not used.

A rank keeps 4 Mi records, and live metrics (-o prometheus) count no further: use
--trace collective for long runs.
`,
		Flags: o.flags(),
		Action: func(c *cli.Context) error {
			o.opTimeoutGiven = c.IsSet("op-timeout")
			return runWorkflow(c.Context, s, o, c.Args())
		},
	}
}

// flags are in the order in which the help text shows them.
func (o *runOptions) flags() []cli.Flag {
	return []cli.Flag{
		valueFlag(&o.ranks, "start `N` ranks (default: 4, or what the launcher's environment says)", "ranks", "n"),
		textFlag(&o.device, "auto", "carry operations out on `DEVICE`: auto, cpu, sim[:PRESET[xNODES]]", "device"),
		valueFlag(&o.timeout, "stop the run after `TIME` (default: never)", "timeout"),
		valueFlag(&o.opTimeout, "fail an operation that waits for longer than `TIME`, 0 for never", "op-timeout"),
		valueFlag(&o.memory, "give each guest `SIZE` of its own memory at most", "memory"),
		valueFlag(&o.bufferMemory, "give each rank `SIZE` of buffers at most (default: its part of three quarters of what is free)", "buffer-memory"),
		valueFlag(&o.trace, "record `LEVEL` and what is coarser: off, collective, flow, slice, message", "trace"),
		valueFlag(&o.spansMax, "export `N` spans of a collective at most, and 100 times as many of the run", "trace-max-spans"),
		valueFlag(&o.algorithms, algorithmsUsage, "algorithms"),
		valueFlag(&o.outputs, "also write the run to `OUTPUT`: "+outputNames()+" (repeatable)", "out", "o"),
		valueFlag(&o.thresholds, "exit with 99 unless `CONDITION` holds: 'cct.p99<5ms' (repeatable)", "threshold"),
		boolFlag(&o.json, "print one JSON object; the workflow's output goes to stderr", "json"),
		valueFlag(&o.seed, "derive what is random from `NUMBER`", "seed"),
		valueFlag(&o.faults, "make operations go wrong on purpose: `FAULT` is delay=2:3x (on rank 2), kill=2@10, ... (repeatable)", "fault"),
		valueFlag(&slowValue{&o.faults}, "make one rank's operations take longer: `SLOW` is rank=3,x=3 (repeatable)", "slow"),
		valueFlag(&jitterValue{&o.faults}, "make each operation take longer by a random part of its time up to `PERCENT`, 5%", "jitter"),
		valueFlag(&o.set, "simulate with another number: `KEY=VALUE` is link.nvlink.bandwidth=2x, or =300GB/s (repeatable)", "set"),
		boolFlag(&o.data, "have all simulated buffers hold data", "data"),
		valueFlag(o.labels, "mark the run with `NAME=VALUE` in traces (repeatable)", "label"),
		boolFlag(&o.keep, "keep the run directory, and say where it is", "keep"),
		textFlag(&o.runDir, "", "use `DIR` as the run directory, and keep it", "run-dir"),
		boolFlag(&o.noPin, "do not pin rank i to CPU i", "no-pin"),
		valueFlag(&o.prefix, "put the rank before lines of output `WHEN`: auto (on a terminal), always, never", "prefix"),
		boolFlag(&o.silent, "print no summary and no progress", "quiet", "q"),
	}
}

func valueFlag(v cli.Generic, usage, name string, aliases ...string) cli.Flag {
	return &cli.GenericFlag{Name: name, Aliases: aliases, Usage: usage, Value: v}
}

func textFlag(v *string, start, usage, name string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, Destination: v, Value: start}
}

func boolFlag(v *bool, usage, name string, aliases ...string) cli.Flag {
	return &cli.BoolFlag{Name: name, Aliases: aliases, Usage: usage, Destination: v, DisableDefaultText: true}
}

// config is the run that the flags ask for.
func (o *runOptions) config(s *state, path string, args []string) runner.Config {
	c := runner.Config{
		WasmPath: path, Args: args, Ranks: int(o.ranks), Device: o.device,
		Timeout: time.Duration(o.timeout), OpTimeout: time.Duration(o.opTimeout),
		MemoryBytes: int64(o.memory), BufferMemoryBytes: int64(o.bufferMemory),
		TraceLevel: flight.Level(o.trace), RunDir: o.runDir, Keep: o.keep || o.runDir != "",
		Set: o.set, Data: o.data, Algorithms: o.algorithms.table, Seed: uint64(o.seed), Labels: o.labels, Fault: o.faults.String(), Pin: !o.noPin,
		Prefix: o.prefix.word == "always" || o.prefix.word == "auto" && s.stdoutTerminal,
		Stdout: s.stdout, Stderr: s.stderr,
		Self: s.self, Env: s.env, Environ: s.environ, CacheDir: s.cacheDir, TempDir: s.tempDir,
	}
	if o.json {
		c.Stdout = s.stderr
	}
	if s.stderrTerminal && !o.silent && !o.json {
		c.Progress = s.stderr
	}
	return c
}

// collectivesFull is how many collectives of the largest size a run may have
// before its later ones get fewer spans.
const collectivesFull = 100

// spans is how fine exported spans are: as fine as what was recorded.
func (o *runOptions) spans() traces.SpanOptions {
	return traces.SpanOptions{
		Level: flight.Level(o.trace), PerCollective: int(o.spansMax), Total: int(o.spansMax) * collectivesFull,
	}
}

// runWorkflow runs, reports and gives the exit code as an error.
func runWorkflow(parent context.Context, s *state, o *runOptions, args cli.Args) error {
	if !args.Present() {
		return usageError{"no workflow given", "ccrun run [flags] WORKFLOW.wasm [the workflow's own arguments]"}
	}
	return s.carryOut(parent, o, o.config(s, args.First(), args.Tail()), func(*runner.Result) {})
}

// carryOut does a run, reports and gives the exit code as an error. ended is
// called when the run is over and its directory is still there.
func (s *state) carryOut(parent context.Context, o *runOptions, c runner.Config, ended func(*runner.Result)) error {
	if err := cmp.Or(o.checkSim(s), o.outputs.check()); err != nil {
		return err
	}
	if err := o.algorithms.fromEnvironment(s.env); err != nil {
		return err
	}
	c.Algorithms = o.algorithms.table
	var over atomic.Bool
	ctx, stop := interruptibleUntil(parent, s, &over)
	defer stop()
	var live liveMetrics
	defer live.close()
	c.Ready = func(start runner.Start) error {
		o.warned = o.outputs.probe(ctx, s)
		return live.serve(s, o, start)
	}
	result, err := runner.Run(ctx, c)
	over.Store(true)
	live.finish()
	if err != nil {
		return cmp.Or(context.Cause(ctx), err) // what a signal cut short fails in odd ways
	}
	ended(result)
	if sim := result.Simulation; sim != nil && sim.Phantoms && !c.Replay && !o.silent {
		s.warn("buffers had no bytes: what the workflow says it verified was not; --data gives them bytes")
	}
	return s.conclude(ctx, o, c.WasmPath, result)
}

// conclude tells what came out of a run, and removes what need not be kept:
// the records are, if an output could not be made of them.
func (s *state) conclude(ctx context.Context, o *runOptions, path string, result *runner.Result) (err error) {
	finish := result.Remove
	defer func() {
		if finishErr := finish(); err == nil {
			err = finishErr
		}
	}()
	if result.RunDir == "" { // a rank that another process launched
		return exitCode(result.ExitCode)
	}
	r := newReport(path, result)
	r.TraceParent = o.outputs.traceParent(s)
	run, err := recordsOf(result)
	if err != nil {
		if len(o.outputs) > 0 || o.outputs.wantsOTLP(s.env) {
			s.warn("nothing to export: %v", err)
		}
		return cmp.Or(r.write(s, o), exitCode(r.ExitCode))
	}
	defer run.Close()
	r.summarize(run, o.thresholds)
	e := &export{ctx: context.WithoutCancel(ctx), state: s, run: run, info: r.info(o.labels, s.env), spans: o.spans(), quiet: o.silent, report: r}
	failed := o.outputs.write(e)
	r.Spans = e.counts
	if len(failed) > 0 {
		finish = func() error { return nil }
		result.RunDir = s.rescue(result, failed, o.warned)
	}
	if err := r.write(s, o); err != nil {
		return err
	}
	if o.keep || o.runDir != "" || len(failed) > 0 {
		r.keep(s, result.RunDir, o.silent || len(failed) > 0)
	}
	return exitCode(r.ExitCode)
}

// recordsOf are the records of a run: in its directory, or in this process.
func recordsOf(result *runner.Result) (*traces.Run, error) {
	if result.Logs != nil {
		return traces.Of(result.Logs), nil
	}
	return traces.Open(result.RunDir)
}

// rescue keeps the run directory of a run that could not be written out, says
// where it is, and gives that. The run itself was fine, so these are warnings.
// What was warned of before the run is not a second one.
func (s *state) rescue(result *runner.Result, failed []failure, warned bool) (dir string) {
	dir, err := result.Keep()
	if err != nil {
		s.warn("%v", err)
	}
	for _, f := range failed {
		again := "ccrun report -o " + f.output + " " + dir
		if warned && f.output == "otlp" {
			fmt.Fprintf(s.stderr, "ccrun: no spans were exported; the records are kept: %s\n", again)
			continue
		}
		s.warn("-o %s: %v; the records are kept: %s", f.output, f.err, again)
	}
	return dir
}

// exitCode is nil for success.
func exitCode(code int) error {
	if code == runner.ExitOK {
		return nil
	}
	return codeError(code)
}

// rankCommand is one rank, as the launcher starts it.
func rankCommand(s *state) *cli.Command {
	return &cli.Command{
		Name:   "__rank",
		Hidden: true,
		Action: func(c *cli.Context) error {
			s.signals() // a signal to all of the terminal's processes is the launcher's to obey
			return exitCode(runner.RankMain(c.Context, s.env, os.Stdout, os.Stderr))
		},
	}
}
