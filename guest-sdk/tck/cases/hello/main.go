// Hello says who each rank is and what it was given.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

func main() {
	world, err := ccrun.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("rank %d of %d: %s\n", world.Rank(), world.Size(), strings.Join(os.Args[1:], " "))
}
