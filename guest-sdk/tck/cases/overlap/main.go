// Overlap has one stream wait for what another one of the same rank sends
// around the ring: it ends only if streams do not hold each other up.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
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
	ring := world.Ring()
	buffer, err := world.Alloc(1 << 20)
	if err != nil {
		return err
	}
	first, err1 := world.NewStream()
	second, err2 := world.NewStream()
	event, err3 := world.NewEvent()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for k := uint64(1); k <= 100; k++ {
		first.Wait(ring.Prev, 0, k)
		first.Fill(buffer.All(), ccrun.F32, k)
		first.Record(event)
		second.Signal(ring.Next, 0, k)
		second.WaitEvent(event)
		found, err := second.Verify(buffer.All(), ccrun.F32, k, 0)
		if err := errors.Join(err, first.Sync()); err != nil {
			return err
		}
		if found.Mismatches > 0 {
			return fmt.Errorf("rank %d, round %d: the streams are out of order", ring.Rank, k)
		}
	}
	fmt.Printf("rank %d: 100 rounds\n", ring.Rank)
	return nil
}
