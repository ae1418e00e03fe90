package reshard_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// TestOffsets: one buffer holds all parts, none of which overlap.
func TestOffsets(t *testing.T) {
	source, target := layout(t, "2@1:S0"), layout(t, "3:R")
	p := mustPlan(t, reshard.Moves(source, target, []reshard.Tensor{tensor(t, "5x3:u8"), tensor(t, "1:f32"), tensor(t, "0:u8"), tensor(t, "4:f64")}), reshard.Options{})
	for _, c := range []struct {
		rank    int
		offsets func(rank int, align int64) ([]int64, int64)
		align   int64
		want    []int64
		bytes   int64
	}{
		{0, p.SourceOffsets, 8, []int64{0, 0, 0, 0}, 0},
		{1, p.SourceOffsets, 8, []int64{0, 16, 24, 24}, 40},
		{2, p.SourceOffsets, 8, []int64{0, 8, 8, 8}, 24},
		{2, p.SourceOffsets, 1, []int64{0, 6, 6, 6}, 22},
		{0, p.TargetOffsets, 256, []int64{0, 256, 512, 512}, 768},
	} {
		if got, bytes := c.offsets(c.rank, c.align); !slices.Equal(got, c.want) || bytes != c.bytes {
			t.Errorf("rank %d, aligned to %d: %v, %d bytes; want %v, %d", c.rank, c.align, got, bytes, c.want, c.bytes)
		}
	}
}

func TestTakes(t *testing.T) {
	p := mustPlan(t, move(t, "3:f32", "2@1:P(sum)", "2@2:R"), reshard.Options{})
	e := &p.Entries[0]
	if e.Kind() != reshard.Reduce || e.Source != 2 {
		t.Fatal(p.Describe(0))
	}
	for rank, want := range [][2]bool{{false, false}, {true, false}, {true, true}, {false, true}} {
		if reads, writes := e.Takes(rank); reads != want[0] || writes != want[1] {
			t.Errorf("rank %d reads %v and writes %v, want %v", rank, reads, writes, want)
		}
	}
}

// TestEntriesOfAPipeline: each rank gives the places of what it reads and
// writes, and all say the same else.
func TestEntriesOfAPipeline(t *testing.T) {
	p := mustPlan(t, move(t, "4x3:f32", "2@1:P(max)", "2@2:S1"), reshard.Options{})
	e := &p.Entries[1] // the last column, which rank 3 gets
	e.Transport = ccrun.Chain
	src, dst := ccrun.Place{Buffer: &ccrun.Buffer{}, Offset: 1000, Row: 7, Plane: 8}, ccrun.Place{Buffer: &ccrun.Buffer{}, Offset: 2000}
	from := ccrun.Place{Buffer: src.Buffer, Offset: 1008, Row: 12, Plane: 48}
	to := ccrun.Place{Buffer: dst.Buffer, Offset: 2000, Row: 4, Plane: 16}
	for rank, at := range [][2]ccrun.Place{{}, {from}, {from}, {{}, to}} {
		want := ccrun.PipelineEntry{
			Source: 1, Destinations: []int{3}, Parts: []int{1, 2}, Dtype: ccrun.F32, RedOp: ccrun.Max, Transport: ccrun.Chain,
			Cell: 1, Planes: 1, Rows: 4, RowBytes: 4, Src: at[0], Dst: at[1],
		}
		if got := e.Pipeline(rank, src, dst); !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: %+v\nwant %+v", rank, got, want)
		}
	}
}

func TestMeshSlices(t *testing.T) {
	m := reshard.NewMesh(8, 2, 3, 4)
	for _, c := range []struct {
		dim, coordinate int
		want            string
	}{
		{0, 1, "3x4@20"}, {1, 2, "2x4@16,17,18,19,28,29,30,31"}, {2, 0, "2x3@8,12,16,20,24,28"},
	} {
		if got := m.Slice(c.dim, c.coordinate); got.String() != c.want || got.Check() != nil {
			t.Errorf("slice %d of dimension %d: %s, want %s", c.coordinate, c.dim, got, c.want)
		}
	}
	if got := reshard.NewMesh(8, 3).Slice(0, 2); got.String() != "1@10" {
		t.Errorf("slice of one dimension: %s", got)
	}
	if at, ok := m.Coordinates(31); !ok || !slices.Equal(at, []int{1, 2, 3}) {
		t.Errorf("rank 31 is at %v", at)
	}
	if _, ok := m.Coordinates(7); ok {
		t.Error("rank 7 is not in it")
	}
}
