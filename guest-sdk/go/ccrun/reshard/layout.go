package reshard

import (
	"fmt"
	"math"
	"strings"
)

// Layout is how a tensor lies on a mesh. Shards are those of torch.chunk, which
// DTensor uses: of n elements over k ranks each rank has ceil(n/k), a later one
// what is left, and further ones nothing. As text it is "2x8@16:S0,R".
type Layout struct {
	Mesh       Mesh
	Placements Placements
}

// ParseLayout reads the text form of a layout.
func ParseLayout(text string) (Layout, error) {
	mesh, placements, ok := strings.Cut(text, ":")
	if !ok {
		return Layout{}, fmt.Errorf("layout %q has no colon; write mesh and placements, like 2x8:S0,R", text)
	}
	m, err := ParseMesh(mesh)
	if err != nil {
		return Layout{}, err
	}
	p, err := ParsePlacements(placements)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Mesh: m, Placements: p}
	return l, l.checkPlacements(math.MaxInt)
}

// String is the layout as text.
func (l Layout) String() string { return l.Mesh.String() + ":" + l.Placements.String() }

// Check says what is wrong with the layout of a tensor of so many dimensions,
// nil if nothing is.
func (l Layout) Check(dims int) error {
	if err := l.Mesh.Check(); err != nil {
		return fmt.Errorf("mesh %s: %w", l.Mesh, err)
	}
	return l.checkPlacements(dims)
}

func (l Layout) checkPlacements(dims int) error {
	if len(l.Placements) != len(l.Mesh.Dims) {
		return fmt.Errorf("layout %s: %d placements for %d mesh dimensions; give one each", l, len(l.Placements), len(l.Mesh.Dims))
	}
	first := -1
	for i, p := range l.Placements {
		switch {
		case p.Kind == Replicate:
		case p.Kind == Shard && (p.Dim < 0 || p.Dim >= dims):
			return fmt.Errorf("layout %s shards dimension %d of a tensor that has %d; they count from 0", l, p.Dim, dims)
		case p.Kind == Shard:
		case p.Kind != Partial || int(p.Red) >= len(redOps):
			return fmt.Errorf("layout %s: unknown %s", l, p)
		case first >= 0 && l.Placements[first].Red != p.Red:
			return fmt.Errorf("layout %s: partial by %s and by %s at a time, the result of which depends on the order; use one of them", l, l.Placements[first], p)
		default:
			first = i
		}
	}
	return nil
}

// Box is a part of a tensor: where it starts and how far it goes, for each
// dimension of the tensor.
type Box struct {
	Start, Size []int64
}

// Elements is how many elements the box has.
func (b Box) Elements() int64 {
	n := int64(1)
	for _, size := range b.Size {
		n *= size
	}
	return n
}

// Local is the part of a tensor of the given shape that a rank holds, in
// row-major order, and whether it is in the mesh at all. Size is the shape of
// what it holds; one of them is 0 if it holds nothing. The layout must be sound
// ([Layout.Check]).
func (l Layout) Local(shape []int64, rank int) (Box, bool) {
	at, ok := l.Mesh.Coordinates(rank)
	if !ok {
		return Box{}, false
	}
	box := Box{Start: make([]int64, len(shape)), Size: append([]int64(nil), shape...)}
	for i, p := range l.Placements {
		if p.Kind == Shard {
			start, size := chunk(box.Size[p.Dim], int64(l.Mesh.Dims[i]), int64(at[i]))
			box.Start[p.Dim] += start
			box.Size[p.Dim] = size
		}
	}
	return box, true
}

// chunk is where the i-th of k chunks of n elements starts, and its size.
func chunk(n, k, i int64) (start, size int64) {
	each := n / k
	if n%k > 0 {
		each++
	}
	if each > 0 && i > n/each { // it might overflow
		return n, 0
	}
	start = min(i*each, n)
	return start, min(each, n-start)
}
