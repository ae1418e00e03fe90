// Pingpong measures one put of 64 bytes with its signal, there and back, guest
// to guest, between ranks 0 and 1: what a guest that minds its speed would do.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const bytes = 64

func main() {
	rounds := flag.Int("rounds", 50, "rounds, measured one by one, after one that is not")
	trips := flag.Int("trips", 2000, "round trips of a round")
	flag.Parse()
	world, err := ccrun.Open()
	if err == nil && world.Rank() < 2 && world.Size() > 1 {
		err = run(world, max(1, *rounds), max(1, *trips))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pingpong:", err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, rounds, trips int) error {
	peer := 1 - world.Rank()
	buffer, err1 := world.Alloc(2 * bytes)
	stream, err2 := world.NewStream()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if err := world.Publish("ball", 0, buffer.At(bytes, bytes)); err != nil {
		return err
	}
	theirs, err := world.Lookup(peer, "ball", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	perTrip := make([]time.Duration, rounds+1)
	trip, lead := uint64(0), uint64(peer) // rank 0 begins: it waits for the ball of the trip before
	for round := range perTrip {
		start := time.Now()
		for range trips {
			trip++
			stream.Hold() // Sync submits all three in one call
			stream.Wait(peer, 0, trip-lead)
			stream.Put(theirs.All(), buffer.At(0, bytes))
			stream.Signal(peer, 0, trip)
			if err := stream.Sync(); err != nil {
				return err
			}
		}
		perTrip[round] = time.Since(start) / time.Duration(trips)
	}
	stream.Wait(peer, 0, trip) // the last ball is still on its way to rank 0
	if err := stream.Sync(); err != nil || world.Rank() > 0 {
		return err
	}
	perTrip = slices.Sorted(slices.Values(perTrip[1:]))
	fmt.Printf("%d bytes there and back: min %d ns, median %d ns\n", bytes, perTrip[0].Nanoseconds(), perTrip[rounds/2].Nanoseconds())
	return nil
}
