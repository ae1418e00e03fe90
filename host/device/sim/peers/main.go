// Peers compares ccrun's simulator with SimGrid's SMPI on this machine:
//
//	go run ./host/device/sim/peers
//
// Both simulate an all-reduce over a ring of 1,024 ranks in 2(n-1) explicit
// steps: ccrun from live Wasm guests (workflows/ring_allreduce_c) on the preset
// h100, SMPI from an MPI program (smpi/ring.c) on a platform of the same shape.
// In every round each contestant runs once, in an order that changes from round
// to round; what is printed are medians over the rounds, of times and of the
// ratios within a round. Then ccrun alone simulates worlds of other sizes.
//
// It is no test and gates nothing. It needs clang for the guest, and smpicc and
// smpirun (Debian's libsimgrid-dev) unless SMPI is left out; it builds ccrun and
// the guest from the working tree. Start with [contestants].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peers: error:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	ranks  int
	bytes  ccrun.ByteSize
	rounds int
	smpi   bool
	worlds worldList
}

// world is a simulation that ccrun does alone: of one ring of all ranks, or of
// rings of group ranks and rings across them.
type world struct{ ranks, group int }

// String is the world as it is given on the command line.
func (w world) String() string {
	if w.group == 0 {
		return strconv.Itoa(w.ranks)
	}
	return fmt.Sprintf("%d/%d", w.ranks, w.group)
}

// worldList is a list of worlds, separated by commas.
type worldList []world

// String is the list as it is given on the command line.
func (l *worldList) String() string {
	var words []string
	for _, w := range *l {
		words = append(words, w.String())
	}
	return strings.Join(words, ",")
}

// Set replaces the list; an empty text is an empty list.
func (l *worldList) Set(text string) error {
	*l = nil
	for word := range strings.SplitSeq(text, ",") {
		if text == "" {
			return nil
		}
		ranks, group, grouped := strings.Cut(word, "/")
		var w world
		var err error
		if w.ranks, err = strconv.Atoi(ranks); err == nil && grouped {
			w.group, err = strconv.Atoi(group)
		}
		if err != nil || !fitting(w.ranks) || grouped && (w.group < 1 || w.ranks%w.group != 0) {
			return fmt.Errorf("%s: want RANKS or RANKS/GROUP, whole nodes of %d ranks and whole groups", word, nodeRanks)
		}
		*l = append(*l, w)
	}
	return nil
}

// fitting reports whether the ranks fill whole nodes of a world that can be
// simulated.
func fitting(ranks int) bool { return ranks >= nodeRanks && ranks%nodeRanks == 0 && ranks <= 1<<15 }

func parse(args []string, out io.Writer) (options, error) {
	o := options{bytes: 16 << 20, worlds: worldList{{256, 0}, {4096, 0}, {16384, 128}}}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.ranks, "n", 1024, "ranks of the ring that is compared, whole nodes of 8")
	flags.Var(&o.bytes, "bytes", "size of each rank's vector")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds; SMPI takes about two minutes of each")
	flags.BoolVar(&o.smpi, "smpi", true, "compare with SMPI")
	flags.Var(&o.worlds, "worlds", "worlds that ccrun simulates alone: RANKS for one ring, RANKS/GROUP for rings of two levels")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || !fitting(o.ranks) || o.rounds < 1 || o.bytes < 4 {
		return o, fmt.Errorf("want -n of whole nodes of %d ranks, -rounds of at least 1, -bytes of at least 4 and no other arguments", nodeRanks)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ccrun-sim-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	us, err := buildGuest(ctx, o, dir)
	if err != nil {
		return err
	}
	list, err := contestants(ctx, o, us, dir)
	if err != nil {
		return err
	}
	describe(out, o, list)
	results, err := play(ctx, list, o.rounds, progress)
	if err != nil {
		return err
	}
	results.write(out, list)
	return alone(ctx, o, us, out, progress)
}

// contestants lists who takes part: ccrun by both protocols and from a recorded
// program, SMPI with what makes it fastest and as it is installed.
func contestants(ctx context.Context, o options, us *guest, dir string) ([]contestant, error) {
	list := []contestant{
		{"ccrun get", "live guests that pull: 3 operations a step", func(ctx context.Context) (measured, error) { return us.simulate(ctx, o.ranks, "get", 0) }},
		{"ccrun put", "live guests that push: 4 operations a step that reduces, 3 of one that gathers", func(ctx context.Context) (measured, error) { return us.simulate(ctx, o.ranks, "put", 0) }},
		{"ccrun expanded", "the first from the operations of a few guests (ccrun record --expand), without guests", us.replay},
	}
	if !o.smpi {
		return list, nil
	}
	s, err := buildSMPI(ctx, o, filepath.Join(dir, "smpi"))
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, "hint: apt-get install --no-install-recommends libsimgrid-dev, or leave SMPI out with -smpi=false")
	}
	return append(list,
		contestant{smpiBest, smpiBestWhat, func(ctx context.Context) (measured, error) { return s.simulate(ctx, bestFlags()) }},
		contestant{smpiDefault, "SMPI with the defaults of smpirun", func(ctx context.Context) (measured, error) { return s.simulate(ctx, nil) }},
	), nil
}
