// Stuck is a deadlock: rank 0 waits in a stream for a signal that the last
// rank never sends, or, if there is an argument, for the others in a collective
// that they do not call, and all others wait for rank 0 in a barrier.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil && len(os.Args) > 1 {
		err = callAlone(world)
	} else if err == nil && world.Rank() == 0 {
		err = waitForNobody(world)
	}
	if err == nil {
		err = world.Barrier(ccrun.Forever)
	}
	fmt.Fprintln(os.Stderr, "not stuck:", err)
	os.Exit(1)
}

//go:noinline
func waitForNobody(world *ccrun.World) error {
	stream, err := world.NewStream()
	if err != nil {
		return err
	}
	stream.Wait(world.Size()-1, 5, 3)
	return stream.Sync()
}

// callAlone has all ranks call one collective and rank 0 one more.
//
//go:noinline
func callAlone(world *ccrun.World) error {
	comm, err := world.Comm()
	if err != nil {
		return err
	}
	stream, err := world.NewStream()
	if err != nil {
		return err
	}
	buffer, err := world.Alloc(1 << 16)
	if err != nil {
		return err
	}
	stream.Barrier(comm)
	if world.Rank() == 0 {
		comm.Options.Algorithm = "ring"
		stream.AllReduce(comm, ccrun.Sum, ccrun.F32, buffer.All(), ccrun.Region{})
	}
	return stream.Sync()
}
