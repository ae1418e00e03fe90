package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/host/op"
)

// collectivesCommand is the first argument of a comparison of collectives.
const collectivesCommand = "collectives"

// compared are the collectives that all peers have.
var compared = []struct {
	name string
	op   op.CollectiveOp
}{
	{"all_reduce", op.AllReduce}, {"reduce_scatter", op.ReduceScatter}, {"all_gather", op.AllGather}, {"alltoall", op.AllToAll}, {"broadcast", op.Broadcast},
}

// comparison is the flags.
type comparison struct {
	ranks       []int
	rounds      int
	sizes       sizeList
	collectives []string
	json        string // file for the table, "" for none
}

func parseComparison(args []string, out io.Writer) (comparison, error) {
	c := comparison{sizes: sizeList{8, 64 << 10, 1 << 20, 16 << 20, 64 << 20}}
	var ranks, names string
	flags := flag.NewFlagSet("peers "+collectivesCommand, flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&ranks, "n", "2,4", "numbers of ranks")
	flags.IntVar(&c.rounds, "rounds", 5, "rounds")
	flags.Var(&c.sizes, "bytes", "sizes of the whole array; one rank's share is a multiple of 16 bytes")
	flags.StringVar(&names, "collectives", "", "which to compare (default: all)")
	flags.StringVar(&c.json, "json", "", "write all lines to this file as well")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	for word := range strings.SplitSeq(ranks, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 {
			return c, fmt.Errorf("-n %s: not a number of ranks from 2 on", word)
		}
		c.ranks = append(c.ranks, n)
	}
	for _, known := range compared {
		if names == "" || slices.Contains(strings.Split(names, ","), known.name) {
			c.collectives = append(c.collectives, known.name)
		}
	}
	if flags.NArg() > 0 || c.rounds < 1 || len(c.collectives) == 0 {
		return c, errors.New("want -rounds of at least 1, a known collective and no other arguments")
	}
	return c, nil
}

// sweepOf is what every peer is asked for.
func (c comparison) sweepOf(collective string, ranks int) sweep {
	s := sweep{collective: collective, ranks: ranks, warmup: warmupCalls}
	for _, size := range c.sizes {
		bytes := int64(size)
		if share := int64(16 * ranks); collective != "all_reduce" && collective != "broadcast" {
			bytes = max(bytes/share, 1) * share
		}
		s.sizes = append(s.sizes, sized{bytes, iterationsOf(bytes, ranks)})
	}
	return s
}

// warmupCalls come before those that count, of every peer and size alike: the
// first calls of a size pay for what all later ones find ready.
const warmupCalls = 20

// iterationsOf makes sizes take about the same time.
func iterationsOf(bytes int64, ranks int) int {
	most := 5000
	if crowded(ranks) {
		most = 1000
	}
	return min(max(int(256<<20/max(bytes, 1)), 6), most)
}

// runCollectives compares, a table after the other.
func runCollectives(ctx context.Context, args []string, out, progress io.Writer) error {
	c, err := parseComparison(args, progress)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ccrun-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peers := buildPeers(ctx, dir)
	c.describe(out, peers)
	var all []line
	for _, ranks := range c.ranks {
		for _, collective := range c.collectives {
			lines, err := c.compare(ctx, peers, c.sweepOf(collective, ranks), out, progress)
			if err != nil {
				return err
			}
			if all = append(all, lines...); c.json == "" {
				continue
			}
			if err := writeJSON(c.json, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe says what is compared, and who cannot take part.
func (c comparison) describe(out io.Writer, peers []peer) {
	fmt.Fprintf(out, "collectives of f32 on %d processors (%s/%s): medians of %d interleaved rounds, each the mean of a loop\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, c.rounds)
	fmt.Fprintf(out, "every loop comes after %d calls of the same size that do not count\n", warmupCalls)
	fmt.Fprintf(out, "ccrun: from a Wasm guest, every slice recorded; calls are issued to a stream, which is waited for at the end of\n")
	fmt.Fprintf(out, "the loop, while each call of the others blocks\n")
	fmt.Fprintf(out, "all elements are checked outside the time: ccrun's of one more call, the others' of the last call of the loop\n")
	fmt.Fprintf(out, "Open MPI: where its default leaves ranks unbound, bound to cores as well; each row's best counts\n")
	fmt.Fprintf(out, "copy: as many processes as ranks, pinned alike, copy as many bytes as the array has at once, each in memory\n")
	fmt.Fprintf(out, "of its own, in huge pages; with plain stores or past the caches, whichever is faster in that round\n")
	fmt.Fprintf(out, "bound: the same, but of so many bytes that all processes load and store as much as ccrun's algorithm does of\n")
	fmt.Fprintf(out, "all ranks' inputs and outputs; a copied byte is one loaded and one stored\n")
	fmt.Fprintf(out, "ratio: time of the best of the other implementations divided by this one's, median over the rounds\n")
	fmt.Fprintf(out, "of bound: time of bound divided by ccrun's, median over the rounds, from %s on\n", ccrun.ByteSize(boundedMinBytes))
	for _, p := range peers {
		if p.missing != nil {
			fmt.Fprintf(out, "%s is left out: %v\n", p.name, p.missing)
		}
	}
	fmt.Fprintln(out)
}

// compare plays the rounds of one collective, prints its table and gives its
// lines.
func (c comparison) compare(ctx context.Context, peers []peer, s sweep, out, progress io.Writer) ([]line, error) {
	results := map[int64]rounds{}
	for _, size := range s.sizes {
		results[size.bytes] = rounds{}
	}
	failed := map[string]error{}
	list := contestantsOf(peers, s, results, failed)
	for round := range c.rounds {
		fmt.Fprintf(progress, "%s, %d ranks: round %d of %d\n", s.collective, s.ranks, round+1, c.rounds)
		if err := (rounds{}).play(ctx, list, round, ccrun.ByteSize(0)); err != nil {
			return nil, err
		}
	}
	lines, err := linesOf(s, results, namesOf(peers))
	if err != nil {
		return nil, err
	}
	writeLines(out, lines)
	for _, p := range peers {
		if why := p.unfit(s.ranks); why != "" && p.missing == nil {
			fmt.Fprintf(out, "%s is left out with %d ranks: %s\n\n", p.name, s.ranks, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		fmt.Fprintf(out, "%s failed and was left out from then on: %v\n\n", name, failed[name])
	}
	return lines, ctx.Err()
}

// contestantsOf wraps the peers that are fit: their times are sorted by size.
// Those that fail are left out: one that spins may hang on a busy machine.
func contestantsOf(peers []peer, s sweep, results map[int64]rounds, failed map[string]error) []contestant {
	var list []contestant
	for _, p := range peers {
		if p.missing != nil || p.unfit(s.ranks) != "" {
			continue
		}
		list = append(list, contestant{p.name, func(ctx context.Context, _ ccrun.ByteSize) (nanosBy, error) {
			if failed[p.name] != nil {
				return nil, nil
			}
			measured, err := p.run(ctx, s)
			if err != nil && p.name != ourName {
				failed[p.name] = err
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			for _, size := range s.sizes {
				nanos, ok := measured[size.bytes]
				if !ok {
					return nil, fmt.Errorf("it did not measure %d bytes", size.bytes)
				}
				results[size.bytes][p.name] = append(results[size.bytes][p.name], nanos)
			}
			return nil, nil
		}})
	}
	return list
}

func namesOf(peers []peer) []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}
