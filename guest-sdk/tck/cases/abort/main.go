// Abort ends the run with exit code 42 from the last rank, while the others
// wait for it.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err == nil && world.Rank() == world.Size()-1 {
		err = world.Abort(42, "the last rank has seen enough")
	}
	if err == nil {
		err = world.Barrier(ccrun.Forever)
	}
	fmt.Fprintln(os.Stderr, "not aborted:", err)
	os.Exit(1)
}
