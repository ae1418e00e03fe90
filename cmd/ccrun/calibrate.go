package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/runner"
	"github.com/ccrun/ccrun/runner/bench"
)

func calibrateCommand(s *state) *cli.Command {
	o := defaultCalibrateOptions()
	return &cli.Command{
		Name:      "calibrate",
		Usage:     "measure which algorithm is fastest here, or what this machine is to the simulator",
		UsageText: "ccrun calibrate [flags]",
		Description: `   ccrun calibrate -o algorithms.txt
   ccrun calibrate --quick -n 2 -o algorithms.txt
   ccrun bench all_reduce --algorithms algorithms.txt -b 8 -e 16M -f 4 -g 2
   CCRUN_ALGORITHMS=algorithms.txt ccrun -n 4 workflow.wasm
   ccrun calibrate --preset cpu.yaml
   ccrun calibrate --check cpu.yaml
   ccrun --device sim:cpu.yaml -n 4 workflow.wasm

Each collective is measured by every algorithm that can carry it out, from 8
bytes to 16 MiB, in rounds that take turns. Another algorithm than the default
is selected where it is more than 10 % faster in the median. The table is text,
with what was measured as comments; a rule for n ranks also holds for fewer.
Leave the machine alone meanwhile.

--preset measures the cpu device instead: what an operation and a signal take, and
at which rate a core copies and reduces, by how much memory ranks use. The file
is a preset of the simulator, each number with how it was measured, and how far
off rings were on it. --check compares again: it runs ring all_reduces and
all_gathers of 64 KiB to 64 MiB, none of which the numbers were made from, for
real and simulated with that preset, and prints both times. It exits with 1 if
the median error is more than 20 %.
`,
		Flags: o.flags(),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if err := o.checkMode(c.IsSet("ranks")); err != nil {
				return err
			}
			return runCalibrate(c.Context, s, o)
		},
	}
}

// calibrateOptions are the flags of a calibration.
type calibrateOptions struct {
	ranks  rankListValue
	path   string
	preset string // file to write
	check  string // preset to compare with
	time   durationValue
	quick  bool
	trace  levelValue
	device string
	noPin  bool
}

func defaultCalibrateOptions() *calibrateOptions {
	return &calibrateOptions{ranks: rankListValue{2, 4}, trace: levelValue(flight.LevelSlice)}
}

func (o *calibrateOptions) flags() []cli.Flag {
	return []cli.Flag{
		valueFlag(&o.ranks, "measure with `N,...` ranks", "ranks", "n"),
		textShortFlag(&o.path, "write the table to `FILE` instead of the standard output", "output", "o"),
		textFlag(&o.preset, "", "measure the processor instead, and write a preset of the simulator to `FILE`", "preset"),
		textFlag(&o.check, "", "run rings, simulate them with the preset `FILE`, and compare", "check"),
		valueFlag(&o.time, "begin no round that would end after `TIME` (default: 1m, with --preset 20s, with --quick 10s), but measure three", "time"),
		boolFlag(&o.quick, "measure fewer sizes, up to 512 KiB", "quick"),
		valueFlag(&o.trace, "record `LEVEL` and what is coarser: off, collective, flow, slice, message", "trace"),
		textFlag(&o.device, "auto", "carry operations out on `DEVICE`: auto, cpu", "device"),
		boolFlag(&o.noPin, "do not pin rank i to CPU i", "no-pin"),
	}
}

// Rounds of a calibration.
const (
	calibrateRoundsMin = 3
	calibrateRoundsMax = 100
)

// limit is how long rounds may go on.
func (o *calibrateOptions) limit() time.Duration {
	standard := time.Minute
	switch {
	case o.quick:
		standard = 10 * time.Second
	case o.preset != "":
		standard = 20 * time.Second
	}
	return cmp.Or(time.Duration(o.time), standard)
}

// sizes are the calls that are measured, each so often that a round takes some
// seconds.
func (o *calibrateOptions) sizes() []bench.Size {
	const pairedBytes, callsMin, callsMax = 4 << 20, 2, 100
	bytesMax, factor := int64(16<<20), int64(4)
	if o.quick {
		bytesMax, factor = 512<<10, 16
	}
	var sizes []bench.Size
	for bytes := int64(8); ; bytes *= factor {
		bytes = min(bytes, bytesMax)
		sizes = append(sizes, bench.Size{Bytes: bytes, Iterations: int(min(max(pairedBytes/bytes, callsMin), callsMax))})
		if bytes == bytesMax {
			return sizes
		}
	}
}

// calibrator measures in rounds.
type calibrator struct {
	state   *state
	options *calibrateOptions
	all     bench.Calibrations
}

func runCalibrate(parent context.Context, s *state, o *calibrateOptions) error {
	if launched, err := runner.Launched(s.env); err != nil || launched > 0 {
		return cmp.Or[error](err, usageError{"another launcher has started this process", "run ccrun calibrate by itself: it starts its ranks"})
	}
	for _, path := range []string{o.path, o.preset} {
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return usageError{path + ": the directory does not exist", "nothing was measured yet"}
		}
	}
	ctx, stop := interruptible(parent, s)
	defer stop()
	c := &calibrator{state: s, options: o}
	switch {
	case o.preset != "":
		return c.writePreset(ctx)
	case o.check != "":
		return c.checkPreset(ctx)
	}
	for _, ranks := range o.ranks {
		c.all = append(c.all, bench.NewCalibration(ranks, o.sizes()))
	}
	if err := c.measure(ctx); err != nil {
		return err
	}
	return c.write()
}

// measure measures the calls in rounds.
func (c *calibrator) measure(ctx context.Context) error {
	return c.inRounds(c.options.limit(), func(round int, passed time.Duration) error {
		for _, one := range c.all {
			c.progress("round %d, %d ranks, %v of %v", round+1, one.Ranks, passed, c.options.limit())
			if err := c.round(ctx, one, round); err != nil {
				return err
			}
		}
		return nil
	})
}

// inRounds goes on while there is time for another round.
func (c *calibrator) inRounds(limit time.Duration, measure func(round int, passed time.Duration) error) error {
	defer c.progress("")
	began := time.Now()
	longest := time.Duration(0)
	for round := range calibrateRoundsMax {
		if round >= calibrateRoundsMin && time.Since(began)+longest > limit {
			break
		}
		start := time.Now()
		if err := measure(round, time.Since(began).Round(time.Second)); err != nil {
			return err
		}
		longest = max(longest, time.Since(start))
	}
	return nil
}

// progress rewrites a line on the terminal.
func (c *calibrator) progress(format string, args ...any) {
	if c.state.stderrTerminal {
		fmt.Fprintf(c.state.stderr, "\r\x1b[K"+format, args...)
	}
}

// round runs the guest that measures once.
func (c *calibrator) round(ctx context.Context, one *bench.Calibration, round int) error {
	options, rows := one.Options(), one.Rows(round)
	results := options.NewResults(rows, one.Add)
	if err := c.run(ctx, options.Guest(rows), one.Ranks, c.options.device, results); err != nil {
		return err
	}
	return results.Err()
}

// run runs a guest that measures.
func (c *calibrator) run(ctx context.Context, guest []byte, ranks int, device string, results io.Writer) error {
	path, err := writeGuest(c.state.tempDir, "calibrate", guest)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(path))
	s, o := c.state, c.options
	result, err := runner.Run(ctx, runner.Config{
		WasmPath: path, Ranks: ranks, Device: device, OpTimeout: time.Minute, TraceLevel: flight.Level(o.trace), Pin: !o.noPin, Seed: 1,
		Stdout: results, Stderr: s.stderr, Self: s.self, Env: s.env, Environ: s.environ, TempDir: s.tempDir,
	})
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := result.Remove(); err != nil {
		return err
	}
	if v := result.Verdict; v != nil {
		s.complain(indentMore(v.Text), "")
		return exitCode(result.ExitCode)
	}
	return nil
}

// write puts the table where it belongs, whole or not at all.
func (c *calibrator) write() error {
	var text bytes.Buffer
	if err := c.all.Write(&text, c.about()); err != nil {
		return err
	}
	path := c.options.path
	if path == "" {
		return writeAll(c.state.stdout, text.String())
	}
	if err := replaceFile(path, text.Bytes()); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	fmt.Fprintf(c.state.stderr, "wrote %s: %d rules; ccrun run --algorithms %s uses them\n", path, len(c.all.Rules()), path)
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, text []byte) error {
	if err := os.WriteFile(path+".part", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
