package op_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

// fitting is a box between buffers that it fits, 12 rows of 5 bytes.
func fitting() (op.BoxShape, op.Op) {
	b := op.BoxShape{Planes: 3, Rows: 4, RowBytes: 5, DstRow: 6, DstPlane: 30, SrcRow: 10, SrcPlane: 1}
	return b, op.Op{Kind: op.CopyBox, Peer: -1, Bytes: 60, Dst: at(90, 7), Src: at(40, 3)}
}

func TestCheckBox(t *testing.T) {
	const last = math.MaxInt64
	type box = op.BoxShape
	for name, c := range map[string]struct {
		want   error
		change func(b *box, o *op.Op)
	}{
		"it fits":                      {nil, func(*box, *op.Op) {}},
		"one byte short of src":        {op.ErrRange, func(_ *box, o *op.Op) { o.Src = at(39, 3) }},
		"one byte short of dst":        {op.ErrRange, func(_ *box, o *op.Op) { o.Dst = at(89, 7) }},
		"no dst":                       {op.ErrRange, func(_ *box, o *op.Op) { o.Dst = op.View{} }},
		"no src":                       {op.ErrRange, func(_ *box, o *op.Op) { o.Src = op.View{} }},
		"before dst":                   {op.ErrRange, func(_ *box, o *op.Op) { o.Dst.Off = -1 }},
		"least offset":                 {op.ErrRange, func(_ *box, o *op.Op) { o.Src.Off = math.MinInt64 }},
		"no box":                       {op.ErrBox, func(_ *box, o *op.Op) { o.Box = nil }},
		"other bytes":                  {op.ErrBox, func(_ *box, o *op.Op) { o.Bytes = 59 }},
		"negative bytes":               {op.ErrRange, func(b *box, o *op.Op) { b.RowBytes, o.Bytes = -5, -60 }},
		"negative sizes":               {op.ErrBox, func(b *box, _ *op.Op) { b.Rows, b.RowBytes = -4, -5 }},
		"rows overlap":                 {op.ErrBox, func(b *box, _ *op.Op) { b.DstRow = 4 }},
		"rows at one place":            {op.ErrBox, func(b *box, _ *op.Op) { b.DstRow = 0 }},
		"rows backwards":               {op.ErrBox, func(b *box, _ *op.Op) { b.DstRow = -6 }},
		"planes overlap":               {op.ErrBox, func(b *box, _ *op.Op) { b.DstPlane = 22 }},
		"planes touch":                 {nil, func(b *box, _ *op.Op) { b.DstPlane = 23 }},
		"planes between rows":          {nil, func(b *box, _ *op.Op) { b.DstRow, b.DstPlane = 15, 5 }},
		"planes hardly between rows":   {op.ErrBox, func(b *box, _ *op.Op) { b.DstRow, b.DstPlane = 14, 5 }},
		"one row read all the time":    {nil, func(b *box, o *op.Op) { b.SrcRow, b.SrcPlane, o.Src = 0, 0, at(5, 0) }},
		"rows read backwards":          {op.ErrRange, func(b *box, _ *op.Op) { b.SrcRow = -1 }},
		"planes read backwards":        {op.ErrRange, func(b *box, _ *op.Op) { b.SrcPlane = -1 }},
		"rows far away":                {op.ErrRange, func(b *box, _ *op.Op) { b.SrcRow = last }},
		"planes far away":              {op.ErrRange, func(b *box, _ *op.Op) { b.SrcPlane = last / 2 }},
		"rows to far away":             {op.ErrRange, func(b *box, _ *op.Op) { b.DstRow = last }},
		"planes to far away":           {op.ErrRange, func(b *box, _ *op.Op) { b.DstPlane = last }},
		"one plane, any distance":      {nil, func(b *box, o *op.Op) { b.Planes, o.Bytes, b.DstPlane, b.SrcPlane = 1, 20, -1, last }},
		"one row, any distance":        {nil, func(b *box, o *op.Op) { b.Rows, o.Bytes, b.DstRow, b.SrcRow = 1, 15, -1, last }},
		"no planes, anything else":     {nil, func(b *box, o *op.Op) { *b, o.Bytes = box{Rows: last, RowBytes: last, DstRow: -1, SrcPlane: -1}, 0 }},
		"no rows at the ends":          {nil, func(b *box, o *op.Op) { b.Rows, o.Bytes, o.Dst.Off, o.Src.Off = 0, 0, 90, 40 }},
		"no rows past the end":         {op.ErrRange, func(b *box, o *op.Op) { b.Rows, o.Bytes, o.Dst.Off = 0, 0, 91 }},
		"nothing, without buffers":     {op.ErrRange, func(b *box, o *op.Op) { *b, o.Bytes, o.Dst, o.Src = box{}, 0, op.View{}, op.View{} }},
		"more than can be counted":     {op.ErrBox, func(b *box, _ *op.Op) { b.Planes, b.Rows = 1<<31, 1<<31 }},
		"a product that wraps to 60":   {op.ErrBox, func(b *box, _ *op.Op) { b.Planes = 3 + 1<<62 }},
		"as many as there can be":      {op.ErrRange, func(b *box, o *op.Op) { b.Planes, b.Rows, b.RowBytes, o.Bytes = 1, 1, last, last }},
		"rows that wrap around to fit": {op.ErrRange, func(b *box, _ *op.Op) { b.SrcRow = 1<<62 + 10 }},
	} {
		for _, kind := range []op.Kind{op.CopyBox, op.GetBox} {
			b, o := fitting()
			o.Kind, o.Box = kind, &b
			c.change(&b, &o)
			if err := o.Check(); !errors.Is(err, c.want) {
				t.Errorf("%v, %s: %v, want %v", kind, name, err, c.want)
			}
		}
	}
}

// starts are where the rows of a box begin at one end, in no order.
func starts(b *op.BoxShape, row, plane int64) (at []int64) {
	for i := range b.Planes {
		for j := range b.Rows {
			at = append(at, i*plane+j*row)
		}
	}
	return at
}

// TestApart looks for rows that overlap, one beside the other. Apart may call
// rows overlapping that interleave without a plane or a row being whole between
// the others, and no others.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	missed := 0
	for range 20_000 {
		b := op.BoxShape{Planes: r.Int64N(4), Rows: r.Int64N(4), RowBytes: r.Int64N(4), DstRow: r.Int64N(12), DstPlane: r.Int64N(12)}
		rows := slices.Sorted(slices.Values(starts(&b, b.DstRow, b.DstPlane)))
		apart := true
		for i := 1; i < len(rows); i++ {
			apart = apart && rows[i]-rows[i-1] >= b.RowBytes
		}
		switch {
		case b.Apart() && !apart && b.Bytes() > 0:
			t.Fatalf("%+v: rows overlap", b)
		case !b.Apart() && apart:
			missed++
		}
	}
	if missed > 400 {
		t.Errorf("%d of 20,000 boxes are refused although their rows lie apart", missed)
	}
}

// TestJoined compares the bytes of a box, pair by pair, with those of its other
// form.
func TestJoined(t *testing.T) {
	pairs := func(b *op.BoxShape) (all [][2]int64) {
		to, from := starts(b, b.DstRow, b.DstPlane), starts(b, b.SrcRow, b.SrcPlane)
		for n := range to {
			for i := range b.RowBytes {
				all = append(all, [2]int64{to[n] + i, from[n] + i})
			}
		}
		return all
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := op.BoxShape{Planes: r.Int64N(4), Rows: r.Int64N(4), RowBytes: r.Int64N(4)}
		b.DstRow, b.SrcRow = b.RowBytes+r.Int64N(2), b.RowBytes+r.Int64N(2)
		b.DstPlane, b.SrcPlane = b.Rows*b.DstRow+r.Int64N(2), b.Rows*b.SrcRow+r.Int64N(2)
		j := b.Joined()
		if !slices.Equal(pairs(&b), pairs(&j)) {
			t.Fatalf("%+v is not %+v", b, j)
		}
		if again := j.Joined(); again != j && j.Bytes() > 0 {
			t.Fatalf("%+v, joined %+v, can be joined to %+v", b, j, again)
		}
		run := b.Bytes() == b.DstSpan() && b.Bytes() == b.SrcSpan()
		if run != (j.Rows == 1) || j.Rows == 1 && j.Planes != 1 {
			t.Fatalf("%+v: joined %+v", b, j)
		}
	}
}

// exactSpan is how far a box reaches, by numbers that have no end.
func exactSpan(b *op.BoxShape, row, plane int64) *big.Int {
	span := big.NewInt(b.RowBytes)
	for _, d := range [...]struct{ count, step int64 }{{b.Rows, row}, {b.Planes, plane}} {
		span.Add(span, new(big.Int).Mul(big.NewInt(d.count-1), big.NewInt(d.step)))
	}
	return span
}

// FuzzCheckBox holds that no row of a box that passes lies outside its buffer.
func FuzzCheckBox(f *testing.F) {
	b, _ := fitting()
	f.Add(b.Planes, b.Rows, b.RowBytes, b.DstRow, b.DstPlane, b.SrcRow, b.SrcPlane, int64(7), int64(3), int64(90), int64(40))
	f.Add(int64(1)<<62, int64(4), int64(1), int64(1)<<62, int64(-1), int64(0), int64(0), int64(0), int64(0), int64(8), int64(8))
	f.Add(int64(1), int64(1), int64(math.MaxInt64), int64(-1), int64(-1), int64(-1), int64(-1), int64(1), int64(0), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Add(int64(3), int64(1)<<61, int64(2), int64(2), int64(1)<<62, int64(8), int64(0), int64(0), int64(0), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, planes, rows, rowBytes, dstRow, dstPlane, srcRow, srcPlane, dst, src, dstSize, srcSize int64) {
		if dstSize < 0 || srcSize < 0 {
			return // no device has such a buffer
		}
		b := op.BoxShape{Planes: planes, Rows: rows, RowBytes: rowBytes, DstRow: dstRow, DstPlane: dstPlane, SrcRow: srcRow, SrcPlane: srcPlane}
		o := op.Op{Kind: op.CopyBox, Bytes: b.Bytes(), Dst: at(dstSize, dst), Src: at(srcSize, src), Box: &b}
		if o.Check() != nil {
			return
		}
		if planes < 0 || rows < 0 || rowBytes < 0 || dst < 0 || src < 0 || dst > dstSize || src > srcSize {
			t.Fatalf("%+v passes", b)
		}
		bytes := new(big.Int).Mul(big.NewInt(planes), new(big.Int).Mul(big.NewInt(rows), big.NewInt(rowBytes)))
		if !bytes.IsInt64() || bytes.Int64() != o.Bytes {
			t.Fatalf("%+v has %v bytes, not %d", b, bytes, o.Bytes)
		}
		if o.Bytes == 0 {
			return
		}
		for _, side := range [...]struct{ row, plane, off, size int64 }{{dstRow, dstPlane, dst, dstSize}, {srcRow, srcPlane, src, srcSize}} {
			one := b
			if rows == 1 {
				side.row = 0
			}
			if planes == 1 {
				side.plane = 0
			}
			end := exactSpan(&one, side.row, side.plane)
			if side.row < 0 || side.plane < 0 || end.Add(end, big.NewInt(side.off)).Cmp(big.NewInt(side.size)) > 0 {
				t.Fatalf("%+v from %d on reaches out of %d bytes", b, side.off, side.size)
			}
		}
		if j := b.Joined(); j.Bytes() != b.Bytes() || j.DstSpan() != b.DstSpan() || j.SrcSpan() != b.SrcSpan() || !j.Apart() {
			t.Fatalf("%+v joined is %+v", b, j)
		}
	})
}
