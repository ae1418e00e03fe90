// Ring_allreduce adds up the vectors of all ranks on every rank, over rings, in
// pipelined slices, by put or by get, on several channels, without a barrier,
// and verifies every element. Start with reduce.go; README.md says what it
// shows.
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
		err = run(world, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ring_allreduce:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	protocol string
	bytes    ccrun.ByteSize // of a rank's vector
	slice    ccrun.ByteSize
	channels int
	iters    int
	warmup   int
	verify   string
}

// Limits of the flags.
const (
	totalMax    = 1 << 30 // iterations, warm-up and all
	channelsMax = 16
)

func parse(args []string, out io.Writer) (options, error) {
	o := options{bytes: 16 << 20, slice: 256 << 10}
	flags := flag.NewFlagSet("ring_allreduce", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.protocol, "protocol", "get", "get: combine with slices pulled from the previous rank, or put: push to the next")
	flags.Var(&o.bytes, "bytes", "size of the vector, whole float32 elements")
	flags.Var(&o.slice, "slice", "size of a pipelined slice, 0 for whole chunks")
	flags.IntVar(&o.channels, "channels", 1, "rings that share the vector, each on a stream of its own")
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
	case o.iters < 1 || o.warmup < 0 || o.iters > totalMax || o.warmup > totalMax-o.iters:
		return o, fmt.Errorf("-iters %d -warmup %d: want at least 1 and 0, at most %d together", o.iters, o.warmup, totalMax)
	case o.channels < 1 || o.channels > channelsMax:
		return o, fmt.Errorf("-channels %d: want 1 to %d", o.channels, channelsMax)
	case o.bytes%4 != 0 || o.slice%4 != 0:
		return o, fmt.Errorf("-bytes %s -slice %s: want whole elements of 4 bytes", o.bytes, o.slice)
	case o.slice > 1<<32-1:
		return o, fmt.Errorf("-slice %s: want less than 4GiB", o.slice)
	}
	return o, nil
}

// total is the number of iterations.
func (o options) total() int { return o.warmup + o.iters }

// verifies reports whether the result of an iteration is verified.
func (o options) verifies(iteration int) bool {
	return o.verify == "all" || o.verify == "last" && iteration == o.total()-1
}

func run(world *ccrun.World, args []string, out io.Writer) error {
	if world.Rank() != 0 {
		out = io.Discard // what rank 0 says is enough
	}
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ring_allreduce: %d ranks, %s, %s in slices of %s on %d channels, %d warm-up and %d iterations\n",
		world.Size(), o.bytes, o.protocol, o.slice, o.channels, o.warmup, o.iters)
	r, err := open(world, o)
	if err != nil {
		return err
	}
	for iteration := range o.total() {
		if err := r.iterate(iteration); err != nil {
			return fmt.Errorf("iteration %d: %w", iteration, err)
		}
	}
	digest, err := r.close()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ring_allreduce: %d bytes verified, %d elements wrong, digest %016x%016x\n", r.verified, r.wrong, digest[0], digest[1])
	return nil
}
