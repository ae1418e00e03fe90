// Command validate compares the simulator with what others have measured: for
// each published figure it simulates the same work and prints both, the error,
// whether something was fitted to the figure, and where it was published. See
// README.md.
//
// It exits with 1 if a row is further off than the project promises.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errMissed):
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "validate: error:", err)
		os.Exit(2)
	}
}

// errMissed says that a promise is not kept.
var errMissed = errors.New("rows are further off than promised")

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("validate", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one object for programs")
	asBands := flags.Bool("bands", false, "print the validation lists of presets")
	only := flags.String("only", "", "simulate only rows with this in their names")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: validate takes flags only", flags.Arg(0))
	}
	results, err := simulate(*only)
	if err != nil {
		return err
	}
	switch {
	case *asJSON:
		err = printJSON(stdout, results)
	case *asBands:
		err = printBands(stdout, results)
	default:
		err = printTable(stdout, results)
	}
	return errors.Join(err, missed(results))
}

// simulate runs the rows whose names hold the text, on all processors.
func simulate(only string) ([]result, error) {
	chosen := slices.DeleteFunc(rows(), func(r row) bool { return !strings.Contains(r.group+" "+r.what, only) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no row has %q in its name", only)
	}
	results, errs := make([]result, len(chosen)), make([]error, len(chosen))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i], errs[i] = chosen[i].run()
			}
		})
	}
	for i := range slices.Backward(chosen) { // the longest stand at the end
		next <- i
	}
	close(next)
	workers.Wait()
	return results, errors.Join(errs...)
}

// missed is an error if a promise is not kept.
func missed(results []result) error {
	n := 0
	for _, r := range results {
		if !r.Within {
			n++
		}
	}
	if n > 0 {
		return fmt.Errorf("%d %w", n, errMissed)
	}
	return nil
}
