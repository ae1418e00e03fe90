// Cost tells what the sandbox and the recorder add to an operation:
//
//	go run ./runner/bench/cost
//
// One rank, alone in its world, does the same operations on the same stream of
// the same device in two ways, in turns: the sandbox is priced by a guest
// against a loop in Go, the recorder by a guest whose slices are recorded
// against one of whom nothing is. What is printed, as a table for the README,
// are medians over the rounds, of times and of the differences within a round.
//
// It is no test and gates nothing. Start with [rows], the list of what is
// measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cost: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	flags.SetOutput(progress)
	count := flags.Int("rounds", 301, "rounds of each row")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *count < 1 {
		return errors.New("want -rounds of at least 1 and no other arguments")
	}
	dir, err := os.MkdirTemp("", "ccrun-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var prices []price
	for i := range rows {
		fmt.Fprintf(progress, "%d/%d %s: %s\n", i+1, len(rows), rows[i].of, rows[i].work.what())
		p, err := rows[i].measure(ctx, dir, *count)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", rows[i].of, rows[i].work.what(), err)
		}
		prices = append(prices, p)
	}
	describe(out, *count)
	writeTable(out, prices)
	return nil
}
