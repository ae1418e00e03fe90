// Desync has rank 0 call another collective than the others, or the same one of
// another size if its argument is "size", or, if it is "unmet", one in which
// nobody waits for anybody. With a second argument the guest does
// not end for that, and makes light of it: "fail" has another call fail and exits
// for that, "return" returns, and "wait" has rank 0 wait for ever.
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
		err = run(world, append(os.Args, "")[1])
	}
	if err != nil && len(os.Args) > 2 {
		err = makeLight(world, os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, how string) error {
	comm, err := world.Comm()
	if err != nil {
		return err
	}
	b, err1 := world.Alloc(1 << 20)
	s, err2 := world.NewStream()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	s.Barrier(comm)
	switch {
	case how == "unmet" && world.Rank() > 0:
		s.ReduceTo(comm, ccrun.Sum, ccrun.F32, 0, ccrun.Region{}, b.At(0, 256))
	case how == "unmet":
		s.Broadcast(comm, ccrun.F32, 0, b.At(0, 256), ccrun.Region{})
	case world.Rank() > 0:
		s.AllReduce(comm, ccrun.Sum, ccrun.F32, b.At(0, 4096), ccrun.Region{})
	case how == "size":
		s.AllReduce(comm, ccrun.Sum, ccrun.F32, b.At(0, 8192), ccrun.Region{})
	default:
		s.AllGather(comm, ccrun.F32, b.At(0, 4096*int64(world.Size())), ccrun.Region{})
	}
	return s.Sync()
}

func makeLight(world *ccrun.World, how string) error {
	switch {
	case how == "fail":
		_, err := world.Lookup(0, "partial result", 0, time.Millisecond)
		return err
	case how == "wait" && world.Rank() == 0:
		_, err := world.Lookup(1, "whole result", 0, ccrun.Forever)
		return err
	case how == "wait":
		return world.Barrier(ccrun.Forever)
	}
	return nil
}
