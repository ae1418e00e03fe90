package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/runner/bench/machine"
	"github.com/ccrun/ccrun/runner/bench/script"
)

// checkMode refuses flags of which one has no use for the other.
func (o *calibrateOptions) checkMode(ranksGiven bool) error {
	switch {
	case o.preset != "" && o.check != "":
		return usageError{"--preset and --check are two steps", "ccrun calibrate --preset " + o.preset + " && ccrun calibrate --check " + o.preset}
	case o.path != "" && o.preset+o.check != "":
		return usageError{"-o is of the table of algorithms, which --preset and --check do not measure", "leave it out"}
	case o.preset != "" && ranksGiven:
		return usageError{"--preset starts as many ranks as it needs", "leave -n out"}
	}
	return nil
}

// measureScripts runs scripts in rounds, and gives the number of rounds.
func (c *calibrator) measureScripts(ctx context.Context, limit time.Duration, scripts []*script.Script, add func(number int, r *script.Results)) (rounds int, err error) {
	err = c.inRounds(limit, func(round int, passed time.Duration) error {
		for i, s := range scripts {
			c.progress("round %d, %d ranks, %v of %v", round+1, s.Ranks, passed, limit)
			r, err := c.runScript(ctx, s, c.options.device)
			if err != nil {
				return err
			}
			add(i, r)
		}
		rounds++
		return nil
	})
	return rounds, err
}

func (c *calibrator) runScript(ctx context.Context, s *script.Script, device string) (*script.Results, error) {
	r := s.NewResults()
	if err := c.run(ctx, s.Guest(), s.Ranks, device, r); err != nil {
		return nil, err
	}
	return r, r.Err()
}

// writePreset measures this machine and writes its preset, then sees how far off
// it is and writes that, too.
func (c *calibrator) writePreset(ctx context.Context) error {
	plan := machine.NewPlan(coresOf(c.options.device), c.options.quick)
	rounds, err := c.measureScripts(ctx, c.options.limit(), plan.Scripts, plan.Add)
	if err != nil {
		return err
	}
	numbers := plan.Fit()
	hostname, _ := os.Hostname() // it can be left out
	about := fmt.Sprintf("%s, %s, %d processors, %s", hostname, processor(), runtime.NumCPU(), time.Now().Format(time.DateOnly))
	p, err := numbers.Preset(about, fmt.Sprintf("measured by ccrun calibrate, %d rounds, median", rounds))
	if err != nil {
		return err
	}
	path := c.options.preset
	write := func() error {
		if err := replaceFile(path, []byte(p.String())); err != nil {
			return fmt.Errorf("preset: %w", err)
		}
		return nil
	}
	if err := write(); err != nil {
		return err
	}
	const fewRounds = 0 // as few as there may be
	check, err := c.compare(ctx, path, fewRounds)
	if err != nil {
		return err
	}
	p.Validation = append(p.Validation, check.Band())
	if err := write(); err != nil {
		return err
	}
	fmt.Fprintf(c.state.stderr, "wrote %s, by which rings take what they do within %.1f %% in the median; ccrun --device sim:%s simulates this machine\n",
		path, check.MedianError()*100, presetPath(path))
	return nil
}

// coresOf is how many processors a device has: of a simulated one, which is
// measured like a real one, what its preset says.
func coresOf(device string) int {
	if name, _, err := preset.ParseTarget(device); err == nil {
		if p, err := preset.Find(name); err == nil && p.Machine == preset.Cores {
			return p.CPU.Cores
		}
	}
	return runtime.NumCPU()
}

// presetPath is a path such that it is not taken for a preset's name.
func presetPath(path string) string {
	if strings.Contains(path, "/") || strings.HasSuffix(path, ".yaml") {
		return path
	}
	return "./" + path
}

// checkPreset compares real rings with simulated ones, and fails if they differ
// too much.
func (c *calibrator) checkPreset(ctx context.Context) error {
	path := c.options.check
	p, err := preset.Find(presetPath(path))
	if err != nil {
		return usageError{err.Error(), "ccrun calibrate --preset " + path + " writes one"}
	}
	if p.Machine != preset.Cores {
		return usageError{path + " is a preset of GPUs", "this machine is compared with one of processor cores"}
	}
	check, err := c.compare(ctx, path, c.options.limit())
	if err != nil {
		return err
	}
	if err := check.Write(c.state.stdout); err != nil {
		return err
	}
	if check.MedianError() > machine.ErrorMax {
		c.state.complain(fmt.Sprintf("the median error is more than %.0f %%", machine.ErrorMax*100), "")
		return codeError(1)
	}
	return nil
}

// compare simulates rings with a preset, and runs them.
func (c *calibrator) compare(ctx context.Context, path string, limit time.Duration) (*machine.Check, error) {
	check := machine.NewCheck(c.options.ranks, c.options.quick)
	for i, s := range check.Simulated {
		r, err := c.runScript(ctx, s, "sim:"+presetPath(path))
		if err != nil {
			return nil, err
		}
		check.Predict(i, r)
	}
	_, err := c.measureScripts(ctx, limit, check.Scripts, check.Add)
	return check, err
}
