package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/runner"
)

func replayCommand(s *state) *cli.Command {
	o := defaultOptions()
	return &cli.Command{
		Name:      "replay",
		Usage:     "carry out what ccrun record wrote down, without the workflow",
		UsageText: "ccrun replay [flags] FILE.oplog",
		Description: `   ccrun record -n 4 -o ring.oplog ring_allgather.wasm -bytes 64KiB
   ccrun replay ring.oplog
   ccrun replay --device sim:h100x2 --threshold 'cct.p99<5ms' ring.oplog

Every rank asks of its device what the recorded one asked, in the same order, as
fast as it goes; there are as many ranks as were recorded. Verdicts, summary and
outputs are those of a run. Bytes that the workflow wrote itself are zeros in a
replay: if there are any, nothing is verified.
`,
		Flags: o.flagsWithout("ranks", "memory", "algorithms", "seed", "prefix"),
		Action: func(c *cli.Context) error {
			o.opTimeoutGiven = c.IsSet("op-timeout")
			file, err := oneArgument(c, "log")
			if err != nil {
				return err
			}
			config := o.config(s, file, nil)
			config.Replay = true
			return s.carryOut(c.Context, o, config, func(*runner.Result) {})
		},
	}
}
