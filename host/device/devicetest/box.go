package devicetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var boxCases = []testCase{
	{"box/shapes", boxShapes},
	{"box/random", boxRandom},
	{"box/in one buffer", boxWithin},
	{"box/queued", boxQueued},
	{"box/order", boxOrder},
	{"box/refused", boxRefused},
	{"box/freed", boxFreed},
	{"box/got, shapes", boxGotShapes},
	{"box/got, random", boxGotRandom},
	{"box/got, queued", boxGotQueued},
	{"box/got, refused", boxGotRefused},
	{"box/got, stale", boxGotStale},
}

func box(dst, src op.View, shape op.BoxShape) op.Op {
	return op.Op{Kind: op.CopyBox, Peer: -1, Dst: dst, Src: src, Bytes: shape.Bytes(), Box: &shape}
}

// drawBox copies a box byte by byte.
func drawBox(dst, src []byte, b op.BoxShape) {
	if b.Bytes() == 0 {
		return
	}
	for plane := range b.Planes {
		for row := range b.Rows {
			for i := range b.RowBytes {
				dst[plane*b.DstPlane+row*b.DstRow+i] = src[plane*b.SrcPlane+row*b.SrcRow+i]
			}
		}
	}
}

// checkBox copies a box between buffers that it fits exactly, but for a margin.
func (r *rank) checkBox(s device.Stream, shape op.BoxShape, margin int64) {
	r.w.t.Helper()
	dstBytes, srcBytes := shape.DstSpan()+2*margin, shape.SrcSpan()+2*margin
	dst, src := r.filled(dstBytes, 3), r.filled(srcBytes, 4)
	want := pattern(dstBytes, 3)
	drawBox(want[margin:], pattern(srcBytes, 4)[margin:], shape)
	r.submit(s, box(at(dst, margin), at(src, margin), shape))
	r.sync(s)
	if !bytes.Equal(r.read(dst), want) {
		r.failf("%+v with a margin of %d went wrong", shape, margin)
	}
	r.must(r.Free(dst))
	r.must(r.Free(src))
}

// shapes are boxes of every form: runs, matrices, planes, from nothing to more
// than any device copies at once.
var shapes = []op.BoxShape{
	{Planes: 1, Rows: 1, RowBytes: 1},
	{Planes: 1, Rows: 1, RowBytes: 1000, DstRow: 1, DstPlane: -1, SrcRow: -5, SrcPlane: 1 << 62}, // distances that do not count
	{Planes: 1, Rows: 7, RowBytes: 64, DstRow: 64, SrcRow: 100},
	{Planes: 1, Rows: 7, RowBytes: 64, DstRow: 100, SrcRow: 64},
	{Planes: 1, Rows: 7, RowBytes: 64, DstRow: 64, SrcRow: 64},
	{Planes: 5, Rows: 1, RowBytes: 33, DstPlane: 40, SrcPlane: 50},
	{Planes: 5, Rows: 1, RowBytes: 33, DstPlane: 33, SrcPlane: 33},
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 5, DstPlane: 20, SrcRow: 9, SrcPlane: 100},
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 6, DstPlane: 24, SrcRow: 7, SrcPlane: 28},
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 5, DstPlane: 30, SrcRow: 5, SrcPlane: 21},
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 5, DstPlane: 20, SrcRow: 5, SrcPlane: 20},
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 15, DstPlane: 5, SrcRow: 5, SrcPlane: 20}, // planes between rows
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 5, DstPlane: 20, SrcRow: 0, SrcPlane: 0},  // one row again and again
	{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 5, DstPlane: 20, SrcRow: 2, SrcPlane: 1},  // rows that overlap where they are read
	{Planes: 100, Rows: 200, RowBytes: 1, DstRow: 1, DstPlane: 200, SrcRow: 3, SrcPlane: 601},
	{Planes: 1, Rows: 3000, RowBytes: 8, DstRow: 8, SrcRow: 24},
	{Planes: 2, Rows: 40, RowBytes: 6144, DstRow: 6144, DstPlane: 40 * 6144, SrcRow: 8192, SrcPlane: 41 * 8192},
	{Planes: 1, Rows: 2, RowBytes: 600_001, DstRow: 600_001, SrcRow: 700_000},
	{Planes: 0, Rows: 4, RowBytes: 5, DstRow: 5, SrcRow: 5},
	{Planes: 1 << 62, Rows: 0, RowBytes: 1, DstPlane: -1},
	{Planes: 1 << 20, Rows: 1 << 40, RowBytes: 0, SrcRow: 1 << 62},
}

func boxShapes(t *testing.T, open Open) {
	r := one(t, open)
	streams := []device.Stream{r.stream(), r.stream()}
	for n, shape := range shapes {
		r.checkBox(streams[n%2], shape, int64(n%3))
	}
}

// randomShape is a box of at most about 20 KB.
func randomShape(random *rand.Rand) op.BoxShape {
	b := op.BoxShape{Planes: random.Int64N(6), Rows: random.Int64N(20), RowBytes: random.Int64N(1 << random.IntN(9))}
	row := func(least int64) int64 { return least + random.Int64N(3)*random.Int64N(40) }
	b.DstRow, b.SrcRow = row(b.RowBytes), row(b.RowBytes)
	b.DstPlane, b.SrcPlane = row(b.Rows*b.DstRow), row(b.Rows*b.SrcRow)
	if random.IntN(4) == 0 {
		b.SrcRow, b.SrcPlane = random.Int64N(100), random.Int64N(100)
	}
	return b
}

func boxRandom(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	random := rand.New(rand.NewPCG(7, 8))
	for range 150 {
		r.checkBox(s, randomShape(random), random.Int64N(70))
	}
}

// boxWithin copies columns to columns of one matrix: the ranges that the boxes
// span overlap, the boxes do not.
func boxWithin(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	const size = 64 * 1000
	for _, c := range []struct{ dst, src, rowBytes int64 }{{0, 32, 32}, {32, 0, 32}, {10, 50, 7}, {63, 0, 1}, {1000, 0, 1000 - 40}} {
		b, want := r.filled(size, 5), pattern(size, 5)
		shape := op.BoxShape{Planes: 2, Rows: 15, RowBytes: c.rowBytes, DstRow: 2000, DstPlane: 32_000, SrcRow: 2000, SrcPlane: 32_000}
		drawBox(want[c.dst:], pattern(size, 5)[c.src:], shape)
		r.submit(s, box(at(b, c.dst), at(b, c.src), shape))
		r.sync(s)
		if !bytes.Equal(r.read(b), want) {
			t.Errorf("columns of %d bytes from %d to %d of a matrix went wrong", c.rowBytes, c.src, c.dst)
		}
		r.must(r.Free(b))
	}
}

// boxQueued submits boxes behind an operation that has to wait, from one shape
// that changes every time: a stream keeps its own.
func boxQueued(t *testing.T, open Open) {
	r := one(t, open)
	const n, size = 40, 4000
	s, other := r.stream(), r.stream()
	src, want := r.filled(size, 1), make([][]byte, n)
	var dst [n]op.Buffer
	r.submit(s, wait(0, 3, 1))
	var shape op.BoxShape
	for i := range dst {
		dst[i], want[i] = r.filled(size, 2), pattern(size, 2)
		shape = op.BoxShape{Planes: 1, Rows: int64(i), RowBytes: int64(i + 1), DstRow: 2 * int64(i+1), SrcRow: 50}
		drawBox(want[i], pattern(size, 1), shape)
		o := op.Op{Kind: op.CopyBox, Peer: -1, Dst: at(dst[i], 0), Src: at(src, 0), Bytes: shape.Bytes(), Box: &shape}
		r.submit(s, o)
	}
	shape = op.BoxShape{Planes: -1, Rows: -1, RowBytes: 1 << 40}
	r.submit(other, signal(0, 3, 1))
	r.sync(other)
	r.sync(s)
	for i := range dst {
		if !bytes.Equal(r.read(dst[i]), want[i]) {
			r.failf("box %d of a queue went wrong", i)
		}
	}
}

// boxOrder packs a matrix's columns, copies what was packed and unpacks it
// elsewhere, each depending on the one before, large enough to be handed over.
func boxOrder(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	r.stream() // another one, so that this one has a worker to itself
	const rows, columns, wide = 500, 96, 256
	src, staged, moved, dst := r.filled(rows*wide, 1), r.alloc(rows*columns), r.alloc(rows*columns), r.filled(rows*wide, 2)
	pack := op.BoxShape{Planes: 1, Rows: rows, RowBytes: columns, DstRow: columns, SrcRow: wide}
	unpack := op.BoxShape{Planes: 1, Rows: rows, RowBytes: columns, DstRow: wide, SrcRow: columns}
	r.submit(s, box(at(staged, 0), at(src, 40), pack), move(op.Copy, at(moved, 0), at(staged, 0), rows*columns), box(at(dst, 100), at(moved, 0), unpack))
	r.sync(s)
	want := pattern(rows*wide, 2)
	through := op.BoxShape{Planes: 1, Rows: rows, RowBytes: columns, DstRow: wide, SrcRow: wide}
	drawBox(want[100:], pattern(rows*wide, 1)[40:], through)
	if !bytes.Equal(r.read(dst), want) {
		r.failf("columns that were packed, moved and unpacked are wrong")
	}
}

func boxRefused(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(100)
		theirs, s := r.share("b", mine)[1-r.n], r.stream()
		good := op.BoxShape{Planes: 2, Rows: 3, RowBytes: 4, DstRow: 4, DstPlane: 12, SrcRow: 10, SrcPlane: 50}
		with := func(change func(b *op.BoxShape)) op.BoxShape {
			b := good
			change(&b)
			return b
		}
		short := box(at(mine, 0), at(mine, 50), good)
		short.Bytes--
		for i, c := range []struct {
			want error
			o    op.Op
		}{
			{op.ErrBox, op.Op{Kind: op.CopyBox, Dst: at(mine, 0), Src: at(mine, 0)}},
			{op.ErrBox, short},
			{op.ErrBox, box(at(mine, 0), at(mine, 0), with(func(b *op.BoxShape) { b.DstRow = 3 }))},
			{op.ErrRange, box(at(mine, 77), at(mine, 0), good)},
			{op.ErrRange, box(at(mine, 0), at(mine, 27), good)},
			{op.ErrRange, box(at(mine, 0), at(mine, 0), with(func(b *op.BoxShape) { b.SrcPlane = 1 << 62 }))},
			{op.ErrRange, box(at(mine, 0), at(nil, 0), good)},
			{op.ErrRange, box(at(nil, 0), at(mine, 0), op.BoxShape{})},
			{device.ErrForeign, box(at(mine, 0), at(theirs, 0), good)},
			{device.ErrForeign, box(at(theirs, 0), at(mine, 0), good)},
		} {
			if err := s.Submit(&c.o); err == nil {
				r.failf("box %d is accepted", i)
			} else {
				r.is(fmt.Errorf("box %d: %w", i, err), c.want)
			}
		}
		r.submit(s, box(at(mine, 0), at(mine, 26), good))
		r.sync(s)
		r.barrier()
	})
}

// boxFreed frees both buffers of a box that waits: it still has what it needs.
func boxFreed(t *testing.T, open Open) {
	r := one(t, open)
	s, other := r.stream(), r.stream()
	src, dst, kept := r.filled(1000, 1), r.alloc(1000), r.alloc(1000)
	shape := op.BoxShape{Planes: 1, Rows: 10, RowBytes: 50, DstRow: 100, SrcRow: 100}
	r.submit(s, wait(0, 1, 1), box(at(dst, 0), at(src, 0), shape), box(at(kept, 0), at(dst, 0), shape))
	r.submit(other, signal(0, 1, 1))
	r.must(r.Free(src))
	r.must(r.Free(dst))
	r.is(s.Submit(ptr(box(at(kept, 0), at(src, 0), shape))), device.ErrStale)
	r.sync(s)
	want := make([]byte, 1000)
	drawBox(want, pattern(1000, 1), shape)
	if !bytes.Equal(r.read(kept), want) {
		r.failf("a box of freed buffers went wrong")
	}
}

func ptr[T any](v T) *T { return &v }
