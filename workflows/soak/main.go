// Soak calls random collectives, alone, queued, on several streams at once and
// in groups, on three communicators, for as long as it is told to, and verifies
// every element of every result. Start with round.go; README.md says what it is
// for.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	duration time.Duration
	rounds   int // 0 for as many as there is time for
	from     int
	renew    int
	leak     ccrun.ByteSize
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.DurationVar(&o.duration, "for", 10*time.Second, "how long to go on")
	flags.IntVar(&o.rounds, "rounds", 0, "rounds to carry out, however long that takes, 0 to go by the time")
	flags.IntVar(&o.from, "from", 0, "the first round: what a round does depends on the seed and its number only")
	flags.IntVar(&o.renew, "renew", 1000, "rounds after which communicators, streams and buffers are given back and made anew")
	flags.Var(&o.leak, "leak", "forget a buffer of this size each round, to see that whoever watches notices")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.rounds < 0 || o.from < 0 || o.renew < 1:
		return o, fmt.Errorf("-rounds %d -from %d -renew %d: want at least 0, 0 and 1", o.rounds, o.from, o.renew)
	}
	return o, nil
}

func run(world *ccrun.World, args []string, out io.Writer) error {
	if world.Rank() != 0 {
		out = io.Discard // what rank 0 says is enough
	}
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "soak: %d ranks, seed %d, from round %d\n", world.Size(), world.Seed(), o.from)
	s, err := open(world, o)
	if err != nil {
		return err
	}
	for round := o.from; ; round++ {
		more, err := s.goesOn(round)
		if err != nil {
			return fmt.Errorf("rank %d, round %d: %w", world.Rank(), round, err)
		}
		if !more {
			return s.close(out, round)
		}
		if err := s.round(round); err != nil {
			return fmt.Errorf("rank %d, seed %d, round %d: %w", world.Rank(), world.Seed(), round, err)
		}
	}
}
