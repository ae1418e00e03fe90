package ccrun_test

import (
	"slices"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
)

// gather is a whole ring all-gather by put, in slices, without barriers: what a
// researcher would write first.
func gather(w *ccrun.World, chunkBytes, sliceBytes int64) error {
	ring := w.Ring()
	out, err := w.Alloc(chunkBytes * int64(ring.Size))
	if err != nil {
		return err
	}
	if err := w.Publish("out", 0, out.All()); err != nil {
		return err
	}
	next, err := w.Lookup(ring.Next, "out", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	stream, err := w.NewStream()
	if err != nil {
		return err
	}
	all, err := w.Begin(ccrun.CollectiveInfo{Op: ccrun.AllGather, Algorithm: "ring", Bytes: out.Bytes(), SliceBytes: sliceBytes})
	if err != nil {
		return err
	}
	chunk := func(rank int) ccrun.Region { return out.At(int64(rank)*chunkBytes, chunkBytes) }
	slices := chunk(0).SliceCount(sliceBytes)
	stream.Hold()
	stream.Fill(chunk(ring.Rank), ccrun.U8, uint64(ring.Rank))
	for step := range ring.Steps() {
		for i, slice := range chunk(ring.Sends(step)).Slices(sliceBytes) {
			sequence := uint64(step*slices + i + 1)
			stream.Tag(ccrun.Term{Collective: all.Sequence, Chunk: ring.Sends(step), Slice: i, Message: i, Step: step})
			if step > 0 {
				stream.Wait(ring.Prev, 0, sequence-uint64(slices))
			}
			stream.Put(next.At(slice.Offset, slice.Bytes), slice)
			stream.Signal(ring.Next, 0, sequence)
		}
	}
	stream.Wait(ring.Prev, 0, uint64(ring.Steps()*slices))
	if err := all.End(); err != nil {
		return err
	}
	for rank := range ring.Size {
		if _, err := stream.Verify(chunk(rank), ccrun.U8, uint64(rank), 0); err != nil {
			return err
		}
	}
	_, err = stream.Digest(out.All(), "out")
	return err
}

func TestRingInFortyLines(t *testing.T) {
	for _, c := range []struct {
		ranks                  int
		chunkBytes, sliceBytes int64
	}{{1, 100, 10}, {2, 4096, 1024}, {4, 1000, 300}, {5, 1000, 0}, {3, 1, 1}} {
		result := ccruntest.RunDelayed(t, c.ranks, 1, func(w *ccrun.World) error { return gather(w, c.chunkBytes, c.sliceBytes) })
		for rank, err := range result.Errs {
			if err != nil {
				t.Errorf("%+v: rank %d: %v", c, rank, err)
			}
		}
		if result.Mismatches != 0 {
			t.Errorf("%+v: %d bytes differ", c, result.Mismatches)
		}
		if digests := slices.Compact(result.Digests["out"]); len(digests) != 1 || digests[0] == "" {
			t.Errorf("%+v: digests %v", c, result.Digests)
		}
	}
}
