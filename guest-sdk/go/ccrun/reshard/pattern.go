package reshard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// pattern is what moves of tensors of one shape between the same layouts have
// in common, which is all but who of several is a source.
type pattern struct {
	cells   []cell
	red     ccrun.RedOp
	entries int
	ranks   int // the highest rank of a source, and 1
}

// cell is a part of the tensor that lies in one shard of either layout.
type cell struct {
	pieces    []piece
	transfers []transfer
}

// pattern finds a move's. A model has thousands of tensors and few patterns.
func (b *builder) pattern(m *Move) (*pattern, error) {
	key := m.key()
	if known, ok := b.patterns[key]; ok {
		return known, nil
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	p, err := newPattern(m, &b.options)
	if err != nil {
		return nil, err
	}
	b.patterns[key] = p
	return p, nil
}

// key has all that a pattern depends on.
func (m *Move) key() string {
	key := binary.AppendVarint(nil, int64(m.Tensor.Dtype))
	key = binary.AppendVarint(key, int64(len(m.Tensor.Shape)))
	for _, n := range m.Tensor.Shape {
		key = binary.AppendVarint(key, n)
	}
	for _, l := range [...]*Layout{&m.Source, &m.Target} {
		for _, list := range [...][]int{l.Mesh.Dims, l.Mesh.Ranks} {
			key = binary.AppendVarint(key, int64(len(list)))
			for _, n := range list {
				key = binary.AppendVarint(key, int64(n))
			}
		}
		key = binary.AppendVarint(key, int64(len(l.Placements)))
		for _, p := range l.Placements {
			key = binary.AppendVarint(append(key, byte(p.Kind), byte(p.Red)), int64(p.Dim))
		}
	}
	return string(key)
}

func (m *Move) check() error {
	if err := m.Tensor.check(); err != nil {
		return err
	}
	if err := m.Source.Check(len(m.Tensor.Shape)); err != nil {
		return fmt.Errorf("source %w", err)
	}
	for i, p := range m.Source.Placements {
		if p.Kind == Partial && p.Red == ccrun.Avg && m.Source.Mesh.Dims[i] > 1 {
			return fmt.Errorf("source layout %s: parts are added one after the other, which makes no average; use P(sum), and divide", m.Source)
		}
	}
	if err := m.Target.Check(len(m.Tensor.Shape)); err != nil {
		return fmt.Errorf("target %w", err)
	}
	if slices.ContainsFunc(m.Target.Placements, func(p Placement) bool { return p.Kind == Partial }) {
		return fmt.Errorf("target layout %s is partial; a target holds whole values, so use R or S there", m.Target)
	}
	return nil
}

var errManyEntries = errors.New("it alone becomes too many entries; raise MaxEntryBytes, or shard the same dimensions on both sides")

func newPattern(m *Move, o *Options) (*pattern, error) {
	p := &pattern{ranks: 1 + slices.Max(m.Source.Mesh.Ranks)}
	for _, placement := range m.Source.Placements {
		if placement.Kind == Partial {
			p.red = placement.Red
		}
	}
	cuts, cells := cuts(m.Source, m.Target, m.Tensor.Shape), int64(1)
	for _, c := range cuts {
		if cells *= int64(len(c)); cells > entriesMax {
			return nil, errManyEntries
		}
	}
	p.cells = make([]cell, 0, cells)
	source, target := newSide(m.Source), newSide(m.Target)
	r := router{o.RanksPerNode, o.Split}
	cutter := cutter{m.Tensor.Dtype.Bytes(), o.MaxEntryBytes}
	total := int64(0)
	eachCell(cuts, func(at []overlap) {
		from, to, box := axes(at, cutter.elementBytes)
		pieces := cutter.count(box)
		if total += pieces; total > entriesMax {
			return
		}
		sourcePlace, targetPlace := places(at)
		c := cell{pieces: cutter.cut(make([]piece, 0, pieces), from, to, box)}
		c.transfers = r.transfers(source.holders(sourcePlace), target.holders(targetPlace).firsts)
		total += pieces * int64(len(c.transfers)-1)
		p.cells = append(p.cells, c)
	})
	if total > entriesMax {
		return nil, errManyEntries
	}
	p.entries = int(total)
	return p, nil
}

// places are the first places in both meshes of those who hold a cell.
func places(cell []overlap) (source, target int) {
	for i := range cell {
		source += cell[i].source.place
		target += cell[i].target.place
	}
	return source, target
}
