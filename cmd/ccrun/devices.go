package main

import (
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/all"
)

// laterDevices are reserved names, with why they are not there.
var laterDevices = []struct{ name, why string }{
	{"cuda", "not in this version: GPUs through CUDA IPC and NCCL come later"},
}

func devicesCommand(s *state) *cli.Command {
	return &cli.Command{
		Name:        "devices",
		Usage:       "list what can carry out operations here, and why the rest cannot",
		UsageText:   "ccrun devices",
		Description: "   ccrun devices\n   ccrun --device cpu -n 4 ring_allgather.wasm\n   ccrun --device sim:h100x2 ring_allgather.wasm\n",
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return writeAll(s.stdout, deviceTable(all.Openers()))
		},
	}
}

func deviceTable(openers []device.Opener) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	listed := make(map[string]bool)
	line := func(name, status, why string) {
		listed[name] = true
		table.Write([]byte(strings.TrimRight(name+"\t"+status+"\t"+why, "\t") + "\n"))
	}
	for _, opener := range openers {
		if err := opener.Available(); err != nil {
			line(opener.Name, "missing", err.Error())
		} else {
			line(opener.Name, "available", "processes and shared memory of this node")
		}
	}
	for _, later := range laterDevices {
		if !listed[later.name] {
			line(later.name, "missing", later.why)
		}
	}
	line("sim", "available", "a cluster in virtual time, in one process: --device sim:PRESET[xNODES]")
	table.Flush()
	b.WriteString("\npresets of sim\n")
	for _, preset := range presetLines() {
		table.Write([]byte(preset + "\n"))
	}
	table.Flush()
	return b.String()
}
