package reshard

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mesh is ranks in one to three dimensions, in row-major order: the last
// dimension's coordinate changes first. Its text form is "2x8" for ranks 0 to
// 15, "2x8@16" for ranks 16 to 31, and "2x2@3,7,1,5" for ranks in any order.
type Mesh struct {
	Dims  []int
	Ranks []int // as many as the product of Dims, each once
}

// Limits of a mesh.
const (
	meshDimsMax  = 3
	meshRanksMax = 1 << 20
)

// NewMesh is the mesh of the given dimensions over ranks from first on.
func NewMesh(first int, dims ...int) Mesh {
	m := Mesh{Dims: slices.Clone(dims), Ranks: make([]int, meshSize(dims))}
	for i := range m.Ranks {
		m.Ranks[i] = first + i
	}
	return m
}

// meshSize is the product of dims, 0 if it is not that of a mesh.
func meshSize(dims []int) int {
	size := 1
	for _, n := range dims {
		if n < 1 || n > meshRanksMax/size {
			return 0
		}
		size *= n
	}
	return size
}

// ParseMesh reads the text form of a mesh.
func ParseMesh(text string) (Mesh, error) {
	shape, ranks, listed := strings.Cut(text, "@")
	var dims []int
	for _, part := range strings.Split(shape, "x") {
		n, err := parseCount(part)
		if err != nil {
			return Mesh{}, fmt.Errorf("mesh %q: bad dimension %q; write it like 2x8, or 2x8@16 to begin at rank 16", text, part)
		}
		dims = append(dims, n)
	}
	m := NewMesh(0, dims...)
	if listed {
		numbers, err := parseCounts(ranks)
		if err != nil {
			return Mesh{}, fmt.Errorf("mesh %q: bad rank in %q; write it like 2x8@16, or list all ranks", text, ranks)
		}
		if len(numbers) == 1 {
			m = NewMesh(numbers[0], dims...)
		} else {
			m.Ranks = numbers
		}
	}
	if err := m.Check(); err != nil {
		return Mesh{}, fmt.Errorf("mesh %q: %w", text, err)
	}
	return m, nil
}

// parseCounts reads numbers that commas separate.
func parseCounts(text string) ([]int, error) {
	var numbers []int
	for _, part := range strings.Split(text, ",") {
		n, err := parseCount(part)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// parseCount reads digits: neither signs nor spaces nor leading zeros, so that
// what is read is what is printed.
func parseCount(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != text || n < 0 {
		return 0, errors.New("not a number")
	}
	return int(n), nil
}

// Check says what is wrong with a mesh, nil if nothing is.
func (m Mesh) Check() error {
	if len(m.Dims) < 1 || len(m.Dims) > meshDimsMax {
		return fmt.Errorf("it has %d dimensions; a mesh has 1 to %d", len(m.Dims), meshDimsMax)
	}
	size := meshSize(m.Dims)
	if size == 0 {
		return fmt.Errorf("dimensions are 1 or more, and ranks at most %d", meshRanksMax)
	}
	if len(m.Ranks) != size {
		return fmt.Errorf("it has %d places and %d ranks; list each rank, or the first one only", size, len(m.Ranks))
	}
	sorted := slices.Sorted(slices.Values(m.Ranks))
	for i, rank := range sorted {
		if rank < 0 || rank >= meshRanksMax {
			return fmt.Errorf("rank %d is not from 0 to %d", rank, meshRanksMax-1)
		}
		if i > 0 && sorted[i-1] == rank {
			return fmt.Errorf("rank %d is in it twice", rank)
		}
	}
	return nil
}

// String is the mesh as text.
func (m Mesh) String() string {
	var b strings.Builder
	for i, n := range m.Dims {
		if i > 0 {
			b.WriteByte('x')
		}
		b.WriteString(strconv.Itoa(n))
	}
	consecutive := true
	for i, rank := range m.Ranks {
		consecutive = consecutive && rank == m.Ranks[0]+i
	}
	switch {
	case len(m.Ranks) == 0 || consecutive && m.Ranks[0] == 0:
	case consecutive:
		fmt.Fprintf(&b, "@%d", m.Ranks[0])
	default:
		for i, rank := range m.Ranks {
			b.WriteByte("@,"[min(i, 1)])
			b.WriteString(strconv.Itoa(rank))
		}
	}
	return b.String()
}

// Size is the number of ranks.
func (m Mesh) Size() int { return len(m.Ranks) }

// Coordinates says where in the mesh a rank is, and whether it is.
func (m Mesh) Coordinates(rank int) ([]int, bool) {
	place := slices.Index(m.Ranks, rank)
	if place < 0 {
		return nil, false
	}
	return m.at(place), true
}

// at is the coordinates of the place-th rank.
func (m Mesh) at(place int) []int {
	at := make([]int, len(m.Dims))
	for d := len(m.Dims) - 1; d >= 0; d-- {
		at[d], place = place%m.Dims[d], place/m.Dims[d]
	}
	return at
}

// Slice is the ranks with the given coordinate in dimension dim, as a mesh of
// the other dimensions: where one expert of many lies, say. The slice of a mesh
// of one dimension is one rank.
func (m Mesh) Slice(dim, coordinate int) Mesh {
	s := Mesh{Dims: slices.Delete(slices.Clone(m.Dims), dim, dim+1)}
	if len(s.Dims) == 0 {
		s.Dims = []int{1}
	}
	inner := 1
	for _, n := range m.Dims[dim+1:] {
		inner *= n
	}
	for place, rank := range m.Ranks {
		if place/inner%m.Dims[dim] == coordinate {
			s.Ranks = append(s.Ranks, rank)
		}
	}
	return s
}
