package devicetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

func getBox(dst, src op.View, shape op.BoxShape) op.Op {
	o := box(dst, src, shape)
	o.Kind = op.GetBox
	return o
}

// checkGetBox gets a box from a buffer of rank from that holds the pattern of
// that rank's number, and looks at every byte of the destination.
func (r *rank) checkGetBox(s device.Stream, theirs op.Buffer, from int, shape op.BoxShape, off, margin int64) {
	r.w.t.Helper()
	dstBytes := shape.DstSpan() + 2*margin
	dst, want := r.filled(dstBytes, 99), pattern(dstBytes, 99)
	drawBox(want[margin:], pattern(theirs.Size(), uint64(from))[off:], shape)
	r.submit(s, getBox(at(dst, margin), at(theirs, off), shape))
	r.sync(s)
	if !bytes.Equal(r.read(dst), want) {
		r.failf("%+v of rank %d from byte %d on, with a margin of %d, went wrong", shape, from, off, margin)
	}
	r.must(r.Free(dst))
}

// boxGotShapes gets boxes of every form from the other rank, and from what a rank
// has itself exported.
func boxGotShapes(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	size := int64(0)
	for _, shape := range shapes {
		size = max(size, shape.SrcSpan()+2)
	}
	w.each(func(r *rank) {
		all := r.share("b", r.filled(size, uint64(r.n)))
		streams := []device.Stream{r.stream(), r.stream()}
		for n, shape := range shapes {
			from := (r.n + 1 + n/2) % 2 // a buffer that a rank shares with itself, too
			r.checkGetBox(streams[n%2], all[from], from, shape, int64(n%3), int64(n%2))
		}
		r.barrier()
	})
}

func boxGotRandom(t *testing.T, open Open) {
	const ranks, size = 3, 1 << 16
	w := newWorld(t, open, ranks)
	w.each(func(r *rank) {
		all := r.share("b", r.filled(size, uint64(r.n)))
		s, random := r.stream(), rand.New(rand.NewPCG(9, uint64(r.n)))
		for range 100 {
			shape := randomShape(random)
			if shape.SrcSpan() > size {
				continue
			}
			r.checkGetBox(s, all[(r.n+1)%ranks], (r.n+1)%ranks, shape, random.Int64N(size-shape.SrcSpan()+1), random.Int64N(70))
		}
		r.barrier()
	})
}

// boxGotQueued submits boxes behind a wait, from one shape that changes every
// time. The peer fills what they read only then.
func boxGotQueued(t *testing.T, open Open) {
	const n, size = 40, 4000
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(size)
		theirs, s, other := r.share("b", mine)[1-r.n], r.stream(), r.stream()
		var dst [n]op.Buffer
		var want [n][]byte
		var shape op.BoxShape
		r.submit(s, wait(1-r.n, 3, 1))
		for i := range dst {
			dst[i], want[i] = r.filled(size, 2), pattern(size, 2)
			shape = op.BoxShape{Planes: 1, Rows: int64(i), RowBytes: int64(i + 1), DstRow: 2 * int64(i+1), SrcRow: 50}
			drawBox(want[i], pattern(size, uint64(1-r.n)), shape)
			r.submit(s, op.Op{Kind: op.GetBox, Peer: -1, Dst: at(dst[i], 0), Src: at(theirs, 0), Bytes: shape.Bytes(), Box: &shape})
		}
		shape = op.BoxShape{Planes: -1, Rows: -1, RowBytes: 1 << 40}
		r.write(mine, 0, pattern(size, uint64(r.n)))
		r.submit(other, signal(1-r.n, 3, 1))
		r.sync(other)
		r.sync(s)
		for i := range dst {
			if !bytes.Equal(r.read(dst[i]), want[i]) {
				r.failf("box %d of a queue went wrong", i)
			}
		}
		r.barrier()
	})
}

func boxGotRefused(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(100)
		theirs, s := r.share("b", mine)[1-r.n], r.stream()
		good := op.BoxShape{Planes: 2, Rows: 3, RowBytes: 4, DstRow: 4, DstPlane: 12, SrcRow: 10, SrcPlane: 50}
		overlaps := good
		overlaps.DstRow = 3
		far := good
		far.SrcPlane = 1 << 62
		short := getBox(at(mine, 0), at(theirs, 0), good)
		short.Bytes--
		for i, c := range []struct {
			want error
			o    op.Op
		}{
			{op.ErrBox, op.Op{Kind: op.GetBox, Dst: at(mine, 0), Src: at(theirs, 0)}},
			{op.ErrBox, short},
			{op.ErrBox, getBox(at(mine, 0), at(theirs, 0), overlaps)},
			{op.ErrRange, getBox(at(mine, 77), at(theirs, 0), good)},
			{op.ErrRange, getBox(at(mine, 0), at(theirs, 27), good)},
			{op.ErrRange, getBox(at(mine, 0), at(theirs, 0), far)},
			{op.ErrRange, getBox(at(mine, 0), at(nil, 0), good)},
			{op.ErrRange, getBox(at(nil, 0), at(theirs, 0), op.BoxShape{})},
			{device.ErrForeign, getBox(at(theirs, 0), at(mine, 0), good)},
			{device.ErrForeign, getBox(at(theirs, 0), at(theirs, 20), good)},
		} {
			if err := s.Submit(&c.o); err == nil {
				r.failf("box %d is accepted", i)
			} else {
				r.is(fmt.Errorf("box %d: %w", i, err), c.want)
			}
		}
		r.submit(s, getBox(at(mine, 0), at(theirs, 26), good))
		r.sync(s)
		r.barrier()
	})
}

// boxGotStale gets boxes from a buffer that its owner frees: before they are
// submitted, and while they wait.
func boxGotStale(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine, local, s := r.alloc(100_000), r.filled(1000, 1), r.stream()
		theirs := r.share("b", mine)[1-r.n]
		shape := op.BoxShape{Planes: 1, Rows: 10, RowBytes: 50, DstRow: 100, SrcRow: 9000}
		r.submit(s, wait(1-r.n, 0, 1), getBox(at(local, 0), at(theirs, 0), shape))
		r.barrier()
		r.must(r.Free(mine))
		r.barrier()
		r.submit(r.stream(), signal(1-r.n, 0, 1))
		r.is(s.Sync(patience), device.ErrStale)
		if !bytes.Equal(r.read(local), pattern(1000, 1)) {
			r.failf("a box of a freed buffer was written")
		}
		s = r.stream()
		r.is(s.Submit(ptr(getBox(at(local, 0), at(theirs, 0), shape))), device.ErrStale)
		r.is(s.Submit(ptr(getBox(at(local, 0), at(theirs, 0), op.BoxShape{}))), device.ErrStale)
		r.must(r.Free(theirs))
		r.sync(s)
		r.barrier()
	})
}
