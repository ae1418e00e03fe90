package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings"
)

// reduction is one rank's side: its vector, part of which becomes the sum of
// all ranks', and the channels that make it so.
type reduction struct {
	options
	world    *ccrun.World
	out      *ccrun.Buffer
	scratch  *ccrun.Buffer // by put, what the previous rank pushes
	channels []*rings.Pipe
	verified int64
	wrong    uint64
}

func open(world *ccrun.World, o options) (*reduction, error) {
	r := &reduction{options: o, world: world}
	out, peer, err := r.share("out")
	if err != nil {
		return nil, err
	}
	r.out = out
	var peerScratch ccrun.Region
	if o.protocol == "put" {
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
		r.channels = append(r.channels, p)
	}
	return r, nil
}

// share allocates a buffer, lets the neighbours look it up, and looks up the
// one that this rank needs: by put the next rank's, by get the previous one's.
func (r *reduction) share(name string) (own, peer *ccrun.Buffer, err error) {
	if own, err = r.world.Alloc(int64(r.bytes)); err != nil {
		return nil, nil, err
	}
	if err = r.world.Publish(name, 0, own.All()); err != nil {
		return nil, nil, err
	}
	neighbour := r.world.Ring().Prev
	if r.protocol == "put" {
		neighbour = r.world.Ring().Next
	}
	peer, err = r.world.Lookup(neighbour, name, 0, ccrun.Forever)
	return own, peer, err
}

// channel makes the ring for one part of the vector.
func (r *reduction) channel(number int, peer, peerScratch ccrun.Region) (*rings.Pipe, error) {
	stream, err := r.world.NewStream()
	if err != nil {
		return nil, err
	}
	p := &rings.Pipe{
		Ring: r.world.Ring(), Stream: stream, Dtype: ccrun.F32, Red: ccrun.Sum, SliceBytes: int64(r.slice), Slot: 2 * number, Flow: number,
		Shape: rings.Shape{Op: ccrun.ReduceScatter, Push: r.protocol == "put"},
		Own:   r.out.All().Chunk(number, r.options.channels), Peer: peer.Chunk(number, r.options.channels),
	}
	if p.Shape.Push {
		p.Scratch, p.PeerScratch = r.scratch.All().Chunk(number, r.options.channels), peerScratch.Chunk(number, r.options.channels)
	}
	p.Shape.Slices = p.Slices()
	return p, nil
}

// iterate reduces once.
func (r *reduction) iterate(iteration int) error {
	if err := r.prepare(iteration); err != nil {
		return err
	}
	collective, err := r.world.Begin(ccrun.CollectiveInfo{
		Op: ccrun.ReduceScatter, Algorithm: "ring", Bytes: int64(r.bytes), SliceBytes: int64(r.slice), Dtype: ccrun.F32, Red: ccrun.Sum,
		Warmup: iteration < r.warmup,
	})
	if err != nil {
		return err
	}
	for _, p := range r.channels {
		p.Run(uint64(iteration), collective.Sequence)
	}
	if err := collective.End(); err != nil {
		return err
	}
	if err := r.sync(); err != nil {
		return err
	}
	if r.verifies(iteration) {
		if err := r.check(iteration); err != nil {
			return err
		}
	}
	for _, p := range r.channels {
		p.End(uint64(iteration))
	}
	return nil
}

// prepare waits until the next rank is done with the iteration before, then
// writes this rank's vector: the pattern of its seed, small whole numbers, so
// that sums are exact.
func (r *reduction) prepare(iteration int) error {
	for _, p := range r.channels {
		p.Enter(uint64(iteration))
	}
	if err := r.sync(); err != nil {
		return err
	}
	r.channels[0].Stream.Fill(r.out.All(), ccrun.F32, vectorSeed(r.world.Seed(), iteration, r.world.Rank()))
	return r.channels[0].Stream.Sync()
}

func (r *reduction) sync() error {
	for _, p := range r.channels {
		if err := p.Stream.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// check compares this rank's chunk of each channel with the sum of what all
// ranks wrote.
func (r *reduction) check(iteration int) error {
	seeds := make([]uint64, r.world.Size())
	for rank := range seeds {
		seeds[rank] = vectorSeed(r.world.Seed(), iteration, rank)
	}
	for _, p := range r.channels {
		chunk := p.Own.Chunk(p.Ring.Rank, p.Ring.Size)
		found, err := p.Stream.VerifyReduced(chunk, ccrun.F32, ccrun.Sum, seeds, chunk.Offset)
		if err != nil {
			return err
		}
		if found.Mismatches > 0 {
			fmt.Fprintf(os.Stderr, "ring_reduce_scatter: rank %d, iteration %d: %d elements are wrong, the first at byte %d\n",
				p.Ring.Rank, iteration, found.Mismatches, chunk.Offset+found.FirstBad)
		}
		r.verified += chunk.Bytes
		r.wrong += found.Mismatches
	}
	return nil
}

// close puts the parts of all ranks together, so that every rank can report
// the same digest, and frees this rank's memory when no other needs it.
func (r *reduction) close() ([2]uint64, error) {
	digest, err := r.collect()
	if err != nil {
		return digest, err
	}
	if err := r.world.Barrier(ccrun.Forever); err != nil {
		return digest, err
	}
	for _, p := range r.channels {
		if err := p.Stream.Close(); err != nil {
			return digest, err
		}
	}
	if r.scratch != nil {
		if err := r.scratch.Free(); err != nil {
			return digest, err
		}
	}
	return digest, r.out.Free()
}

// collect gets every rank's chunks and gives the digest of the whole.
func (r *reduction) collect() ([2]uint64, error) {
	for _, p := range r.channels {
		p.Enter(uint64(r.total()))
	}
	if err := r.sync(); err != nil {
		return [2]uint64{}, err
	}
	if err := r.world.Barrier(ccrun.Forever); err != nil {
		return [2]uint64{}, err
	}
	whole, err := r.world.Alloc(int64(r.bytes))
	if err != nil {
		return [2]uint64{}, err
	}
	for rank := range r.world.Size() {
		peer, err := r.world.Lookup(rank, "out", 0, ccrun.Forever)
		if err != nil {
			return [2]uint64{}, err
		}
		for number, p := range r.channels {
			part := func(b *ccrun.Buffer) ccrun.Region {
				return b.All().Chunk(number, r.options.channels).Chunk(rank, p.Ring.Size)
			}
			p.Stream.Get(part(whole), part(peer))
		}
	}
	if err := r.sync(); err != nil {
		return [2]uint64{}, err
	}
	digest, err := r.channels[0].Stream.Digest(whole.All(), "out")
	if err != nil {
		return digest, err
	}
	return digest, whole.Free()
}

// vectorSeed is the seed of the pattern of a rank's vector in an iteration.
func vectorSeed(seed uint64, iteration, rank int) uint64 {
	x := seed + uint64(iteration)*0xd1342543de82ef95 + uint64(rank+1)*0xaf251af3b0f025b5
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
