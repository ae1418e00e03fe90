// Ring_reduce_scatter adds up the vectors of all ranks and leaves each with its
// part of the sum, over rings, in pipelined slices, by put or by get, on several
// channels, without a barrier between iterations, and verifies every element.
// The ring's schedule is rings.Plan of the SDK, what runs it again and again is
// rings/trial; README.md says what it shows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ring_reduce_scatter:", err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, args []string, out io.Writer) error {
	w := trial.Workflow{Name: "ring_reduce_scatter", Op: ccrun.ReduceScatter, Sums: sums, Digest: digest}
	return w.Run(world, args, out)
}

// sums is where the sum is: this rank's chunk of each channel.
func sums(r *trial.Reduction) []ccrun.Region {
	var parts []ccrun.Region
	for _, p := range r.Channels {
		parts = append(parts, p.Own.Chunk(p.Ring.Rank, p.Ring.Size))
	}
	return parts
}

// digest puts the parts of all ranks together, so that every rank can report
// the same one.
func digest(r *trial.Reduction) ([2]uint64, error) {
	if err := r.World.Barrier(ccrun.Forever); err != nil {
		return [2]uint64{}, err
	}
	whole, err := r.World.Alloc(r.Vector.Bytes())
	if err != nil {
		return [2]uint64{}, err
	}
	if err := collect(r, whole); err != nil {
		return [2]uint64{}, err
	}
	digest, err := r.Channels[0].Stream.Digest(whole.All(), "out")
	if err != nil {
		return digest, err
	}
	if err := whole.Free(); err != nil {
		return digest, err
	}
	return digest, r.World.Barrier(ccrun.Forever)
}

// collect gets every rank's chunks.
func collect(r *trial.Reduction, whole *ccrun.Buffer) error {
	for rank := range r.World.Size() {
		peer, err := r.World.Lookup(rank, "out", 0, ccrun.Forever)
		if err != nil {
			return err
		}
		for channel, p := range r.Channels {
			part := func(b *ccrun.Buffer) ccrun.Region { return r.Part(b, channel).Chunk(rank, p.Ring.Size) }
			p.Stream.Get(part(whole), part(peer))
		}
	}
	return r.Sync()
}
