// Repeated calls some of the host's collectives over and over, each in one
// shape, for those who want to see what a rank does in all of them.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// calls is how often each collective is called, bytes what it moves in all.
const (
	calls = 20
	bytes = 16 << 20
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(world *ccrun.World) error {
	comm, err := world.Comm()
	if err != nil {
		return err
	}
	in, err1 := world.Alloc(bytes)
	out, err2 := world.Alloc(bytes)
	s, err3 := world.NewStream()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	s.Fill(in.All(), ccrun.F32, 1)
	part := bytes / int64(world.Size()) / 4 * 4
	for range calls {
		s.AllReduce(comm, ccrun.Sum, ccrun.F32, out.All(), in.All())
		s.ReduceScatter(comm, ccrun.Sum, ccrun.F32, out.At(0, part), in.At(0, part*int64(world.Size())))
		s.AllGather(comm, ccrun.F32, out.At(0, part*int64(world.Size())), in.At(0, part))
		s.AllToAll(comm, ccrun.F32, out.At(0, part*int64(world.Size())), in.At(0, part*int64(world.Size())))
	}
	return s.Sync()
}
