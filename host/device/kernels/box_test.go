package kernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// drawBox is CopyBox byte by byte.
func drawBox(dst, src []byte, b *op.BoxShape) {
	for plane := range b.Planes {
		for row := range b.Rows {
			for i := range b.RowBytes {
				dst[plane*b.DstPlane+row*b.DstRow+i] = src[plane*b.SrcPlane+row*b.SrcRow+i]
			}
		}
	}
}

// randomBox is a box whose rows are of any length up to some hundreds, often one
// that a loop of its own is for, with gaps or without at either end.
func randomBox(r *rand.Rand) op.BoxShape {
	b := op.BoxShape{Planes: r.Int64N(5), Rows: r.Int64N(40), RowBytes: r.Int64N(300)}
	if r.IntN(2) == 0 {
		b.RowBytes = int64(1) << r.IntN(8)
	}
	gap := func() int64 { return r.Int64N(2) * r.Int64N(50) }
	b.DstRow, b.SrcRow = b.RowBytes+gap(), b.RowBytes+gap()
	b.DstPlane, b.SrcPlane = b.Rows*b.DstRow+gap(), b.Rows*b.SrcRow+gap()
	switch r.IntN(6) {
	case 0: // planes between the rows of the others
		b.DstPlane = b.RowBytes + gap()
		b.DstRow = b.Planes*b.DstPlane + gap()
	case 1: // rows that overlap where they are read
		b.SrcRow, b.SrcPlane = r.Int64N(100), r.Int64N(100)
	}
	return b
}

func TestCopyBox(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, set := range sets() {
		for range 2000 {
			b := randomBox(r)
			at, from := r.Int64N(64), r.Int64N(64)
			dst, src := make([]byte, at+b.DstSpan()+64), make([]byte, from+b.SrcSpan()+64)
			randomElements(r, src, op.U8)
			randomElements(r, dst, op.U8)
			want := bytes.Clone(dst)
			drawBox(want[at:], src[from:], &b)
			set.CopyBox(dst[at:at+b.DstSpan()], src[from:from+b.SrcSpan()], &b)
			if !bytes.Equal(dst, want) {
				t.Fatalf("%s: %+v went wrong", set.ISA, b)
			}
		}
	}
}

// TestLargeBoxes copies rows that take more than a stretch, and more than is
// written through the caches.
func TestLargeBoxes(t *testing.T) {
	src := make([]byte, 3<<20)
	randomElements(rand.New(rand.NewPCG(7, 8)), src, op.U8)
	for _, b := range []op.BoxShape{
		{Planes: 1, Rows: 3, RowBytes: 700_001, DstRow: 800_000, SrcRow: 900_000},
		{Planes: 1, Rows: 1, RowBytes: 3 << 20},
		{Planes: 2, Rows: 5, RowBytes: 70_001, DstRow: 80_000, DstPlane: 500_000, SrcRow: 70_003, SrcPlane: 90_000},
		{Planes: 3, Rows: 1 << 10, RowBytes: 1 << 9, DstRow: 1 << 9, DstPlane: 1 << 20, SrcRow: 1 << 10, SrcPlane: 0},
	} {
		want, got := make([]byte, b.DstSpan()), make([]byte, b.DstSpan())
		drawBox(want, src, &b)
		for _, set := range sets() {
			clear(got)
			set.CopyBox(got, src, &b)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %+v went wrong", set.ISA, b)
			}
		}
	}
}

// TestEmptyBoxes has boxes of nothing end at once, whatever else they say.
func TestEmptyBoxes(t *testing.T) {
	for _, b := range []op.BoxShape{
		{}, {Planes: 1 << 62, RowBytes: 1}, {Planes: 1 << 62, Rows: 1, SrcPlane: -1}, {Rows: 1 << 62, RowBytes: 1, DstRow: -1},
	} {
		New().CopyBox(nil, nil, &b)
	}
}

// BenchmarkCopyBox packs rows that lie twice their length apart, beside a copy of
// as many bytes in one piece.
func BenchmarkCopyBox(b *testing.B) {
	for _, size := range []int64{256 << 10, 8 << 20, 64 << 20} {
		for _, row := range []int64{4, 8, 16, 32, 64, 128, 256, 1 << 10, 6 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%d/rows_of_%d", size, row), func(b *testing.B) {
				box := op.BoxShape{Planes: 1, Rows: size / row, RowBytes: row, DstRow: row, SrcRow: 2 * row}
				dst, src := make([]byte, box.DstSpan()), make([]byte, box.SrcSpan())
				touch(dst)
				touch(src)
				set := New()
				compare(b, int(2*size/row*row), int(size), func() { set.CopyBox(dst, src, &box) })
			})
		}
	}
}
