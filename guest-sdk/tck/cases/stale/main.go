// Stale uses a share after its owner has freed it and taken as much again,
// which must fail and never read the new buffer.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const size = 1 << 20

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
	own, err := world.Alloc(size)
	if err != nil {
		return err
	}
	stream, err := world.NewStream()
	if err != nil {
		return err
	}
	if err := world.Publish("block", 0, own.All()); err != nil {
		return err
	}
	peer, err := world.Lookup(world.Ring().Next, "block", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	if err := errors.Join(world.Barrier(ccrun.Forever), own.Free()); err != nil {
		return err
	}
	again, err := world.Alloc(size)
	if err := errors.Join(err, world.Barrier(ccrun.Forever)); err != nil {
		return err
	}
	stream.Get(again.All(), peer.All())
	if err := stream.Sync(); !errors.Is(err, ccrun.ErrStale) && !errors.Is(err, ccrun.ErrFailed) {
		return fmt.Errorf("reading a freed share gives %w", errors.Join(err, errors.New("and not stale")))
	}
	fmt.Printf("rank %d: %v\n", world.Rank(), stream.Err())
	return world.Barrier(ccrun.Forever)
}
