package trial

import (
	"flag"
	"fmt"
	"io"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Workflow reduces a vector of float32 of every rank, in place, over rings that
// share it, each on a stream of its own.
type Workflow struct {
	Name string
	Op   ccrun.CollectiveOp // AllReduce or ReduceScatter
	// Sums are the parts of this rank's vector that hold the sum after an
	// iteration.
	Sums func(r *Reduction) []ccrun.Region
	// Digest computes the digest of the whole sum and reports it as "out", when
	// all ranks have ended the last iteration.
	Digest func(r *Reduction) ([2]uint64, error)
}

// vectorOptions are the flags.
type vectorOptions struct {
	Options
	bytes    ccrun.ByteSize // of a rank's vector
	channels int
}

// channelsMax is how many rings there may be.
const channelsMax = 16

func (w *Workflow) parse(args []string, out io.Writer) (vectorOptions, error) {
	o := vectorOptions{bytes: 16 << 20}
	flags := flag.NewFlagSet(w.Name, flag.ContinueOnError)
	flags.SetOutput(out)
	o.Register(flags, 256<<10, "get: combine with slices pulled from the previous rank, or put: push to the next")
	flags.Var(&o.bytes, "bytes", "size of the vector, whole float32 elements")
	flags.IntVar(&o.channels, "channels", 1, "rings that share the vector, each on a stream of its own")
	if err := o.Parse(flags, args); err != nil {
		return o, err
	}
	switch {
	case o.channels < 1 || o.channels > channelsMax:
		return o, fmt.Errorf("-channels %d: want 1 to %d", o.channels, channelsMax)
	case o.bytes%4 != 0 || o.Slice%4 != 0:
		return o, fmt.Errorf("-bytes %s -slice %s: want whole elements of 4 bytes", o.bytes, o.Slice)
	}
	return o, nil
}

// Run carries the workflow out; rank 0 says what came of it.
func (w *Workflow) Run(world *ccrun.World, args []string, out io.Writer) error {
	if world.Rank() != 0 {
		out = io.Discard
	}
	o, err := w.parse(args, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d ranks, %s, %s in slices of %s on %d channels, %d warm-up and %d iterations\n",
		w.Name, world.Size(), o.bytes, o.Protocol, o.Slice, o.channels, o.Warmup, o.Iters)
	r, err := w.open(world, o)
	if err != nil {
		return err
	}
	for iteration := range o.Total() {
		if err := r.iterate(iteration); err != nil {
			return fmt.Errorf("iteration %d: %w", iteration, err)
		}
	}
	digest, err := r.close()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d bytes verified, %d elements wrong, digest %016x%016x\n", w.Name, r.verified, r.wrong, digest[0], digest[1])
	return nil
}
