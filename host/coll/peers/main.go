// Peers compares ccrun with others on this machine, in interleaved rounds:
//
//	go run ./host/coll/peers              its ring all-gather with Open MPI's and with a ring in native Go
//	go run ./host/coll/peers collectives  its collectives with those of Open MPI, MPICH and Gloo
//
// In every round each contestant runs once for each size, in an order that
// changes from round to round; what is printed are medians over the rounds, of
// times and of the ratios within a round. Trust the ratios: on a machine with
// neighbours the times wander together. Start with [contestants] and
// [buildPeers].
//
// It is no test and gates nothing. It needs mpicc and mpirun, and builds ccrun
// and the guest from the working tree; of the others it takes those that are
// installed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := dispatch(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peers: error:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case rankCommand:
		return runRank(args[1:], os.Stdout)
	case memoryCommand:
		return runMemory(args[1:], os.Stdout)
	case collectivesCommand:
		return runCollectives(ctx, args[1:], os.Stdout, os.Stderr)
	}
	return run(ctx, args, os.Stdout, os.Stderr)
}

// options are the flags of the ring's comparison.
type options struct {
	ranks  int
	rounds int
	sizes  sizeList
	slice  ccrun.ByteSize
	iters  int
}

// sizeList is a list of sizes, separated by commas.
type sizeList []ccrun.ByteSize

// String is the list as it is given on the command line.
func (l *sizeList) String() string {
	var words []string
	for _, size := range *l {
		words = append(words, size.String())
	}
	return strings.Join(words, ",")
}

// Set replaces the list.
func (l *sizeList) Set(text string) error {
	*l = nil
	for word := range strings.SplitSeq(text, ",") {
		var size ccrun.ByteSize
		if err := size.Set(word); err != nil {
			return err
		}
		*l = append(*l, size)
	}
	return nil
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{sizes: sizeList{64 << 10, 1 << 20, 16 << 20}, slice: 1 << 20}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.ranks, "n", 2, "ranks")
	flags.IntVar(&o.rounds, "rounds", 7, "rounds")
	flags.Var(&o.sizes, "bytes", "sizes of one rank's contribution")
	flags.Var(&o.slice, "slice", "size of a pipelined slice of ccrun's and of the native ring")
	flags.IntVar(&o.iters, "iters", 0, "counted iterations of a run (default: by size, 20 at 16 MiB)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.ranks < 2 || o.rounds < 1 || o.iters < 0 {
		return o, errors.New("want -n of at least 2, -rounds of at least 1 and no other arguments")
	}
	return o, nil
}

// iterations is how many iterations of a size count, so that every size takes
// about the same time.
func (o options) iterations(size ccrun.ByteSize) int {
	if o.iters > 0 {
		return o.iters
	}
	return int(min(max(320<<20/max(int64(size), 1), 10), 2000))
}

// warmup is how many iterations come before the first that counts.
func (o options) warmup(size ccrun.ByteSize) int { return max(2, o.iterations(size)/10) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ccrun-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gather, pingpong, err := contestants(ctx, o, dir)
	if err != nil {
		return err
	}
	describe(out, o)
	for _, size := range o.sizes {
		results, err := play(ctx, gather, o.rounds, size)
		if err != nil {
			return err
		}
		results.write(out, o, size)
	}
	results, err := play(ctx, pingpong, o.rounds, ballBytes)
	if err == nil {
		results.writePingpong(out, ballBytes)
	}
	return err
}
