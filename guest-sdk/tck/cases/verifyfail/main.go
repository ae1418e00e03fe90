// Verifyfail finds wrong data on rank 0 and goes on as if nothing had
// happened: the run must fail all the same.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	world, err := ccrun.Open()
	if err != nil {
		return err
	}
	buffer, err := world.Alloc(4096)
	if err != nil {
		return err
	}
	stream, err := world.NewStream()
	if err != nil {
		return err
	}
	stream.Fill(buffer.All(), ccrun.U8, 1)
	if err := stream.Sync(); err != nil {
		return err
	}
	if world.Rank() == 0 {
		var one [1]byte
		if err := buffer.Read(one[:], 100); err != nil {
			return err
		}
		one[0]++
		if err := buffer.Write(one[:], 100); err != nil {
			return err
		}
	}
	found, err := stream.Verify(buffer.All(), ccrun.U8, 1, 0)
	fmt.Printf("rank %d: %d wrong, the first at %d\n", world.Rank(), found.Mismatches, found.FirstBad)
	return err
}
