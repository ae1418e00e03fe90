package main

import (
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// boxes are entries that no planner would make: any ranks, any boxes, with gaps
// between rows and planes, which differ from rank to rank.
type boxes struct {
	list                     []ccrun.PipelineEntry // places are of this rank
	rank                     int
	sourceBytes, targetBytes int64
}

// route is whence and where to an entry goes.
type route struct {
	source              int
	destinations, parts []int
	dtype               ccrun.Dtype
	red                 ccrun.RedOp
}

func drawRoute(d *draw, size int) route {
	r := route{source: d.n(size), dtype: dtypes[d.n(len(dtypes))], red: redOps[d.n(len(redOps))]}
	switch d.n(4) {
	case 0:
		r.destinations = []int{r.source}
	case 1:
		r.destinations = d.some(1, size)
	default:
		r.destinations = d.some(d.from(1, min(size, 6)), size)
	}
	if d.one(3) {
		r.parts = d.some(d.from(1, min(size, 6)), size)
		if !slices.Contains(r.parts, r.source) {
			r.source = r.parts[d.n(len(r.parts))]
		}
	}
	return r
}

// drawBoxes draws what is the same on all ranks from d and what is the rank's
// own from own.
func drawBoxes(d, own *draw, rank, size int) *boxes {
	b := &boxes{rank: rank, sourceBytes: int64(own.n(100)), targetBytes: int64(own.n(100))}
	routes := make([]route, d.from(1, 5))
	for i := range routes {
		routes[i] = drawRoute(d, size)
	}
	rowMax, rowsMax := d.from(1, 100), d.from(1, 6)
	for i := range d.from(1, 24) {
		r := routes[d.n(len(routes))]
		b.list = append(b.list, ccrun.PipelineEntry{
			Source: r.source, Destinations: r.destinations, Parts: r.parts, Dtype: r.dtype, RedOp: r.red, Tensor: i, Cell: d.n(3),
			Planes: int64(d.from(1, 3)), Rows: int64(d.from(1, rowsMax)), RowBytes: int64(d.from(1, rowMax)) * r.dtype.Bytes(),
		})
	}
	for i := range b.list {
		e := &b.list[i]
		reads, writes := takes(e, rank)
		e.Src = drawPlace(own, e, reads, &b.sourceBytes)
		e.Dst = drawPlace(own, e, writes, &b.targetBytes)
	}
	return b
}

// takes reports whether a rank reads a part of an entry, and whether it writes
// it.
func takes(e *ccrun.PipelineEntry, rank int) (reads, writes bool) {
	return rank == e.Source || slices.Contains(e.Parts, rank), slices.Contains(e.Destinations, rank)
}

// drawPlace puts the box of an entry behind what is in a buffer already. Where
// it does not count, it is nonsense.
func drawPlace(own *draw, e *ccrun.PipelineEntry, counts bool, bytes *int64) ccrun.Place {
	if !counts {
		return ccrun.Place{Offset: 1 << 40, Row: 3, Plane: -1}
	}
	element := e.Dtype.Bytes()
	at := ccrun.Place{Row: e.RowBytes}
	if own.one(2) {
		at.Row += element * int64(own.from(1, 9))
	}
	at.Plane = at.Row * e.Rows
	if own.one(2) {
		at.Plane += element * int64(own.from(1, 9))
	}
	if len(e.Parts) == 0 && own.one(4) { // where nothing is added up, nothing need be aligned
		element = 1
	}
	at.Offset = (*bytes + element - 1) / element * element
	*bytes = at.Offset + e.Planes*at.Plane + element*int64(own.n(9))
	return at
}

func (b *boxes) entries() []ccrun.PipelineEntry { return b.list }

func (b *boxes) sizes() (source, target int64) { return b.sourceBytes, b.targetBytes }

func (b *boxes) source(image []byte, salt uint64) {
	for i := range b.list {
		e := &b.list[i]
		if reads, _ := takes(e, b.rank); !reads {
			continue
		}
		part := slices.Index(e.Parts, b.rank)
		eachElement(e, e.Src, image, func(to []byte, index int) {
			at := element{salt, uint64(i), uint64(index)}
			if part < 0 {
				at.whole(to)
			} else {
				encode(to, e.Dtype, at.part(e.Dtype, e.RedOp, part))
			}
		})
	}
}

func (b *boxes) target(image []byte, salt uint64) {
	for i := range b.list {
		e := &b.list[i]
		if _, writes := takes(e, b.rank); !writes {
			continue
		}
		eachElement(e, e.Dst, image, func(to []byte, index int) {
			at := element{salt, uint64(i), uint64(index)}
			if len(e.Parts) == 0 {
				at.whole(to)
			} else {
				at.total(to, e.Dtype, e.RedOp, len(e.Parts))
			}
		})
	}
}

// eachElement visits the elements of an entry's box where it lies in an image.
func eachElement(e *ccrun.PipelineEntry, at ccrun.Place, image []byte, visit func(to []byte, index int)) {
	size, index := e.Dtype.Bytes(), 0
	for plane := range e.Planes {
		for row := range e.Rows {
			start := at.Offset + plane*at.Plane + row*at.Row
			for offset := int64(0); offset < e.RowBytes; offset += size {
				visit(image[start+offset:][:size], index)
				index++
			}
		}
	}
}
