package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/runner/bench"
)

func benchCommand(s *state) *cli.Command {
	o := defaultBenchOptions()
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure a collective, with nccl-tests' flags and table",
		UsageText: "ccrun bench [flags] COLLECTIVE [flags]",
		Description: `   ccrun bench all_reduce -b 8 -e 128M -f 2 -g 4
   ccrun bench all_gather -b 1M -e 1M -n 100 -I -J result.json
   ccrun bench reduce_scatter --sizes 64Kx2000,16Mx50 -d bfloat16 -o max
   mpirun -n 2 ccrun bench broadcast -b 64K -e 64M -f 4

COLLECTIVE is one of
` + benchNames() + `.
What is measured is a Wasm guest that calls it, as any workflow can. Sizes are
those of the whole array; of alltoallv what a rank sends in all, more the further
the receiver is (NCCL_TESTS_ALLTOALLV_SPREAD from 0, equal parts, to 1). The exit
code is nccl-tests': 0, 1 internal error, 3 the run failed, 4 timeout, 5 not
implemented, 6 bad usage, 7 wrong numbers or too slow.
`,
		Flags: o.flags(),
		OnUsageError: func(c *cli.Context, err error, subcommand bool) error {
			return s.benchExit(flagError(c, err, subcommand))
		},
		Action: func(c *cli.Context) error {
			return s.benchExit(runBench(c, s, o))
		},
	}
}

// runBench reads the rest of the command line, measures and tells.
func runBench(c *cli.Context, s *state, o *benchOptions) error {
	if err := o.complete(c, s.env); err != nil {
		return err
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context, s)
	defer stop()
	for cycle := 0; o.cycles == 0 || cycle < o.cycles; cycle++ {
		m := &measurement{state: s, flags: o, options: options, rows: options.Rows()}
		if err := m.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measurement is one table: a run of the guest that measures.
type measurement struct {
	state   *state
	flags   *benchOptions
	options *bench.Options
	rows    []bench.Row

	table   *bench.Table
	report  *bench.Report
	file    *os.File // of the report, nil for none
	outcome bench.Outcome
	dir     string // of the run
	err     error  // of the first thing that could not be written
}

// run measures all rows and prints them as they come.
func (m *measurement) run(ctx context.Context) error {
	m.table = &bench.Table{Out: m.state.stdout, Options: m.options, Version: version, Now: time.Now}
	m.outcome = bench.Outcome{MinBusBW: m.flags.minBusBW, BufferBytes: m.options.BufferBytes(m.rows)}
	path, err := writeGuest(m.state.tempDir, m.options.Collective.Name, m.options.Guest(m.rows))
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(path))
	results := m.options.NewResults(m.rows, m.row)
	c := m.config(path)
	c.Stdout = results
	if m.flags.native {
		if c.Native, err = m.options.Job(); err != nil {
			return fmt.Errorf("benchmark: %w", err)
		}
	}
	result, err := runner.Run(ctx, c)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer func() { _ = result.Remove() }()
	if result.RunDir == "" { // a rank that another process launched: that one prints
		return exitCode(benchCode(result))
	}
	return m.conclude(result, results)
}

// writeGuest puts a guest into a directory of its own.
func writeGuest(tempDir, name string, wasm []byte) (string, error) {
	dir, err := os.MkdirTemp(tempDir, "ccrun-bench-")
	if err != nil {
		return "", fmt.Errorf("guest: %w", err)
	}
	path := filepath.Join(dir, name+".wasm")
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		return "", errors.Join(fmt.Errorf("guest: %w", err), os.RemoveAll(dir))
	}
	return path, nil
}

// config is the run of the guest. Its module is another one for each
// benchmark, so the cache for compiled guests is left alone.
func (m *measurement) config(path string) runner.Config {
	s, o := m.state, m.flags
	c := runner.Config{
		WasmPath: path, Device: o.device, Data: o.data, Timeout: time.Duration(o.timeoutSecs) * time.Second, OpTimeout: 5 * time.Minute,
		TraceLevel: flight.Level(o.trace), Fault: o.fault, Algorithms: o.algorithms.table, Pin: !o.noPin, Seed: 1, Ready: m.begin,
		Stderr: s.stderr, Self: s.self, Env: s.env, Environ: s.environ, TempDir: s.tempDir, Set: o.set,
	}
	if !o.launched {
		c.Ranks = m.options.Ranks()
	}
	return c
}

// begin notes where the run is. The head of the table names processes, which
// are not there yet.
func (m *measurement) begin(start runner.Start) error {
	m.dir = start.RunDir
	return nil
}

// row prints a row, below the head if it is the first.
func (m *measurement) row(row *bench.Row, outOfPlace, inPlace *bench.Timing) {
	if m.report == nil {
		m.head()
	}
	m.outcome.Add(outOfPlace, inPlace)
	m.report.Row(row, outOfPlace, inPlace)
	m.note(m.table.Row(row, outOfPlace, inPlace))
}

func (m *measurement) note(err error) {
	if m.err == nil {
		m.err = err
	}
}

// head prints the head of the table and opens the report's file.
func (m *measurement) head() {
	hosts := m.hosts()
	m.report = bench.NewReport(m.options, m.state.args, benchEnvironment(m.state.env), hosts, time.Now())
	if m.flags.reportPath != "" {
		file, err := bench.CreateReport(m.flags.reportPath)
		if err == nil {
			m.file = file
			fmt.Fprintf(m.state.stdout, "# Writing JSON output to %s\n", file.Name())
		}
		m.note(err)
	}
	m.note(m.table.Begin(hosts))
}

// hosts are the ranks, as their flight files tell of them.
func (m *measurement) hosts() []bench.Host {
	hostname, _ := os.Hostname() // it can be left out
	hosts := make([]bench.Host, m.options.Ranks())
	device := "cpu"
	if simulated(m.flags.device) {
		hostname, device = "simulated", m.flags.device
	}
	for rank := range hosts {
		hosts[rank] = bench.Host{Rank: rank, Hostname: hostname, Device: rank, DeviceHex: "0000:00:00", DeviceInfo: device}
		if log, err := flight.Open(filepath.Join(m.dir, fmt.Sprintf("rank-%04d.flight", rank))); err == nil {
			hosts[rank].PID = log.PID
			_ = log.Close()
		}
	}
	return hosts
}

// conclude prints the foot of the table, or why there is none.
func (m *measurement) conclude(result *runner.Result, results *bench.Results) error {
	code := benchCode(result)
	var failures []string
	if v := result.Verdict; v != nil && code != bench.ExitWrong {
		m.state.complain(indentMore(v.Text), benchHints[v.Kind])
		failures = append(failures, v.Text)
	}
	if code == bench.ExitOK {
		m.note(results.Err())
	}
	if m.report != nil {
		if sim := result.Simulation; sim != nil {
			m.table.Notes, m.report.Simulation = m.notes(sim), newSimulationReport(sim)
		}
		m.report.End(&m.outcome, failures, time.Now())
		if code == bench.ExitOK || code == bench.ExitWrong {
			m.note(m.table.End(&m.outcome))
		}
	}
	if m.file != nil {
		m.note(m.report.Write(m.file))
		m.note(m.file.Close())
	}
	switch {
	case m.err != nil:
		return m.err
	case code == bench.ExitOK && !m.outcome.Good():
		code = bench.ExitWrong
	}
	return exitCode(code)
}

// notes are what a simulated table rests on.
func (m *measurement) notes(sim *runner.Simulation) []string {
	notes := sim.Preset.Honesty()
	if m.options.Checks == 0 && m.flags.checks > 0 {
		notes = append(notes, "no checks: without --data simulated buffers may be sizes without bytes")
	}
	return notes
}

// benchHints are what to do about verdicts of which a flag may be the cause.
var benchHints = map[string]string{
	runner.KindTimeout: "-T raises the limit, -n, -w and -c lower the number of calls",
	runner.KindLimit:   "-e lowers the largest size, -g the number of ranks",
}

// benchCode maps verdicts to nccl-tests' codes.
func benchCode(result *runner.Result) int {
	if result.Verdict == nil {
		return result.ExitCode
	}
	switch result.Verdict.Kind {
	case runner.KindUnverified:
		return bench.ExitWrong
	case runner.KindTimeout:
		return bench.ExitTimeout
	case runner.KindSignal:
		return runner.ExitSignal
	case runner.KindSetup, runner.KindInternal, runner.KindLimit, runner.KindABI:
		return bench.ExitInternal
	}
	return bench.ExitCommunication
}

// benchExit tells of an error and gives nccl-tests' code for it.
func (s *state) benchExit(err error) error {
	var code codeError
	if err == nil || errors.As(err, &code) {
		return err
	}
	var missing notImplemented
	if errors.As(err, &missing) {
		s.complain(missing.Error(), "")
		return codeError(bench.ExitNotImplemented)
	}
	switch s.fail(err) {
	case runner.ExitUsage:
		return codeError(bench.ExitUsage)
	case runner.ExitSignal:
		return codeError(runner.ExitSignal)
	}
	return codeError(bench.ExitInternal)
}
