// Stuck is a deadlock: rank 0 waits in a stream for a signal that the last
// rank never sends, and all others wait for rank 0 in a barrier.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil && world.Rank() == 0 {
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
