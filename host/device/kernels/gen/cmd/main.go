// Command cmd writes the assembly of package kernels to the directory given as
// its argument.
package main

import (
	"fmt"
	"os"

	"github.com/ccrun/ccrun/host/device/kernels/gen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./gen/cmd DIRECTORY")
		os.Exit(2)
	}
	if err := gen.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
