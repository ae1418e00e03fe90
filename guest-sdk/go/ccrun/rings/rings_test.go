package rings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/ccruntest"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/rings"
)

func describe(s rings.Shape, rank, size int) []string {
	var lines []string
	for a := range rings.Plan(s, ccrun.NewRing(rank, size)) {
		lines = append(lines, a.String())
	}
	return lines
}

func TestPlans(t *testing.T) {
	for _, c := range []struct {
		shape      rings.Shape
		rank, size int
		want       []string
	}{
		{rings.Shape{Op: ccrun.ReduceScatter, Slices: 2}, 0, 3, []string{
			"step 0 signal 2",
			"step 0 wait 1", "step 0 reduce chunk 1 slice 0", "step 0 signal 3",
			"step 0 wait 2", "step 0 reduce chunk 1 slice 1", "step 0 signal 4",
			"step 1 wait 3", "step 1 reduce chunk 0 slice 0",
			"step 1 wait 4", "step 1 reduce chunk 0 slice 1",
		}},
		{rings.Shape{Op: ccrun.ReduceScatter, Push: true, Slices: 1}, 0, 3, []string{
			"step 0 put chunk 2 slice 0", "step 0 signal 1",
			"step 0 wait 1", "step 0 reduce chunk 1 slice 0", "step 1 put chunk 1 slice 0", "step 1 signal 2",
			"step 1 wait 2", "step 1 reduce chunk 0 slice 0",
		}},
		{rings.Shape{Op: ccrun.AllReduce, Slices: 1}, 1, 2, []string{
			"step 0 signal 1",
			"step 0 wait 1", "step 0 reduce chunk 1 slice 0", "step 0 signal 2",
			"step 1 wait 2", "step 1 get chunk 0 slice 0",
		}},
		{rings.Shape{Op: ccrun.AllReduce, Push: true, Slices: 1}, 1, 2, []string{
			"step 0 put chunk 0 slice 0", "step 0 signal 1",
			"step 0 wait 1", "step 0 reduce chunk 1 slice 0", "step 1 put chunk 1 slice 0", "step 1 signal 2",
			"step 1 wait 2",
		}},
		{rings.Shape{Op: ccrun.AllGather, Slices: 1}, 1, 3, []string{
			"step 0 signal 1",
			"step 0 wait 1", "step 0 get chunk 0 slice 0", "step 0 signal 2",
			"step 1 wait 2", "step 1 get chunk 2 slice 0",
		}},
		{rings.Shape{Op: ccrun.AllGather, Push: true, Slices: 1}, 1, 2, []string{
			"step 0 put chunk 1 slice 0", "step 0 signal 1", "step 0 wait 1",
		}},
		{rings.Shape{Op: ccrun.AllReduce, Slices: 4}, 0, 1, nil},
		{rings.Shape{Op: ccrun.AllReduce, Push: true, Slices: 4}, 0, 1, nil},
		{rings.Shape{Op: ccrun.AllReduce}, 1, 4, nil},
		{rings.Shape{Op: ccrun.Broadcast, Slices: 2}, 1, 4, nil},
		{rings.Shape{Op: ccrun.Broadcast, Push: true, Slices: 2}, 1, 4, nil},
	} {
		got := describe(c.shape, c.rank, c.size)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v, rank %d of %d:\n%s\nwant\n%s", c.shape, c.rank, c.size, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A consumer of a plan may stop at any action.
func TestPlansCanBeLeft(t *testing.T) {
	for _, push := range []bool{false, true} {
		shape := rings.Shape{Op: ccrun.AllReduce, Push: push, Slices: 2}
		whole := describe(shape, 0, 3)
		for stop := range whole {
			var got []string
			for a := range rings.Plan(shape, ccrun.NewRing(0, 3)) {
				got = append(got, a.String())
				if len(got) > stop {
					break
				}
			}
			if !slices.Equal(got, whole[:stop+1]) {
				t.Errorf("push %v, left after %d: %v", push, stop, got)
			}
		}
	}
}

const roundCount = 3

// ranksRing runs rounds of one collective on one rank and verifies each.
func ranksRing(w *ccrun.World, shape rings.Shape, bytes, sliceBytes int64) error {
	own, err := w.Alloc(bytes)
	if err != nil {
		return err
	}
	scratch, err := w.Alloc(bytes)
	if err != nil {
		return err
	}
	stream, err := w.NewStream()
	if err != nil {
		return err
	}
	ring := w.Ring()
	neighbour := ring.Prev
	if shape.Push {
		neighbour = ring.Next
	}
	if err := w.Publish("own", 0, own.All()); err != nil {
		return err
	}
	if err := w.Publish("scratch", 0, scratch.All()); err != nil {
		return err
	}
	peer, err := w.Lookup(neighbour, "own", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	peerScratch, err := w.Lookup(neighbour, "scratch", 0, ccrun.Forever)
	if err != nil {
		return err
	}
	p := rings.Pipe{
		Ring: ring, Stream: stream, Shape: shape, Dtype: ccrun.I32, Own: own.All(), Scratch: scratch.All(),
		Peer: peer.All(), PeerScratch: peerScratch.All(), SliceBytes: sliceBytes, Slot: 4,
	}
	p.Shape.Slices = p.Slices()
	for round := range uint64(roundCount) {
		p.Enter(round)
		mine := own.All()
		if shape.Op == ccrun.AllGather {
			mine = mine.Chunk(ring.Rank, ring.Size) // the previous rank may push the others already
		}
		stream.Fill(mine, ccrun.I32, round<<8+uint64(ring.Rank))
		p.Run(round, 0)
		if err := verify(&p, own, round); err != nil {
			return err
		}
		p.End(round)
	}
	p.Enter(roundCount)
	return stream.Sync()
}

func verify(p *rings.Pipe, own *ccrun.Buffer, round uint64) error {
	seeds := make([]uint64, p.Ring.Size)
	for rank := range seeds {
		seeds[rank] = round<<8 + uint64(rank)
	}
	for chunk := range p.Ring.Size {
		region := own.All().Chunk(chunk, p.Ring.Size)
		var err error
		switch {
		case p.Shape.Op == ccrun.AllGather:
			_, err = p.Stream.Verify(region, ccrun.I32, seeds[chunk], 0)
		case p.Shape.Op == ccrun.AllReduce || chunk == p.Ring.Rank:
			_, err = p.Stream.VerifyReduced(region, ccrun.I32, ccrun.Sum, seeds, region.Offset)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Ranks that run ahead of and fall behind each other reduce and gather what
// they must, round after round, in any shape.
func TestPipes(t *testing.T) {
	for _, op := range []ccrun.CollectiveOp{ccrun.AllReduce, ccrun.ReduceScatter, ccrun.AllGather} {
		for _, push := range []bool{false, true} {
			for seed, c := range []struct {
				ranks             int
				bytes, sliceBytes int64
			}{{1, 64, 16}, {2, 1 << 10, 100}, {3, 500, 48}, {4, 64, 0}, {4, 16, 4}, {5, 0, 8}, {5, 400, 16}} {
				c.sliceBytes &^= 3
				result := ccruntest.RunDelayed(t, c.ranks, uint64(seed), func(w *ccrun.World) error {
					return ranksRing(w, rings.Shape{Op: op, Push: push}, c.bytes, c.sliceBytes)
				})
				for rank, err := range result.Errs {
					if err != nil {
						t.Errorf("collective %d, push %v, %+v: rank %d: %v", op, push, c, rank, err)
					}
				}
				if result.Mismatches != 0 {
					t.Errorf("collective %d, push %v, %+v: %d elements are wrong", op, push, c, result.Mismatches)
				}
			}
		}
	}
}
