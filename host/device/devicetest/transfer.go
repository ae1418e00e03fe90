package devicetest

import (
	"bytes"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var transferCases = []testCase{
	{"transfer/odd sizes and offsets", transferOdd},
	{"transfer/overlap", transferOverlap},
	{"transfer/large", transferLarge},
	{"transfer/refused", transferRefused},
}

// transferOdd moves every kind of range with every kind of operation and
// checks all bytes of the destination.
func transferOdd(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	const size = 10_000
	w.each(func(r *rank) {
		mine := r.alloc(size)
		theirs := r.share("b", mine)[1-r.n]
		s, local := r.stream(), r.filled(size, uint64(r.n))
		r.barrier()
		for i, c := range []struct{ dst, src, bytes int64 }{
			{0, 0, size}, {0, 0, 0}, {1, 0, 1}, {3, 5, 7}, {4095, 1, 4097}, {255, 256, 257}, {size, size, 0}, {size - 1, 0, 1},
		} {
			want := pattern(size, 99)
			copy(want[c.dst:], pattern(size, uint64(r.n))[c.src:c.src+c.bytes])
			target := r.filled(size, 99)
			r.submit(s, move(op.Copy, at(target, c.dst), at(local, c.src), c.bytes))
			r.sync(s)
			if !bytes.Equal(r.read(target), want) {
				r.failf("copy %d wrong", i)
			}
			r.write(mine, 0, pattern(size, 99))
			r.barrier()
			r.submit(s, move(op.Put, at(theirs, c.dst), at(local, c.src), c.bytes))
			r.sync(s)
			r.barrier()
			copy(want[c.dst:], pattern(size, uint64(1-r.n))[c.src:c.src+c.bytes])
			if !bytes.Equal(r.read(mine), want) {
				r.failf("put %d wrong", i)
			}
			r.submit(s, move(op.Get, at(target, c.src), at(theirs, c.dst), c.bytes))
			r.sync(s)
			if !bytes.Equal(r.read(target)[c.src:c.src+c.bytes], r.read(theirs)[c.dst:c.dst+c.bytes]) {
				r.failf("get %d wrong", i)
			}
			r.must(r.Free(target))
			r.barrier()
		}
	})
}

func transferOverlap(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	const size = 3 << 20
	for _, c := range []struct{ dst, src int64 }{{0, 100}, {100, 0}, {1 << 20, 0}, {0, 1 << 20}, {50, 50}} {
		b, want := r.filled(size, 5), pattern(size, 5)
		n := size - max(c.dst, c.src)
		copy(want[c.dst:c.dst+n], want[c.src:c.src+n])
		r.submit(s, move(op.Copy, at(b, c.dst), at(b, c.src), n))
		r.sync(s)
		if !bytes.Equal(r.read(b), want) {
			t.Errorf("copy from %d to %d within a buffer went wrong", c.src, c.dst)
		}
		r.must(r.Free(b))
	}
}

func transferLarge(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	const size = 5<<20 + 3
	w.each(func(r *rank) {
		mine := r.filled(size, uint64(r.n))
		theirs, got, s := r.share("b", mine)[1-r.n], r.alloc(size), r.stream()
		r.submit(s, move(op.Get, at(got, 0), at(theirs, 0), size))
		r.sync(s)
		if !bytes.Equal(r.read(got), pattern(size, uint64(1-r.n))) {
			r.failf("get of %d bytes went wrong", size)
		}
		r.barrier()
	})
}

// transferRefused submits what no stream can execute. Nothing of it may reach
// the stream.
func transferRefused(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(100)
		theirs, s := r.share("b", mine)[1-r.n], r.stream()
		facts := r.Facts()
		for _, c := range []struct {
			want error
			o    op.Op
		}{
			{op.ErrKind, op.Op{}},
			{op.ErrKind, op.Op{Kind: op.Barrier}},
			{op.ErrRange, move(op.Copy, at(mine, 0), at(mine, 0), -1)},
			{op.ErrRange, move(op.Copy, at(mine, 1), at(mine, 0), 100)},
			{op.ErrRange, move(op.Copy, at(mine, 0), at(nil, 0), 1)},
			{op.ErrRange, move(op.Get, at(mine, 0), at(theirs, 1), 100)},
			{op.ErrRange, move(op.Get, at(mine, 0), at(theirs, 1<<63-1), 100)},
			{device.ErrForeign, move(op.Copy, at(mine, 0), at(theirs, 0), 1)},
			{device.ErrForeign, move(op.Copy, at(theirs, 0), at(mine, 0), 1)},
			{device.ErrForeign, move(op.Put, at(theirs, 0), at(theirs, 0), 1)},
			{device.ErrForeign, move(op.Get, at(theirs, 0), at(theirs, 0), 1)},
			{device.ErrPeer, signal(2, 0, 1)},
			{device.ErrPeer, signal(-1, 0, 1)},
			{device.ErrPeer, wait(2, 0, 1)},
			{device.ErrSlot, signal(1, facts.SignalSlots, 1)},
			{device.ErrSlot, wait(1, 1<<32-1, 1)},
			{device.ErrPeer, op.Op{Kind: op.Send, Peer: 7, Src: at(mine, 0)}},
			{device.ErrSlot, op.Op{Kind: op.Recv, Peer: 1, Slot: facts.SendChannels, Dst: at(mine, 0)}},
			{op.ErrEvent, op.Op{Kind: op.EventWait}},
			{op.ErrType, op.Op{Kind: op.Fill, Dst: at(mine, 0), Type: 99}},
			{op.ErrRange, op.Op{Kind: op.Fill, Dst: at(mine, 0), Src: at(nil, 2), Type: op.F32, Bytes: 4}},
			{op.ErrRange, op.Op{Kind: op.Verify, Dst: at(mine, 0), Type: op.F64, Bytes: 9}},
			{op.ErrRedOp, op.Op{Kind: op.Reduce, Dst: at(mine, 0), Red: 77, SourceCount: 1}},
			{op.ErrSources, op.Op{Kind: op.Reduce, Dst: at(mine, 0)}},
		} {
			r.is(s.Submit(&c.o), c.want)
		}
		r.sync(s)
		r.barrier()
	})
}
