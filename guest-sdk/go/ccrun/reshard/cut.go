package reshard

// span is a shard along one tensor dimension. place is what it adds to the
// place in the mesh of the ranks that hold it.
type span struct {
	start, end int64
	place      int
}

// spans are the shards of n elements of tensor dimension dim in a layout,
// ascending, without empty ones: they cover all n. The mesh dimensions that
// shard the tensor dimension do so one after the other.
func (l Layout) spans(dim int, n int64) []span {
	if n == 0 {
		return nil
	}
	spans := []span{{0, n, 0}}
	stride := l.Mesh.Size()
	for i, p := range l.Placements {
		ways := l.Mesh.Dims[i]
		stride /= ways
		if p.Kind != Shard || p.Dim != dim {
			continue
		}
		var finer []span
		for _, s := range spans {
			for c := range ways {
				start, size := chunk(s.end-s.start, int64(ways), int64(c))
				if size == 0 {
					break // and so are all later ones
				}
				finer = append(finer, span{s.start + start, s.start + start + size, s.place + c*stride})
			}
		}
		spans = finer
	}
	return spans
}

// overlap is the elements that a shard of the source and one of the target have
// in common.
type overlap struct {
	start, end     int64
	source, target span
}

// overlaps are the common refinement of two ways to cut the same elements. It
// looks at shards that overlap and at no others.
func overlaps(source, target []span) []overlap {
	var cut []overlap
	for s, t := 0, 0; s < len(source) && t < len(target); {
		o := overlap{
			start:  max(source[s].start, target[t].start),
			end:    min(source[s].end, target[t].end),
			source: source[s], target: target[t],
		}
		cut = append(cut, o)
		if source[s].end == o.end {
			s++
		}
		if target[t].end == o.end {
			t++
		}
	}
	return cut
}

// cuts are the overlaps of each dimension of a tensor. A cell is one of each.
func cuts(source, target Layout, shape []int64) [][]overlap {
	cuts := make([][]overlap, len(shape))
	for d, n := range shape {
		cuts[d] = overlaps(source.spans(d, n), target.spans(d, n))
	}
	return cuts
}

// eachCell calls f with each combination of overlaps, in row-major order. f
// must not keep the slice. A tensor of no dimensions has one cell, one without
// elements has none.
func eachCell(cuts [][]overlap, f func(cell []overlap)) {
	at, cell := make([]int, len(cuts)), make([]overlap, len(cuts))
	for _, c := range cuts {
		if len(c) == 0 {
			return
		}
	}
	for {
		for d, i := range at {
			cell[d] = cuts[d][i]
		}
		f(cell)
		d := len(at) - 1
		for ; d >= 0 && at[d] == len(cuts[d])-1; d-- {
			at[d] = 0
		}
		if d < 0 {
			return
		}
		at[d]++
	}
}
