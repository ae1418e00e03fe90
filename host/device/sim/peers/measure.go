package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// measured is one run of a simulator.
type measured struct {
	wall, cpu  time.Duration // of the processes, from start to end
	peakBytes  int64         // most memory that a process had
	simulated  time.Duration // of the all-reduce
	operations int64         // of streams, 0 if it does not say
	events     int64
}

// runLimit is how long one run may take.
const runLimit = 10 * time.Minute

// timed runs a command to its end and gives what it printed.
func timed(ctx context.Context, argv ...string) (text []byte, m measured, err error) {
	ctx, stop := context.WithTimeout(ctx, runLimit)
	defer stop()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var complaint strings.Builder
	c.Stderr = &complaint
	start := time.Now()
	text, err = c.Output()
	m.wall = time.Since(start)
	if err != nil {
		return nil, m, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), errors.Join(context.Cause(ctx), err), complaint.String())
	}
	m.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.peakBytes = usage.Maxrss << 10 // Linux counts KiB, of descendants too
	}
	return text, m, nil
}
