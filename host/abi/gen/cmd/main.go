// Command cmd writes what is generated from the ABI table below the directory
// given as its argument, the repository's root.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/host/abi/gen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./host/abi/gen/cmd ROOT")
		os.Exit(2)
	}
	if err := gen.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
