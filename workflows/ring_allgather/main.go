// Ring_allgather gathers every rank's chunk on every rank, over a ring, in
// pipelined slices, by put or by get, without a barrier, and verifies every
// byte. Start with plan.go, which is the algorithm; README.md says what it
// shows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ring_allgather:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	trial.Options
	chunk ccrun.ByteSize // one rank's contribution
}

func parse(args []string, ranks int, out io.Writer) (options, error) {
	o := options{chunk: 16 << 20}
	flags := flag.NewFlagSet("ring_allgather", flag.ContinueOnError)
	flags.SetOutput(out)
	o.Register(flags, 1<<20, "get: pull from the previous rank, or put: push to the next")
	flags.Var(&o.chunk, "bytes", "size of one rank's contribution; every rank ends up with as many times that as there are ranks")
	if err := o.Parse(flags, args); err != nil {
		return o, err
	}
	if int64(o.chunk) > math.MaxInt64/int64(ranks) {
		return o, fmt.Errorf("-bytes %s: too much from each of %d ranks", o.chunk, ranks)
	}
	return o, nil
}

func run(world *ccrun.World, args []string, out io.Writer) error {
	if world.Rank() != 0 {
		out = io.Discard // what rank 0 says is enough
	}
	o, err := parse(args, world.Size(), out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ring_allgather: %d ranks, %s from each, %s in slices of %s, %d warm-up and %d iterations\n",
		world.Size(), o.chunk, o.Protocol, o.Slice, o.Warmup, o.Iters)
	g, err := open(world, o)
	if err != nil {
		return err
	}
	for iteration := range o.Total() {
		if err := g.iterate(iteration); err != nil {
			return fmt.Errorf("iteration %d: %w", iteration, err)
		}
	}
	digest, err := g.close()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ring_allgather: %d bytes verified, %d wrong, digest %016x%016x\n", g.verified, g.wrong, digest[0], digest[1])
	return nil
}
