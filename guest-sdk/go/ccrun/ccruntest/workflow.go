package ccruntest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Workflow is what a workflow's main function calls. It writes on rank 0 only.
type Workflow func(world *ccrun.World, args []string, out io.Writer) error

// Check runs the workflow on size ranks, delayed by a seed unless it is 0, and
// fails the test unless no rank fails, no element is wrong and all ranks report
// the same digests. It returns what rank 0 wrote, too.
func (f Workflow) Check(t testing.TB, size int, delay uint64, args string) (*Result, string) {
	t.Helper()
	var out bytes.Buffer
	guest := func(w *ccrun.World) error { return f(w, strings.Fields(args), &out) }
	var result *Result
	if delay == 0 {
		result = Run(t, size, guest)
	} else {
		result = RunDelayed(t, size, delay, guest)
	}
	for rank, err := range result.Errs {
		if err != nil {
			t.Fatalf("%s: rank %d: %v", args, rank, err)
		}
	}
	if result.Mismatches != 0 {
		t.Errorf("%s: %d elements wrong", args, result.Mismatches)
	}
	for name, digests := range result.Digests {
		if len(slices.Compact(slices.Clone(digests))) != 1 {
			t.Errorf("%s: digests %s differ: %v", args, name, digests)
		}
	}
	return result, out.String()
}

// CheckGolden runs the workflow on size ranks and compares the digest of that
// name with the golden result of the current directory.
func (f Workflow) CheckGolden(t testing.TB, size int, args, name string) {
	t.Helper()
	golden, err := os.ReadFile("golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	result, _ := f.Check(t, size, 0, args)
	want := fmt.Sprintf("ranks %d\nseed %d\nargs %s\ndigest %s %s\n", size, Seed, args, name, result.Digests[name][0])
	if string(golden) != want {
		t.Errorf("got\n%sgolden.txt has\n%s", want, golden)
	}
}
