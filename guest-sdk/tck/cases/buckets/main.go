// Buckets is a storm of bucket pipelines: many random cases in a run, each a
// function of its seed, the same on all ranks. Every byte of every destination
// is verified, and that no byte beside them is touched, and the statistics. A
// case that fails is a line, which says how to repeat it alone.
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
		err = storm(world, os.Args[1:], os.Stdout, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// streamsMax is how many streams a pipeline gets at most.
const streamsMax = 8

// storm runs cases. What a rank has read of the target buffers goes through
// spoil, if there is one, before it is looked at.
func storm(world *ccrun.World, args []string, out io.Writer, spoil func([]byte)) error {
	flags := flag.NewFlagSet("buckets", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	seed := flags.Uint64("seed", 1, "seed of the storm")
	first := flags.Int("first", 0, "first case")
	cases := flags.Int("cases", 20, "how many cases")
	verbose := flags.Bool("v", false, "say what each case is, on rank 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	streams := make([]*ccrun.Stream, streamsMax)
	for i := range streams {
		var err error
		if streams[i], err = world.NewStream(); err != nil {
			return err
		}
	}
	if err := rounding(world, streams); err != nil {
		return err
	}
	var count tally
	for number := *first; number < *first+*cases; number++ {
		again := fmt.Sprintf("case %d (repeat it with -seed %d -first %d -cases 1)", number, *seed, number)
		c, err := drawCase(world, mix(mix(*seed)+golden*uint64(number)))
		if err != nil {
			return fmt.Errorf("rank %d: %s: %w", world.Rank(), again, err)
		}
		if err := c.run(streams, spoil); err != nil {
			return fmt.Errorf("rank %d: %s: %w [%s]", world.Rank(), again, err, c)
		}
		if len(c.wrong) > 0 {
			count.failed++
			fmt.Fprintf(out, "rank %d: %s: %s [%s]\n", world.Rank(), again, c.verdict(), c)
		}
		if *verbose && world.Rank() == 0 {
			fmt.Fprintf(out, "case %d: %s\n", number, c)
		}
		count.add(c)
	}
	if world.Rank() == 0 {
		fmt.Fprintf(out, "%d cases: %s\n", *cases, &count)
	}
	if count.failed > 0 {
		return fmt.Errorf("rank %d: %d cases failed", world.Rank(), count.failed)
	}
	return closeAll(streams)
}

func closeAll(streams []*ccrun.Stream) error {
	var err error
	for _, s := range streams {
		err = errors.Join(err, s.Close())
	}
	return err
}

// tally counts what a rank has seen.
type tally struct {
	failed, runs, entries, buckets int
	bytes                          int64
}

func (t *tally) add(c *kase) {
	t.runs += c.setup.runs
	t.entries += c.plan.Entries
	t.buckets += c.plan.Buckets
	t.bytes += c.plan.Bytes
}

func (t *tally) String() string {
	return fmt.Sprintf("%d runs, %d entries in %d buckets, %d bytes, %d failed", t.runs, t.entries, t.buckets, t.bytes, t.failed)
}
