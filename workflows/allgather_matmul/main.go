// Allgather_matmul multiplies a matrix whose rows are spread over all ranks with
// one that every rank has, in tiles: while tiles travel around rings, those that
// have arrived are multiplied. It compares that with doing one after the other.
// Start with plan.go, which is the schedule; README.md says what it shows.
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
		fmt.Fprintln(os.Stderr, "allgather_matmul:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	m, n, k int // of the product: m rows, n columns, sums over k
	tiles   int
	streams int
	iters   int
	warmup  int
}

// Limits of the flags.
const (
	itersMax   = 1 << 20
	sideMax    = 1 << 16 // so that sums of small whole numbers are exact in float32
	tilesMax   = 1000    // a signal slot each
	gathersMax = 64      // that one group holds, one for each of a rank's tiles
	streamsMax = 16
)

func parse(args []string, ranks int, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("allgather_matmul", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.m, "m", 0, "rows of the product, spread over the ranks; 0 for 256 of each tile")
	flags.IntVar(&o.n, "n", 16, "columns of the product")
	flags.IntVar(&o.k, "k", 1024, "columns of the matrix that is gathered")
	flags.IntVar(&o.tiles, "tiles", 0, "tiles that the rows are cut into, a multiple of the ranks; 0 for two of each rank")
	flags.IntVar(&o.streams, "streams", 3, "streams that the tiles take turns on")
	flags.IntVar(&o.iters, "iters", 5, "iterations")
	flags.IntVar(&o.warmup, "warmup", 1, "iterations before those that count")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.tiles == 0 {
		o.tiles = 2 * ranks
	}
	if o.m == 0 {
		o.m = 256 * o.tiles
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.iters < 1 || o.warmup < 0 || o.iters > itersMax || o.warmup > itersMax:
		return o, fmt.Errorf("-iters %d -warmup %d: want at least 1 and 0, at most %d", o.iters, o.warmup, itersMax)
	case min(o.m, o.n, o.k) < 1 || max(o.m, o.n, o.k) > sideMax:
		return o, fmt.Errorf("-m %d -n %d -k %d: want 1 to %d", o.m, o.n, o.k, sideMax)
	case o.tiles < 1 || o.tiles > tilesMax || o.tiles%ranks != 0:
		return o, fmt.Errorf("-tiles %d: want a multiple of the %d ranks, at most %d", o.tiles, ranks, tilesMax)
	case o.tiles/ranks > gathersMax:
		return o, fmt.Errorf("-tiles %d: %d of each rank, want at most %d", o.tiles, o.tiles/ranks, gathersMax)
	case o.m%o.tiles != 0:
		return o, fmt.Errorf("-m %d: want a multiple of the %d tiles", o.m, o.tiles)
	case o.streams < 1 || o.streams > streamsMax:
		return o, fmt.Errorf("-streams %d: want 1 to %d", o.streams, streamsMax)
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
	fmt.Fprintf(out, "allgather_matmul: %d ranks, %d x %d x %d in %d tiles on %d streams, %d warm-up and %d iterations\n",
		world.Size(), o.m, o.k, o.n, o.tiles, o.streams, o.warmup, o.iters)
	p, err := open(world, o)
	if err != nil {
		return err
	}
	times := newTimes(o.iters)
	for iteration := range o.warmup + o.iters {
		for mode := range modes {
			took, err := p.round(mode, iteration < o.warmup)
			if err != nil {
				return fmt.Errorf("iteration %d, %s: %w", iteration, modes[mode].name, err)
			}
			if iteration >= o.warmup {
				times.add(mode, took)
			}
		}
	}
	if err := times.combine(p); err != nil {
		return err
	}
	times.print(out)
	return p.close()
}
