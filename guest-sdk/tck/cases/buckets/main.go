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
		err = storm(world, os.Args[1:], os.Stdout, &host{stages: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// streamsMax is how many streams a pipeline gets at most.
const streamsMax = 8

// host is what the host of a storm is like.
type host struct {
	// What a rank has read of a buffer goes through spoil, if there is one,
	// before it is looked at.
	spoil func(buffer string, image []byte)
	// stages is that buckets are packed in memory, of which statistics tell.
	stages bool
}

// tempest is the storm as flags ask for it.
type tempest struct {
	world        *ccrun.World
	host         *host
	out          io.Writer
	streams      []*ccrun.Stream
	seed         uint64
	first, cases int
	verbose      bool
}

// storm runs cases.
func storm(world *ccrun.World, args []string, out io.Writer, h *host) error {
	t := &tempest{world: world, host: h, out: out}
	if err := t.parse(args); err != nil {
		return err
	}
	for range streamsMax {
		s, err := world.NewStream()
		if err != nil {
			return err
		}
		t.streams = append(t.streams, s)
	}
	if err := rounding(world, t.streams); err != nil {
		return err
	}
	var count tally
	for number := t.first; number < t.first+t.cases; number++ {
		if err := t.run(number, &count); err != nil {
			return err
		}
	}
	if world.Rank() == 0 {
		fmt.Fprintf(out, "%d cases: %s\n", t.cases, &count)
	}
	if count.failed > 0 {
		return fmt.Errorf("rank %d: %d cases failed", world.Rank(), count.failed)
	}
	return closeAll(t.streams)
}

func (t *tempest) parse(args []string) error {
	flags := flag.NewFlagSet("buckets", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	flags.Uint64Var(&t.seed, "seed", 1, "seed of the storm")
	flags.IntVar(&t.first, "first", 0, "first case")
	flags.IntVar(&t.cases, "cases", 20, "how many cases")
	flags.BoolVar(&t.verbose, "v", false, "say what each case is, on rank 0")
	return flags.Parse(args)
}

// run draws a case and carries it out.
func (t *tempest) run(number int, count *tally) error {
	rank := t.world.Rank()
	again := fmt.Sprintf("case %d (repeat it with -seed %d -first %d -cases 1)", number, t.seed, number)
	c, err := drawCase(t.world, mix(mix(t.seed)+golden*uint64(number)))
	if err != nil {
		return fmt.Errorf("rank %d: %s: %w", rank, again, err)
	}
	c.host = t.host
	if err := c.run(t.streams); err != nil {
		return fmt.Errorf("rank %d: %s: %w [%s]", rank, again, err, c)
	}
	if len(c.wrong) > 0 {
		count.failed++
		fmt.Fprintf(t.out, "rank %d: %s: %s [%s]\n", rank, again, c.verdict(), c)
	}
	if t.verbose && rank == 0 {
		fmt.Fprintf(t.out, "case %d: %s\n", number, c)
	}
	count.add(c)
	return nil
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
