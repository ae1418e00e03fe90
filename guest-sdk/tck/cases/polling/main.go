// Polling waits for everything by looking at it again and again: a signal, a
// stream, an event, the run's clock, the guest's own clock. In virtual time too
// each of them comes.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

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
	stream, err1 := world.NewStream()
	event, err2 := world.NewEvent()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if ring.Rank == 0 { // the others begin to look before there is something to see
		time.Sleep(5 * time.Millisecond)
	}
	if ring.Rank > 0 {
		if err := until(func() (bool, error) {
			value, err := world.SignalValue(ring.Prev, 3)
			return value >= 1, err
		}); err != nil {
			return err
		}
	}
	stream.Signal(ring.Next, 3, 1)
	stream.Record(event)
	if err := errors.Join(until(event.Query), until(stream.Query)); err != nil {
		return err
	}
	if err := watchClocks(world); err != nil {
		return err
	}
	fmt.Printf("rank %d: seen\n", ring.Rank)
	return nil
}

// watchClocks looks at both clocks until a millisecond has passed.
func watchClocks(world *ccrun.World) error {
	began, err := world.Now()
	if err != nil {
		return err
	}
	if err := until(func() (bool, error) {
		now, err := world.Now()
		return now-began >= time.Millisecond, err
	}); err != nil {
		return err
	}
	own := time.Now()
	return until(func() (bool, error) { return time.Since(own) >= time.Millisecond, nil })
}

// until looks until it sees.
func until(seen func() (bool, error)) error {
	for {
		if done, err := seen(); done || err != nil {
			return err
		}
	}
}
