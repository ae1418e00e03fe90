package reshard

import "math"

// axis is one dimension of a box in memory: how many of what is inside, and the
// bytes from one to the next on both sides.
type axis struct {
	count, from, to int64
}

// piece is a box with at most three axes, the innermost of which is bytes.
type piece struct {
	planes, rows, rowBytes int64
	from, to               Place
}

func (p *piece) bytes() int64 { return p.planes * p.rows * p.rowBytes }

// axes describes a cell of a tensor in the memory of those who hold the shards
// it lies in: where it begins on both sides, and its axes, the outermost first,
// the last one bytes. Axes of one are left out, and those that follow one
// another without gaps on both sides are joined.
func axes(cell []overlap, elementBytes int64) (from, to int64, joined []axis) {
	joined = []axis{{elementBytes, 1, 1}} // innermost first, while it grows
	fromStep, toStep := elementBytes, elementBytes
	for d := len(cell) - 1; d >= 0; d-- {
		c := &cell[d]
		from += (c.start - c.source.start) * fromStep
		to += (c.start - c.target.start) * toStep
		inner := &joined[len(joined)-1]
		switch count := c.end - c.start; {
		case count == 1:
		case fromStep == inner.count*inner.from && toStep == inner.count*inner.to:
			inner.count *= count
		default:
			joined = append(joined, axis{count, fromStep, toStep})
		}
		fromStep *= c.source.end - c.source.start
		toStep *= c.target.end - c.target.start
	}
	for i, j := 0, len(joined)-1; i < j; i, j = i+1, j-1 {
		joined[i], joined[j] = joined[j], joined[i]
	}
	return from, to, joined
}

// cutter makes pieces of boxes, as few as its limit allows.
type cutter struct {
	elementBytes int64
	bytesMax     int64 // 0 for no limit
}

// split says how a box is cut: into each step of its first axes, and along the
// next one after every per-th.
func (c *cutter) split(box []axis) (loops int, per int64) {
	loops = max(len(box)-3, 0)
	bytes := int64(1)
	for i := len(box) - 1; i >= loops; i-- {
		if per := c.per(bytes); per < box[i].count {
			return i, per
		}
		bytes *= box[i].count
	}
	return loops, box[loops].count
}

// per is how many parts of so many bytes fit in a piece, at least one: of
// single bytes, as many as are whole elements.
func (c *cutter) per(bytes int64) int64 {
	switch {
	case c.bytesMax == 0:
		return math.MaxInt64
	case bytes == 1:
		return max(c.bytesMax/c.elementBytes, 1) * c.elementBytes
	}
	return max(c.bytesMax/bytes, 1)
}

// count is how many pieces a box becomes; more than entriesMax are not counted.
func (c *cutter) count(box []axis) int64 {
	loops, per := c.split(box)
	n := min((box[loops].count-1)/per+1, entriesMax+1)
	for _, a := range box[:loops] {
		n = min(n*min(a.count, entriesMax+1), entriesMax+1)
	}
	return n
}

// cut appends the pieces of a box that begins at from and to.
func (c *cutter) cut(pieces []piece, from, to int64, box []axis) []piece {
	loops, per := c.split(box)
	return appendPieces(pieces, from, to, box, loops, per)
}

func appendPieces(pieces []piece, from, to int64, box []axis, loops int, per int64) []piece {
	outer := box[0]
	if loops > 0 {
		for i := range outer.count {
			pieces = appendPieces(pieces, from+i*outer.from, to+i*outer.to, box[1:], loops-1, per)
		}
		return pieces
	}
	for i := int64(0); i < outer.count; i += per {
		first := axis{min(per, outer.count-i), outer.from, outer.to}
		pieces = append(pieces, newPiece(from+i*outer.from, to+i*outer.to, first, box[1:]))
	}
	return pieces
}

// newPiece is a box of at most three axes. Distances that do not count, because
// there is one row or plane, are what they would be without gaps.
func newPiece(from, to int64, first axis, rest []axis) piece {
	axes := [3]axis{{count: 1}, {count: 1}, {count: 1}} // planes, rows, bytes
	copy(axes[3-len(rest):], rest)
	axes[2-len(rest)] = first
	p := piece{
		planes: axes[0].count, rows: axes[1].count, rowBytes: axes[2].count,
		from: Place{from, axes[1].from, axes[0].from},
		to:   Place{to, axes[1].to, axes[0].to},
	}
	for _, place := range []*Place{&p.from, &p.to} {
		if p.rows == 1 {
			place.Row = p.rowBytes
		}
		if p.planes == 1 {
			place.Plane = p.rows * place.Row
		}
	}
	return p
}
