package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/device/oplog"
	"github.com/ccrun/ccrun/runner"
)

// recordOptions are the flags of a recording.
type recordOptions struct {
	*runOptions
	file   string
	expand bool
}

func recordCommand(s *state) *cli.Command {
	o := &recordOptions{runOptions: defaultOptions()}
	return &cli.Command{
		Name:      "record",
		Usage:     "run a workflow and write down what it asks of its devices, for ccrun replay",
		UsageText: "ccrun record [flags] [-o FILE.oplog] WORKFLOW.wasm [the workflow's own arguments]",
		Description: `   ccrun record -n 4 -o ring.oplog ring_allgather.wasm -bytes 64KiB
   ccrun replay ring.oplog
   ccrun replay --device sim:h100 ring.oplog
   ccrun record --expand -n 4096 -o big.oplog ring_allgather.wasm -bytes 64KiB
   ccrun replay --device sim:h100x512 --trace collective big.oplog

The log is text, a line for each call of each rank, with the function of the
workflow that made it: buffers, shares, streams, events, operations, barriers,
and the collectives and marks that the workflow named. What the workflow wrote
into buffers is not in it, nor what it computed between its calls.

A run that ends badly is recorded as far as it came. The other flags are those of
ccrun run.

--expand runs no run: it asks the workflows of a few ranks what they would do, on
a device that does nothing, and finds the one program that all -n ranks share, in
which offsets and peers depend on the rank as in {4096*(r+1)}: modulo the number
of ranks, which --device sim:PRESETxNODES can say as well as -n. So thousands of
ranks can be simulated at little cost. The program is held against further ranks:
up to 24 ranks against all, else against the first 8 and one of each remainder of
the rank by 16, in different places. A workflow whose ranks are not alike there,
or that looks at data or at the time, is refused; what it does only on ranks that
were not looked at is not noticed.
`,
		Flags: append([]cli.Flag{
			textFlag(&o.file, "", "write the log to `FILE` (default: the workflow's name with .oplog)", "o"),
			boolFlag(&o.expand, "find the program of all ranks from what a few of them do, without a run", "expand"),
		}, o.flagsWithout("out")...),
		Action: func(c *cli.Context) error {
			o.opTimeoutGiven = c.IsSet("op-timeout")
			return o.record(c.Context, s, c.Args())
		},
	}
}

// flagsWithout are the flags of a run but for some.
func (o *runOptions) flagsWithout(names ...string) []cli.Flag {
	return slices.DeleteFunc(o.flags(), func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

func (o *recordOptions) record(ctx context.Context, s *state, args cli.Args) error {
	if !args.Present() {
		return usageError{"no workflow given", "ccrun record [flags] WORKFLOW.wasm [the workflow's own arguments]"}
	}
	workflow := args.First()
	file := o.file
	if file == "" {
		file = strings.TrimSuffix(filepath.Base(workflow), ".wasm") + ".oplog"
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return usageError{"-o " + quote(file) + ": no directory " + quote(filepath.Dir(file)), "make it first"}
	}
	c := o.config(s, workflow, args.Tail())
	if o.expand {
		return o.expanded(ctx, s, c, file)
	}
	c.Record = true
	var failed error
	err := s.carryOut(ctx, o.runOptions, c, func(result *runner.Result) {
		if result.RunDir != "" { // else another process writes the log
			failed = o.write(s, result, file)
		}
	})
	if err == nil {
		err = failed
	}
	return err
}

// expanded writes the log of all ranks that a few of them tell of.
func (o *recordOptions) expanded(parent context.Context, s *state, c runner.Config, file string) error {
	if c.Ranks == 0 && !o.isSim() {
		return usageError{"--expand needs a number of ranks", "ccrun record --expand -n 4096 " + c.WasmPath}
	}
	if err := o.algorithms.fromEnvironment(s.env); err != nil {
		return err
	}
	c.Algorithms = o.algorithms.table
	var over atomic.Bool
	ctx, stop := interruptibleUntil(parent, s, &over)
	defer stop()
	x, err := runner.Expand(ctx, c)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	over.Store(true)
	if err := writeLog(x.Log, file); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if !o.silent {
		fmt.Fprintf(s.stderr, "ccrun: operations written: %s: %d calls of each rank; %d of %d ranks were looked at\n", file, x.Calls, x.Looked, x.Log.Ranks)
	}
	return nil
}

// writeLog writes a log, all of it or nothing.
func writeLog(log *oplog.Log, path string) error {
	part, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	err = errors.Join(log.Write(part), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name()) // the first error is worth more
	}
	return err
}

// write writes the log of a run that is over.
func (o *recordOptions) write(s *state, result *runner.Result, file string) error {
	cut, err := result.WriteLog(file)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if len(cut) > 0 && result.Verdict == nil {
		s.warn("%s: %d ranks, rank %d first, did not come to their end", file, len(cut), cut[0])
	}
	if !o.silent {
		fmt.Fprintf(s.stderr, "ccrun: operations written: %s\n", file)
	}
	return nil
}
