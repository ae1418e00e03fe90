// Reshard moves tensors between meshes with bucket pipelines, verifies every
// byte that has arrived, and says what it cost: time, and memory at its peak.
// It compares one chunk after the other, as many buckets as channels let, and
// as many as a budget over all channels lets; or it sweeps over one number and
// draws what comes of it. Which rank gives what to whom is package reshard of
// the SDK. Start with job.go, which is one run; README.md says what it shows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "reshard:", err)
		os.Exit(1)
	}
}

// run writes tables to out; if there is a plot, that goes to out and tables go
// to aside.
func run(world *ccrun.World, args []string, out, aside io.Writer) error {
	if world.Rank() != 0 {
		out, aside = io.Discard, io.Discard // what rank 0 says is enough
	}
	o, err := parse(args, world.Size(), world.Device(), out)
	if err != nil {
		return err
	}
	plot := out
	if o.plot != "" {
		out = aside
	}
	plans, err := o.plans(world)
	if err != nil {
		return err
	}
	s, err := newSite(world, o)
	if err != nil {
		return err
	}
	if o.sweep.name == "" {
		return s.compare(plans[0], out, plot)
	}
	return s.sweep(plans, out, plot)
}
