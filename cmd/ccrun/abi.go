package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/abi"
)

func abiCommand(s *state) *cli.Command {
	return &cli.Command{
		Name:      "abi",
		Usage:     "print the host functions that a workflow can call",
		UsageText: "ccrun abi [NAME ...]",
		Description: `   ccrun abi                 the whole table: errnos, enumerations, structures, functions
   ccrun abi put signal      two functions
`,
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return abi.WriteText(s.stdout)
			}
			return writeRows(s, c.Args().Slice())
		},
	}
}

// writeRows prints the named functions, or none if one is unknown.
func writeRows(s *state, names []string) error {
	var b strings.Builder
	for _, name := range names {
		row, ok := abi.Lookup(name)
		if !ok {
			return usageError{"no host function is called " + quote(name), "ccrun abi lists them all"}
		}
		fmt.Fprintf(&b, "func %s since %d\n  %s\n  returns %s; on %s\n",
			row.Signature(), row.Since, row.Doc, strings.Join(row.ErrnoNames(), " "), row.Devices)
	}
	return writeAll(s.stdout, b.String())
}
