// Pingpong measures one put of 64 bytes with its signal, there and back,
// guest to guest, between ranks 0 and 1.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const (
	bytes  = 64
	rounds = 50
	trips  = 2000 // of a round
)

func main() {
	world, err := ccrun.Open()
	if err == nil && world.Rank() < 2 && world.Size() > 1 {
		err = run(world, 1-world.Rank())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, peer int) error {
	buffer, err := world.Alloc(2 * bytes)
	if err != nil {
		return err
	}
	stream, err := world.NewStream()
	if err != nil {
		return err
	}
	if err := world.Publish("ball", 0, buffer.At(bytes, bytes)); err != nil {
		return err
	}
	theirs, err := world.Lookup(peer, "ball", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	var perTrip []time.Duration
	for round := range rounds {
		start := time.Now()
		for trip := range trips {
			sequence := uint64(round*trips + trip + 1)
			stream.Hold()
			if world.Rank() == 1 {
				stream.Wait(peer, 0, sequence)
			}
			stream.Put(theirs.All(), buffer.At(0, bytes))
			stream.Signal(peer, 0, sequence)
			if world.Rank() == 0 {
				stream.Wait(peer, 0, sequence)
			}
			if err := stream.Sync(); err != nil {
				return err
			}
		}
		perTrip = append(perTrip, time.Since(start)/trips)
	}
	slices.Sort(perTrip)
	if world.Rank() == 0 {
		fmt.Printf("%d bytes there and back: min %d ns, median %d ns\n", bytes, perTrip[0].Nanoseconds(), perTrip[rounds/2].Nanoseconds())
	}
	return nil
}
