package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/runner"
)

// recordOptions are the flags of a recording.
type recordOptions struct {
	*runOptions
	file string
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

The log is text, a line for each call of each rank, with the function of the
workflow that made it: buffers, shares, streams, events, operations, barriers,
and the collectives and marks that the workflow named. What the workflow wrote
into buffers is not in it, nor what it computed between its calls.

A run that ends badly is recorded as far as it came. The other flags are those of
ccrun run.
`,
		Flags: append([]cli.Flag{
			textFlag(&o.file, "", "write the log to `FILE` (default: the workflow's name with .oplog)", "o"),
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
	c := o.config(s, workflow, args.Tail())
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
