package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial"
)

// gather is one rank's side of the all-gather: the buffer that it gathers in,
// its own chunk in its place, and a neighbour's.
type gather struct {
	options
	world    *ccrun.World
	ring     ccrun.Ring
	out      *ccrun.Buffer
	peer     *ccrun.Buffer // by put the next rank's out, by get the previous one's
	stream   *ccrun.Stream
	slices   int // of a chunk
	verified int64
	wrong    uint64
}

func open(world *ccrun.World, o options) (*gather, error) {
	g := &gather{options: o, world: world, ring: world.Ring()}
	var err error
	if g.out, err = world.Alloc(int64(o.chunk) * int64(world.Size())); err != nil {
		return nil, err
	}
	if g.stream, err = world.NewStream(); err != nil {
		return nil, err
	}
	if err = world.Publish("out", 0, g.out.All()); err != nil {
		return nil, err
	}
	if g.peer, err = world.Lookup(o.Neighbour(g.ring), "out", 0, ccrun.Forever); err != nil {
		return nil, err
	}
	g.slices = g.place(g.out, 0).SliceCount(int64(o.Slice))
	return g, nil
}

// place is where a chunk lies in a buffer, this rank's or its neighbour's.
func (g *gather) place(b *ccrun.Buffer, chunk int) ccrun.Region {
	return b.At(int64(chunk)*int64(g.chunk), int64(g.chunk))
}

// part is a slice of a chunk.
func (g *gather) part(b *ccrun.Buffer, chunk, slice int) ccrun.Region {
	whole := g.place(b, chunk)
	if g.Slice == 0 {
		return whole
	}
	start := int64(slice) * int64(g.Slice)
	return whole.At(start, min(int64(g.Slice), whole.Bytes-start))
}

// iterate gathers once.
func (g *gather) iterate(iteration int) error {
	if err := g.prepare(iteration); err != nil {
		return err
	}
	collective, err := g.world.Begin(ccrun.CollectiveInfo{
		Op: ccrun.AllGather, Algorithm: "ring", Bytes: g.out.Bytes(), SliceBytes: int64(g.Slice), Warmup: iteration < g.Warmup,
	})
	if err != nil {
		return err
	}
	base := uint64(iteration) * uint64(g.ring.Steps()) * uint64(g.slices)
	g.stream.Hold()
	for a := range plan(g.Protocol, g.ring, g.slices) {
		g.stream.Tag(ccrun.Term{Collective: collective.Sequence, Chunk: a.chunk, Slice: a.slice, Message: a.slice, Step: a.step})
		g.submit(a, base+uint64(a.order))
	}
	g.stream.Tag(ccrun.Term{})
	g.stream.Flush()
	if err := collective.End(); err != nil {
		return err
	}
	if err := g.stream.Sync(); err != nil {
		return err
	}
	return g.finish(iteration)
}

func (g *gather) submit(a action, sequence uint64) {
	switch a.kind {
	case wait:
		g.stream.Wait(g.ring.Prev, slotData, sequence)
	case signal:
		g.stream.Signal(g.ring.Next, slotData, sequence)
	case put:
		g.stream.Put(g.part(g.peer, a.chunk, a.slice), g.part(g.out, a.chunk, a.slice))
	case get:
		g.stream.Get(g.part(g.out, a.chunk, a.slice), g.part(g.peer, a.chunk, a.slice))
	}
}

// prepare waits until the next rank is done with the iteration before, then
// writes this rank's chunk.
func (g *gather) prepare(iteration int) error {
	if g.ring.Size > 1 {
		g.stream.Wait(g.ring.Next, slotFree, uint64(iteration))
	}
	if g.content(iteration) == iteration {
		g.stream.Fill(g.place(g.out, g.ring.Rank), ccrun.U8, trial.Seed(g.world.Seed(), iteration, g.ring.Rank))
	}
	return g.stream.Sync()
}

// finish verifies what an iteration gathered, then lets the previous rank go
// on to the next one.
func (g *gather) finish(iteration int) error {
	if g.Verifies(iteration) {
		for chunk := range g.ring.Size {
			if err := g.check(iteration, chunk); err != nil {
				return err
			}
		}
	}
	if g.ring.Size > 1 {
		g.stream.Signal(g.ring.Prev, slotFree, uint64(iteration+1))
	}
	return nil
}

// content is the iteration whose pattern chunks hold in an iteration: a new
// one each time that the result is verified.
func (g *gather) content(iteration int) int {
	if g.Verifies(iteration) {
		return iteration
	}
	return 0
}

func (g *gather) check(iteration, chunk int) error {
	seed := trial.Seed(g.world.Seed(), g.content(iteration), chunk)
	found, err := g.stream.Verify(g.place(g.out, chunk), ccrun.U8, seed, 0)
	if err != nil {
		return err
	}
	if found.Mismatches > 0 {
		fmt.Fprintf(os.Stderr, "ring_allgather: rank %d, iteration %d: %d bytes of chunk %d are wrong, the first at %d\n",
			g.ring.Rank, iteration, found.Mismatches, chunk, found.FirstBad)
	}
	g.verified += int64(g.chunk)
	g.wrong += found.Mismatches
	return nil
}

// close waits until no neighbour needs this rank's buffer and frees it.
func (g *gather) close() ([2]uint64, error) {
	if g.ring.Size > 1 {
		g.stream.Wait(g.ring.Next, slotFree, uint64(g.Total()))
	}
	digest, err := g.stream.Digest(g.out.All(), "out")
	if err != nil {
		return digest, err
	}
	if err := g.stream.Close(); err != nil {
		return digest, err
	}
	return digest, g.out.Free()
}
