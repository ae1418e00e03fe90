// Ring_allreduce adds up the vectors of all ranks on every rank, over rings, in
// pipelined slices, by put or by get, on several channels, without a barrier,
// and verifies every element. The ring's schedule is rings.Plan of the SDK, what
// runs it again and again is rings/trial; README.md says what it shows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings/trial"
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		err = run(world, os.Args[1:], os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ring_allreduce:", err)
		os.Exit(1)
	}
}

func run(world *ccrun.World, args []string, out io.Writer) error {
	w := trial.Workflow{Name: "ring_allreduce", Op: ccrun.AllReduce, Sums: sums, Digest: digest}
	return w.Run(world, args, out)
}

// sums is where the sum is: the whole vector, on every rank.
func sums(r *trial.Reduction) []ccrun.Region { return []ccrun.Region{r.Vector.All()} }

func digest(r *trial.Reduction) ([2]uint64, error) {
	return r.Channels[0].Stream.Digest(r.Vector.All(), "out")
}
