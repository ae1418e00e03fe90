package reshard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// TestPlans prints plans: "plan max=N nodes=N split=N" above lines of source,
// target and tensors; "local" above a layout and a tensor says who holds what.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		switch d.Cmd {
		case "plan":
			var o reshard.Options
			d.MaybeScanArgs(t, "max", &o.MaxEntryBytes)
			d.MaybeScanArgs(t, "nodes", &o.RanksPerNode)
			var split int
			d.MaybeScanArgs(t, "split", &split)
			o.Split = reshard.Split(split)
			return printPlan(t, lines, o)
		case "local":
			return printLocal(t, layout(t, lines[0]), tensor(t, lines[1]))
		}
		t.Fatalf("unknown command %s", d.Cmd)
		return ""
	})
}

func printPlan(t *testing.T, lines []string, o reshard.Options) string {
	source, err := reshard.ParseLayout(lines[0])
	if err != nil {
		return err.Error()
	}
	target, err := reshard.ParseLayout(lines[1])
	if err != nil {
		return err.Error()
	}
	var tensors []reshard.Tensor
	for _, line := range lines[2:] {
		tensors = append(tensors, tensor(t, line))
	}
	p, err := reshard.New(reshard.Moves(source, target, tensors), o)
	if err != nil {
		return err.Error()
	}
	verify(t, p)
	var b strings.Builder
	for i := range p.Entries {
		fmt.Fprintln(&b, p.Describe(i))
	}
	s := p.Summary()
	fmt.Fprintf(&b, "%d bytes in cells, %d over wires\n", s.Cut, s.Wire)
	return b.String()
}

func printLocal(t *testing.T, l reshard.Layout, tensor reshard.Tensor) string {
	if err := l.Check(len(tensor.Shape)); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, rank := range l.Mesh.Ranks {
		box, _ := l.Local(tensor.Shape, rank)
		at, _ := l.Mesh.Coordinates(rank)
		fmt.Fprintf(&b, "rank %d at %v: %v from %v, %d bytes\n", rank, at, box.Size, box.Start, tensor.Bytes(l, rank))
	}
	return b.String()
}
