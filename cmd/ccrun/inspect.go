package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/runner/guest"
)

func inspectCommand(s *state) *cli.Command {
	return &cli.Command{
		Name:        "inspect",
		Usage:       "print what a workflow imports, exports and needs, without running it",
		UsageText:   "ccrun inspect WORKFLOW.wasm",
		Description: "   ccrun inspect ring_allgather.wasm\n",
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "workflow")
			if err != nil {
				return err
			}
			i, err := guest.Inspect(c.Context, path)
			if err != nil {
				return asUsage(err)
			}
			return writeAll(s.stdout, inspectionText(path, i))
		},
	}
}

// asUsage keeps the hint of a guest that was refused.
func asUsage(err error) error {
	var refused *guest.Error
	if errors.As(err, &refused) {
		return usageError{refused.Text, refused.Hint}
	}
	return err
}

func inspectionText(path string, i *guest.Inspection) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "file\t%s, %d bytes\n", path, i.Bytes)
	fmt.Fprintf(table, "built with\t%s\n", orElse(i.Language, "it does not say"))
	fmt.Fprintf(table, "abi\t%s\n", abiText(i))
	fmt.Fprintf(table, "memory\t%s\n", memoryText(i))
	table.Flush()
	writeFunctions(&b, "imports", i.Imports)
	writeFunctions(&b, "exports", i.Exports)
	return b.String()
}

// abiText is the oldest version of the table that has all that is imported.
func abiText(i *guest.Inspection) string {
	since, unknown := 0, []string{}
	for _, f := range i.Imports {
		if !strings.HasPrefix(f.Module, "ccrun_v") {
			continue
		}
		row, ok := abi.Lookup(f.Name)
		if !ok || f.Module != abi.Module {
			unknown = append(unknown, f.Module+"."+f.Name)
			continue
		}
		since = max(since, row.Since)
	}
	switch {
	case len(unknown) > 0:
		return "unknown to this ccrun: " + strings.Join(unknown, ", ")
	case since == 0:
		return "calls no host function of ccrun"
	}
	return fmt.Sprintf("%s, version %d or newer", abi.Module, since)
}

func memoryText(i *guest.Inspection) string {
	if i.MemoryMax == 0 {
		return sizeText(i.MemoryBytes) + " at first, grows up to --memory"
	}
	return sizeText(i.MemoryBytes) + " at first, " + sizeText(i.MemoryMax) + " at most"
}

func writeFunctions(b *strings.Builder, title string, functions []guest.Function) {
	fmt.Fprintf(b, "%s\n", title)
	if len(functions) == 0 {
		b.WriteString("  none\n")
	}
	lines := make([]string, len(functions))
	for n, f := range functions {
		lines[n] = fmt.Sprintf("  %s %s\n", strings.TrimPrefix(f.Module+"."+f.Name, "."), f.Signature)
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
