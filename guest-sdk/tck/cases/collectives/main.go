// Collectives calls every collective in many shapes, on the world and on parts
// of it, by every algorithm named in its arguments, and verifies every element
// of every result.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/oracle"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// elementsMax is the largest part of a rank.
const elementsMax = 40000

var dtypes = []ccrun.Dtype{ccrun.U8, ccrun.I32, ccrun.I64, ccrun.F16, ccrun.BF16, ccrun.F32, ccrun.F64}

// run checks every algorithm ("" is the host's choice) on the world, then on
// its even and odd ranks apart, in reverse order.
func run(world *ccrun.World, algorithms []string) error {
	whole, err := world.Comm()
	if err != nil {
		return err
	}
	part, err := whole.Split(int32(world.Rank()%2), int32(-world.Rank()))
	if err != nil {
		return err
	}
	var suites []*suite
	for _, comm := range []*ccrun.Comm{whole, part} {
		s, err := newSuite(world, comm)
		if err != nil {
			return err
		}
		suites = append(suites, s)
		for _, algorithm := range append([]string{""}, algorithms...) {
			if err := s.algorithm(algorithm); err != nil {
				return fmt.Errorf("rank %d: %w", world.Rank(), err)
			}
		}
		comm.Options = ccrun.CallOptions{}
		fmt.Printf("rank %d of %d: %d calls\n", comm.Rank(), comm.Size(), s.calls)
	}
	if err := groups(suites[0], suites[1]); err != nil {
		return fmt.Errorf("rank %d: %w", world.Rank(), err)
	}
	return errors.Join(part.Free(), whole.Free())
}

// suite is what the calls of one communicator share.
type suite struct {
	world   *ccrun.World
	comm    *ccrun.Comm
	stream  *ccrun.Stream
	in, out *ccrun.Buffer
	calls   uint64
}

func newSuite(world *ccrun.World, comm *ccrun.Comm) (*suite, error) {
	bytes := int64(comm.Size()) * elementsMax * 8
	in, err := world.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	out, err := world.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	stream, err := world.NewStream()
	return &suite{world: world, comm: comm, stream: stream, in: in, out: out}, err
}

// algorithm checks all collectives that have the algorithm.
func (s *suite) algorithm(name string) error {
	s.comm.Options = ccrun.CallOptions{Algorithm: name, SliceBytes: int64(len(name)) << 10}
	for i, count := range []int64{0, 1, 7, 1000, elementsMax} {
		for j, dtype := range dtypes {
			if count == elementsMax && j%3 != 2 {
				continue // the others differ from these in nothing but time
			}
			for _, inPlace := range []bool{false, true} {
				shape := oracle.Shape{Dtype: dtype, Red: ccrun.RedOp((i + j) % 5), Count: count, Root: (i + j) % s.comm.Size(), InPlace: inPlace}
				if err := s.all(shape); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// all calls each collective in one shape.
func (s *suite) all(shape oracle.Shape) error {
	collectives := oracle.Collectives()
	for i := range collectives {
		if !collectives[i].Has(s.comm.Options.Algorithm, shape, s.comm.Size()) {
			continue
		}
		s.calls++
		call := &oracle.Call{
			Shape: shape, Collective: &collectives[i], Comm: s.comm, Stream: s.stream,
			In: s.in.All(), Out: s.out.All(), Seed: s.calls, Slot: s.comm.Group() % s.world.SignalSlots(),
		}
		if err := s.one(call); err != nil {
			return fmt.Errorf("%s: %w", call, err)
		}
	}
	return nil
}

func (s *suite) one(call *oracle.Call) error {
	call.Prepare(s.world)
	call.Submit()
	if err := s.stream.Sync(); err != nil {
		return err
	}
	return call.Verify()
}
