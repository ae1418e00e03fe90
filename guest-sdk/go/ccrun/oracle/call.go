// Package oracle calls any collective in any shape and knows what every element
// of its result must be: for guests that test what carries collectives out. A
// [Call] is prepared, submitted, alone or with others, and verified; the list of
// collectives and of their algorithms is [Collectives].
//
// It knows what a collective does, and nothing of how. Inputs are patterns of
// seeds, so that neither side has to keep or move them.
package oracle

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Shape is one way to call a collective.
type Shape struct {
	Dtype   ccrun.Dtype
	Red     ccrun.RedOp
	Count   int64 // elements of one rank's part
	Root    int
	InPlace bool
}

// Call is one call of a collective. All ranks of the communicator give the same
// but for their memory.
type Call struct {
	Shape
	Collective *Collective
	Comm       *ccrun.Comm
	Stream     *ccrun.Stream
	// In and Out hold as many parts as the communicator has ranks, and are
	// used by no other call until this one is verified.
	In, Out ccrun.Region
	// Seed tells the inputs of calls apart. A barrier raises the signal slot
	// Slot to it, so there it must be larger than that of the barrier before.
	Seed uint64
	Slot int

	world *ccrun.World
	n, me int
	part  int64 // bytes of a rank's
}

// Prepare submits what writes this rank's input, and something else to where
// the result will be.
func (c *Call) Prepare(world *ccrun.World) {
	c.world, c.n, c.me, c.part = world, c.Comm.Size(), c.Comm.Rank(), c.Count*c.Dtype.Bytes()
	c.Stream.Fill(c.whole(c.Out), c.Dtype, 1)
	if input := c.input(); input.Bytes > 0 {
		c.Stream.Fill(input, c.Dtype, c.seed(c.me))
	}
}

// Submit submits the collective itself.
func (c *Call) Submit() {
	source := ccrun.Region{}
	if !c.InPlace {
		source = c.input()
	}
	c.Collective.submit(c, source)
}

// Verify waits for the stream and compares what this rank must have got.
func (c *Call) Verify() error { return c.Collective.verify(c) }

// String names the collective and its shape, as for a message.
func (c *Call) String() string {
	algorithm := c.Comm.Options.Algorithm
	if algorithm == "" {
		algorithm = "the host's choice"
	}
	return fmt.Sprintf("%s by %s of %d elements of type %d, operator %d, root %d, in place %t, as rank %d of %d",
		c.Collective.Name, algorithm, c.Count, c.Dtype, c.Red, c.Root, c.InPlace, c.Comm.Rank(), c.Comm.Size())
}

// input is where this rank's input lies, empty if it has none.
func (c *Call) input() ccrun.Region {
	apart, inPlace := c.Collective.input(c)
	if c.InPlace {
		return inPlace
	}
	return apart
}

func (c *Call) whole(r ccrun.Region) ccrun.Region { return r.At(0, int64(c.n)*c.part) }
func (c *Call) first(r ccrun.Region) ccrun.Region { return r.At(0, c.part) }

func (c *Call) at(r ccrun.Region, rank int) ccrun.Region {
	return r.At(int64(rank)*c.part, c.part)
}

// seed is that of what a rank gives.
func (c *Call) seed(rank int) uint64 { return c.Seed<<16 + uint64(rank) + 2 }

func (c *Call) seeds() []uint64 {
	all := make([]uint64, c.n)
	for rank := range all {
		all[rank] = c.seed(rank)
	}
	return all
}

// reduced compares a region with the reduction of all inputs.
func (c *Call) reduced(region ccrun.Region, from int64) error {
	return found(c.Stream.VerifyReduced(region, c.Dtype, c.Red, c.seeds(), from))
}

// same compares a region with a part of one rank's input.
func (c *Call) same(region ccrun.Region, rank int, from int64) error {
	return found(c.Stream.Verify(region, c.Dtype, c.seed(rank), from))
}

func found(v ccrun.Verification, err error) error {
	if err == nil && v.Mismatches > 0 {
		err = fmt.Errorf("%d elements are wrong, the first at byte %d", v.Mismatches, v.FirstBad)
	}
	return err
}
