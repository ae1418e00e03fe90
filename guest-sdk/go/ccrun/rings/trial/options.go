// Package trial carries a ring out again and again and verifies what comes of
// it: what workflows that show one have in common, flags, memory, iterations
// and report. [Options] are flags of all of them, [Reduction] is one rank's side
// of one that reduces vectors, and [Workflow] runs that. How the ring works is
// in package rings.
package trial

import (
	"flag"
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Options are the flags that all have.
type Options struct {
	Protocol string // "get" or "put"
	Slice    ccrun.ByteSize
	Iters    int
	Warmup   int
	Verify   string // "all", "last" or "off"
}

// totalMax is how many iterations there may be, warm-up and all.
const totalMax = 1 << 30

// Register adds the flags to a set, with their defaults. The text says what
// the protocols do.
func (o *Options) Register(flags *flag.FlagSet, slice ccrun.ByteSize, protocols string) {
	o.Slice = slice
	flags.StringVar(&o.Protocol, "protocol", "get", protocols)
	flags.Var(&o.Slice, "slice", "size of a pipelined slice, 0 for whole chunks")
	flags.IntVar(&o.Iters, "iters", 20, "iterations")
	flags.IntVar(&o.Warmup, "warmup", 1, "iterations before those that count")
	flags.StringVar(&o.Verify, "verify", "all", "iterations whose result is verified: all, last or off")
}

// Parse reads arguments by a set that the options are registered with, and
// refuses what makes no sense.
func (o *Options) Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.Protocol != "get" && o.Protocol != "put":
		return fmt.Errorf("-protocol %s: want get or put", o.Protocol)
	case o.Verify != "all" && o.Verify != "last" && o.Verify != "off":
		return fmt.Errorf("-verify %s: want all, last or off", o.Verify)
	case o.Iters < 1 || o.Warmup < 0 || o.Iters > totalMax || o.Warmup > totalMax-o.Iters:
		return fmt.Errorf("-iters %d -warmup %d: want at least 1 and 0, at most %d together", o.Iters, o.Warmup, totalMax)
	case o.Slice > 1<<32-1:
		return fmt.Errorf("-slice %s: want less than 4GiB", o.Slice)
	}
	return nil
}

// Push reports whether ranks push to the next one, rather than pull from the
// previous one.
func (o *Options) Push() bool { return o.Protocol == "put" }

// Neighbour is the rank whose memory this one works on.
func (o *Options) Neighbour(ring ccrun.Ring) int {
	if o.Push() {
		return ring.Next
	}
	return ring.Prev
}

// Total is the number of iterations.
func (o *Options) Total() int { return o.Warmup + o.Iters }

// Verifies reports whether the result of an iteration is verified.
func (o *Options) Verifies(iteration int) bool {
	return o.Verify == "all" || o.Verify == "last" && iteration == o.Total()-1
}

// Seed is the seed of the pattern of what a rank gives in an iteration. All
// languages compute the same, so that digests agree.
func Seed(seed uint64, iteration, rank int) uint64 {
	x := seed + uint64(iteration)*0xd1342543de82ef95 + uint64(rank+1)*0xaf251af3b0f025b5
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
