package reshard

import (
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Describe is the i-th entry in a line, with all that an entry has.
func (p *Plan) Describe(i int) string {
	e := &p.Entries[i]
	t := &p.Moves[e.Tensor].Tensor
	var b strings.Builder
	fmt.Fprintf(&b, "entry %d (tensor %d %s, cell %d): %s ", i, e.Tensor, t, e.Cell, e.Kind())
	if e.Parts != nil {
		fmt.Fprintf(&b, "%s of%s at ", Placement{Kind: Partial, Red: e.Red}, rankList(e.Parts))
	}
	fmt.Fprintf(&b, "rank %d ->%s, %d bytes (%dx%dx%d) from %s to %s", e.Source, rankList(e.Destinations), e.Bytes(), e.Planes, e.Rows, e.RowBytes, e.From, e.To)
	if e.Transport != ccrun.Packed {
		fmt.Fprintf(&b, ", transport %d", e.Transport)
	}
	return b.String()
}

// String is the place as text: where it starts, and the distances of rows and
// of planes.
func (p Place) String() string { return fmt.Sprintf("%d+%d+%d", p.Offset, p.Row, p.Plane) }

func rankList(ranks []int) string {
	var b strings.Builder
	for _, r := range ranks {
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
}

// Summary counts what a plan moves.
type Summary struct {
	Entries [4]int   // of each [Kind]
	Bytes   [4]int64 // of each, an entry counted once
	// Wire is the bytes that ranks get from others: destinations, and those who
	// add parts up, in whatever order, from one another.
	Wire int64
	Cut  int64 // bytes of all cells: each tensor once
}

// Summary counts what the plan moves.
func (p *Plan) Summary() Summary {
	var s Summary
	for i := range p.Entries {
		e := &p.Entries[i]
		s.Entries[e.Kind()]++
		s.Bytes[e.Kind()] += e.Bytes()
		_, stays := e.Takes(e.Source)
		receivers := len(e.Destinations) + max(len(e.Parts)-1, 0)
		if stays {
			receivers--
		}
		s.Wire += int64(receivers) * e.Bytes()
		if i == 0 || p.Entries[i-1].Tensor != e.Tensor || p.Entries[i-1].Cell != e.Cell {
			s.Cut += e.Bytes()
		}
	}
	return s
}
