package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/abi"
)

// version is the program's. Nothing is released: it grows with the exit of an
// issue.
const version = "0.1.0"

func versionCommand(s *state) *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version of ccrun, its ABI and its compiler",
		UsageText:   "ccrun version",
		Description: "   ccrun version\n   ccrun --version\n",
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.stdout, "ccrun %s, %s version %d, %s %s/%s\n", version, abi.Module, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
