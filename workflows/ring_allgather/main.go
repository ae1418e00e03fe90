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
	protocol string
	chunk    ccrun.ByteSize // one rank's contribution
	slice    ccrun.ByteSize
	iters    int
	warmup   int
	verify   string
}

// totalMax is how many iterations there may be, warm-up and all.
const totalMax = 1 << 30

func parse(args []string, ranks int, out io.Writer) (options, error) {
	o := options{chunk: 16 << 20, slice: 1 << 20}
	flags := flag.NewFlagSet("ring_allgather", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.protocol, "protocol", "get", "get: pull from the previous rank, or put: push to the next")
	flags.Var(&o.chunk, "bytes", "size of one rank's contribution; every rank ends up with as many times that as there are ranks")
	flags.Var(&o.slice, "slice", "size of a pipelined slice, 0 for whole chunks")
	flags.IntVar(&o.iters, "iters", 20, "iterations")
	flags.IntVar(&o.warmup, "warmup", 1, "iterations before those that count")
	flags.StringVar(&o.verify, "verify", "all", "iterations whose result is verified: all, last or off")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.protocol != "get" && o.protocol != "put":
		return o, fmt.Errorf("-protocol %s: want get or put", o.protocol)
	case o.verify != "all" && o.verify != "last" && o.verify != "off":
		return o, fmt.Errorf("-verify %s: want all, last or off", o.verify)
	case o.iters < 1 || o.warmup < 0:
		return o, fmt.Errorf("-iters %d -warmup %d: want at least 1 and 0", o.iters, o.warmup)
	case o.iters > totalMax || o.warmup > totalMax-o.iters:
		return o, fmt.Errorf("-iters %d -warmup %d: want at most %d together", o.iters, o.warmup, totalMax)
	case int64(o.chunk) > math.MaxInt64/int64(ranks):
		return o, fmt.Errorf("-bytes %s: too much from each of %d ranks", o.chunk, ranks)
	case int64(o.slice) > 1<<32-1:
		return o, fmt.Errorf("-slice %s: want less than 4GiB", o.slice)
	}
	return o, nil
}

// total is the number of iterations.
func (o options) total() int { return o.warmup + o.iters }

func run(world *ccrun.World, args []string, out io.Writer) error {
	if world.Rank() != 0 {
		out = io.Discard // what rank 0 says is enough
	}
	o, err := parse(args, world.Size(), out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ring_allgather: %d ranks, %s from each, %s in slices of %s, %d warm-up and %d iterations\n",
		world.Size(), o.chunk, o.protocol, o.slice, o.warmup, o.iters)
	g, err := open(world, o)
	if err != nil {
		return err
	}
	for iteration := range o.total() {
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
