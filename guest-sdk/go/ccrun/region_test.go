package ccrun

import (
	"fmt"
	"slices"
	"testing"
)

func TestSlicesCoverTheRegion(t *testing.T) {
	for _, c := range []struct {
		bytes, slice int64
		want         []string
	}{
		{10, 4, []string{"0: 100+4", "1: 104+4", "2: 108+2"}},
		{8, 4, []string{"0: 100+4", "1: 104+4"}},
		{8, 0, []string{"0: 100+8"}},
		{8, 9, []string{"0: 100+8"}},
		{0, 4, nil},
		{0, 0, nil},
	} {
		region := Region{Offset: 100, Bytes: c.bytes}
		var got []string
		for i, slice := range region.Slices(c.slice) {
			got = append(got, fmt.Sprintf("%d: %d+%d", i, slice.Offset, slice.Bytes))
		}
		if !slices.Equal(got, c.want) || region.SliceCount(c.slice) != len(c.want) {
			t.Errorf("%d bytes by %d: %v, count %d, want %v", c.bytes, c.slice, got, region.SliceCount(c.slice), c.want)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		count int
		want  []int64
	}{
		{96, 3, []int64{32, 32, 32}}, {100, 3, []int64{48, 48, 4}}, {1 << 20, 3, []int64{349536, 349536, 349504}},
		{17, 4, []int64{16, 1, 0, 0}}, {2, 1, []int64{2}}, {0, 2, []int64{0, 0}},
	} {
		region := Region{Offset: 7, Bytes: c.bytes}
		next := int64(7)
		for i, want := range c.want {
			chunk := region.Chunk(i, c.count)
			if chunk.Bytes != want || chunk.Offset != next {
				t.Errorf("%d bytes in %d, chunk %d: %d+%d, want %d+%d", c.bytes, c.count, i, chunk.Offset, chunk.Bytes, next, want)
			}
			next += chunk.Bytes
		}
	}
}

// In an all-gather every rank sends what it received one step before, and ends
// up with every chunk once.
func TestRingSchedule(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for rank := range size {
			ring := NewRing(rank, size)
			held := []int{rank}
			for step := range ring.Steps() {
				if ring.Sends(step) != held[step] {
					t.Fatalf("rank %d of %d sends chunk %d in step %d, holds %v", rank, size, ring.Sends(step), step, held)
				}
				if prev := NewRing(ring.Prev, size); prev.Sends(step) != ring.Receives(step) || prev.Next != rank {
					t.Fatalf("rank %d of %d, step %d: receives %d, its neighbour sends %d", rank, size, step, ring.Receives(step), prev.Sends(step))
				}
				held = append(held, ring.Receives(step))
			}
			slices.Sort(held)
			if len(slices.Compact(held)) != size {
				t.Errorf("rank %d of %d ends with chunks %v", rank, size, held)
			}
		}
	}
}

func TestByteSizes(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  ByteSize
		print string
	}{
		{"0", 0, "0B"}, {"65536", 65536, "64KiB"}, {"64KiB", 65536, "64KiB"}, {"64k", 65536, "64KiB"}, {"1MB", 1 << 20, "1MiB"},
		{"1M", 1 << 20, "1MiB"}, {"3Gi", 3 << 30, "3GiB"}, {"100B", 100, "100B"}, {"1T", 1 << 40, "1TiB"},
	} {
		var got ByteSize
		if err := got.Set(c.text); err != nil || got != c.want || got.String() != c.print {
			t.Errorf("%s: %d %s %v", c.text, got, got, err)
		}
	}
	for _, text := range []string{"", "M", "-1", "1X", "1.5M", "99999999T", "5I", "1 M"} {
		got := ByteSize(77)
		if err := got.Set(text); err == nil || got != 77 {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}
