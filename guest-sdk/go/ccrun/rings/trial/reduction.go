package trial

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings"
)

// Reduction is one rank's side: its vector, and the channels that reduce it.
type Reduction struct {
	World    *ccrun.World
	Vector   *ccrun.Buffer // which others can look up as "out"
	Channels []*rings.Pipe // each has its part of the vector

	workflow *Workflow
	vectorOptions
	scratch  *ccrun.Buffer // by put, what the previous rank pushes
	verified int64
	wrong    uint64
}

func (w *Workflow) open(world *ccrun.World, o vectorOptions) (*Reduction, error) {
	r := &Reduction{World: world, workflow: w, vectorOptions: o}
	vector, peer, err := r.share("out")
	if err != nil {
		return nil, err
	}
	r.Vector = vector
	var peerScratch ccrun.Region
	if o.Push() {
		scratch, peer, err := r.share("scratch")
		if err != nil {
			return nil, err
		}
		r.scratch, peerScratch = scratch, peer.All()
	}
	for channel := range o.channels {
		p, err := r.channel(channel, peer.All(), peerScratch)
		if err != nil {
			return nil, err
		}
		r.Channels = append(r.Channels, p)
	}
	return r, nil
}

// share allocates a buffer, lets the neighbours look it up, and looks up the
// one that this rank needs: by put the next rank's, by get the previous one's.
func (r *Reduction) share(name string) (own, peer *ccrun.Buffer, err error) {
	if own, err = r.World.Alloc(int64(r.bytes)); err != nil {
		return nil, nil, err
	}
	if err = r.World.Publish(name, 0, own.All()); err != nil {
		return nil, nil, err
	}
	peer, err = r.World.Lookup(r.Neighbour(r.World.Ring()), name, 0, ccrun.Forever)
	return own, peer, err
}

// channel makes the ring for one part of the vector.
func (r *Reduction) channel(number int, peer, peerScratch ccrun.Region) (*rings.Pipe, error) {
	stream, err := r.World.NewStream()
	if err != nil {
		return nil, err
	}
	p := &rings.Pipe{
		Ring: r.World.Ring(), Stream: stream, Dtype: ccrun.F32, Red: ccrun.Sum, SliceBytes: int64(r.Slice), Slot: 2 * number, Flow: number,
		Shape: rings.Shape{Op: r.workflow.Op, Push: r.Push()},
		Own:   r.Part(r.Vector, number), Peer: peer.Chunk(number, r.channels),
	}
	if p.Shape.Push {
		p.Scratch, p.PeerScratch = r.Part(r.scratch, number), peerScratch.Chunk(number, r.channels)
	}
	p.Shape.Slices = p.Slices()
	return p, nil
}

// Part is a channel's part of a buffer as large as a vector.
func (r *Reduction) Part(b *ccrun.Buffer, channel int) ccrun.Region {
	return b.All().Chunk(channel, r.channels)
}

// iterate reduces once.
func (r *Reduction) iterate(iteration int) error {
	if err := r.prepare(iteration); err != nil {
		return err
	}
	collective, err := r.World.Begin(ccrun.CollectiveInfo{
		Op: r.workflow.Op, Algorithm: "ring", Bytes: int64(r.bytes), SliceBytes: int64(r.Slice), Dtype: ccrun.F32, Red: ccrun.Sum,
		Warmup: iteration < r.Warmup,
	})
	if err != nil {
		return err
	}
	for _, p := range r.Channels {
		p.Run(uint64(iteration), collective.Sequence)
	}
	if err := collective.End(); err != nil {
		return err
	}
	if err := r.Sync(); err != nil {
		return err
	}
	if r.Verifies(iteration) {
		if err := r.check(iteration); err != nil {
			return err
		}
	}
	for _, p := range r.Channels {
		p.End(uint64(iteration))
	}
	return nil
}

// prepare waits until the next rank is done with the iteration before, then
// writes this rank's vector: the pattern of its seed, small whole numbers, so
// that sums are exact.
func (r *Reduction) prepare(iteration int) error {
	if err := r.enter(iteration); err != nil {
		return err
	}
	stream := r.Channels[0].Stream
	stream.Fill(r.Vector.All(), ccrun.F32, Seed(r.World.Seed(), iteration, r.World.Rank()))
	return stream.Sync()
}

// enter waits until the next rank is done with the iterations before one.
func (r *Reduction) enter(iteration int) error {
	for _, p := range r.Channels {
		p.Enter(uint64(iteration))
	}
	return r.Sync()
}

// Sync waits until everything submitted to the channels is complete.
func (r *Reduction) Sync() error {
	for _, p := range r.Channels {
		if err := p.Stream.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// check compares what must be sums with those of what all ranks wrote.
func (r *Reduction) check(iteration int) error {
	seeds := make([]uint64, r.World.Size())
	for rank := range seeds {
		seeds[rank] = Seed(r.World.Seed(), iteration, rank)
	}
	for _, part := range r.workflow.Sums(r) {
		found, err := r.Channels[0].Stream.VerifyReduced(part, ccrun.F32, ccrun.Sum, seeds, part.Offset)
		if err != nil {
			return err
		}
		if found.Mismatches > 0 {
			fmt.Fprintf(os.Stderr, "%s: rank %d, iteration %d: %d elements are wrong, the first at byte %d\n",
				r.workflow.Name, r.World.Rank(), iteration, found.Mismatches, part.Offset+found.FirstBad)
		}
		r.verified += part.Bytes
		r.wrong += found.Mismatches
	}
	return nil
}

// close computes the digest and frees this rank's memory when no neighbour
// needs it.
func (r *Reduction) close() ([2]uint64, error) {
	if err := r.enter(r.Total()); err != nil {
		return [2]uint64{}, err
	}
	digest, err := r.workflow.Digest(r)
	if err != nil {
		return digest, err
	}
	for _, p := range r.Channels {
		if err := p.Stream.Close(); err != nil {
			return digest, err
		}
	}
	if r.scratch != nil {
		if err := r.scratch.Free(); err != nil {
			return digest, err
		}
	}
	return digest, r.Vector.Free()
}
