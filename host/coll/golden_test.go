package coll

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ccrun/ccrun/host/op"
)

// TestGoldens reads testdata, one file for each collective and some more.
//
//	plan op=OP algo=ALGORITHM ranks=N count=N [rank=R] [root=R] [type=T] [slice=BYTES] [in_place]
//
// gives the programs of one rank or of all; traffic takes the same, and
// compares with the size of the call; select takes it without algo.
func TestGoldens(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasPrefix(path, "testdata/fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := scanShape(t, d)
			switch d.Cmd {
			case "plan":
				return planText(t, d, s)
			case "traffic":
				return trafficText(t, d, s)
			case "select":
				return selectText(t, d, s)
			case "shards":
				return shardsText(s)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// TestEveryCollectiveHasGoldens keeps testdata complete.
func TestEveryCollectiveHasGoldens(t *testing.T) {
	for i := range All {
		name := All[i].Op.String()
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Error(err)
		}
		for _, v := range All[i].Algorithms {
			if want := fmt.Sprintf("plan op=%s algo=%s ", name, v.Algorithm); !strings.Contains(string(text), want) {
				t.Errorf("testdata/%s.txt has no case %q", name, want)
			}
		}
	}
}

func scanShape(t *testing.T, d *datadriven.TestData) Shape {
	s := Shape{Type: op.F32, Ranks: 1, InPlace: d.HasArg("in_place")}
	name := op.AllReduce.String()
	d.MaybeScanArgs(t, "op", &name)
	row := collectiveNamed(name)
	if row == nil {
		d.Fatalf(t, "unknown collective %s", name)
	}
	s.Collective = row.Op
	if d.MaybeScanArgs(t, "algo", &name) {
		s.Algorithm, _ = AlgorithmNamed(name)
	}
	if d.MaybeScanArgs(t, "type", &name) {
		for s.Type = op.U8; s.Type.String() != name; s.Type++ {
			if !s.Type.Valid() {
				d.Fatalf(t, "unknown type %s", name)
			}
		}
	}
	d.MaybeScanArgs(t, "ranks", &s.Ranks)
	d.MaybeScanArgs(t, "root", &s.Root)
	d.MaybeScanArgs(t, "count", &s.Count)
	d.MaybeScanArgs(t, "slice", &s.SliceBytes)
	return s
}

func planText(t *testing.T, d *datadriven.TestData, s Shape) string {
	first, last := 0, max(s.Ranks-1, 0)
	if d.MaybeScanArgs(t, "rank", &first) {
		last = first
	}
	var b strings.Builder
	for rank := first; rank <= last; rank++ {
		program, err := Plan(s, rank)
		if err != nil {
			return "error: " + err.Error()
		}
		fmt.Fprintf(&b, "rank %d: %s", rank, Text(program))
	}
	return b.String()
}

func trafficText(t *testing.T, d *datadriven.TestData, s Shape) string {
	traffic, err := TrafficOf(s)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	size := float64(s.Bytes())
	return fmt.Sprintf("read %d (%.2f of %d) written %d (%.2f)", traffic.Read, float64(traffic.Read)/size, s.Bytes(), traffic.Written, float64(traffic.Written)/size)
}

func selectText(t *testing.T, d *datadriven.TestData, s Shape) string {
	table, err := ParseTable(d.Input)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	if d.Input == "" {
		table = DefaultTable()
	}
	return table.Select(s).String()
}

// shardsText shows how all_reduce cuts its vector.
func shardsText(s Shape) string {
	p := &planner{Shape: s, size: int64(s.Type.Size())}
	var b strings.Builder
	for rank := range s.Ranks {
		shard := p.shard(rank, s.Count)
		fmt.Fprintf(&b, "[%d:%d) ", shard.from, shard.to)
	}
	return b.String()
}
