package main

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// tensors are moved between meshes, by a plan of package reshard. What must
// come of it is known without the plan: each rank of the target gets its part.
type tensors struct {
	plan                         *reshard.Plan
	rank                         int
	list                         []ccrun.PipelineEntry
	sourceOffsets, targetOffsets []int64
	sourceBytes, targetBytes     int64
}

// drawTensors draws what is the same on all ranks from d and what is the rank's
// own from own.
func drawTensors(d, own *draw, rank, size int) (*tensors, error) {
	source, target := drawMesh(d, size), drawMesh(d, size)
	var moves []reshard.Move
	for i := range d.from(1, 5) {
		t := reshard.Tensor{Name: fmt.Sprintf("tensor%d", i), Dtype: dtypes[d.n(len(dtypes))], Shape: drawShape(d)}
		moves = append(moves, reshard.Move{Tensor: t, Source: drawLayout(d, source, len(t.Shape), true), Target: drawLayout(d, target, len(t.Shape), false)})
	}
	o := reshard.Options{Split: reshard.Split(d.n(3))}
	if d.one(2) {
		o.MaxEntryBytes = int64(d.from(8, 2000))
	}
	if d.one(2) {
		o.RanksPerNode = d.from(1, 8)
	}
	plan, err := reshard.New(moves, o)
	if err != nil {
		return nil, err
	}
	t := &tensors{plan: plan, rank: rank}
	t.sourceOffsets, t.sourceBytes = offsets(own, moves, rank, func(m *reshard.Move) reshard.Layout { return m.Source })
	t.targetOffsets, t.targetBytes = offsets(own, moves, rank, func(m *reshard.Move) reshard.Layout { return m.Target })
	for i := range plan.Entries {
		t.list = append(t.list, t.entry(&plan.Entries[i]))
	}
	return t, nil
}

// drawMesh draws a mesh of up to 6x5x2 of the world's ranks.
func drawMesh(d *draw, size int) reshard.Mesh {
	most := [...]int{6, 5, 2}
	dims, ranks := []int{}, 1
	for i := range d.from(1, 3) {
		n := min(d.from(1, most[i]), size/ranks)
		dims, ranks = append(dims, n), ranks*n
	}
	mesh := reshard.NewMesh(d.n(size-ranks+1), dims...)
	if d.one(3) {
		mesh.Ranks = d.order(size)[:ranks]
	}
	return mesh
}

// drawShape draws a tensor of up to some 4,000 elements in one to four
// dimensions.
func drawShape(d *draw) []int64 {
	shape, most := []int64{}, 4000
	for range d.from(1, 4) {
		n := d.from(1, max(1, min(most, []int{7, 40, 300}[d.n(3)])))
		shape, most = append(shape, int64(n)), most/n
	}
	return shape
}

func drawLayout(d *draw, mesh reshard.Mesh, dims int, isSource bool) reshard.Layout {
	l := reshard.Layout{Mesh: mesh}
	red, partial := redOps[d.n(len(redOps))], isSource && d.one(2)
	for range mesh.Dims {
		p := reshard.Placement{Kind: reshard.Replicate}
		switch kind := d.n(4); {
		case kind < 2:
			p = reshard.Placement{Kind: reshard.Shard, Dim: d.n(dims)}
		case kind == 2 && partial:
			p = reshard.Placement{Kind: reshard.Partial, Red: red}
		}
		l.Placements = append(l.Placements, p)
	}
	return l
}

// offsets places a rank's parts of all tensors in a buffer, with gaps.
func offsets(own *draw, moves []reshard.Move, rank int, side func(*reshard.Move) reshard.Layout) (starts []int64, bytes int64) {
	for i := range moves {
		m := &moves[i]
		element := m.Tensor.Dtype.Bytes()
		bytes = (bytes + int64(own.n(50)) + element - 1) / element * element
		starts = append(starts, bytes)
		bytes += m.Tensor.Bytes(side(m), rank)
	}
	return starts, bytes + int64(own.n(50))
}

// entry is an entry of the plan as a pipeline takes it. A place that does not
// count is nonsense.
func (t *tensors) entry(e *reshard.Entry) ccrun.PipelineEntry {
	p := e.Pipeline(t.rank, ccrun.Place{Offset: t.sourceOffsets[e.Tensor]}, ccrun.Place{Offset: t.targetOffsets[e.Tensor]})
	nowhere := ccrun.Place{Offset: -1, Row: 1 << 50}
	reads, writes := e.Takes(t.rank)
	if !reads {
		p.Src = nowhere
	}
	if !writes {
		p.Dst = nowhere
	}
	return p
}

func (t *tensors) entries() []ccrun.PipelineEntry { return t.list }

func (t *tensors) sizes() (source, target int64) { return t.sourceBytes, t.targetBytes }

func (t *tensors) source(image []byte, salt uint64) {
	for i := range t.plan.Moves {
		m := &t.plan.Moves[i]
		part, parts := partOf(m.Source, t.rank)
		eachOwned(m, m.Source, t.rank, image[t.sourceOffsets[i]:], func(to []byte, index uint64) {
			at := element{salt, uint64(i), index}
			if parts == 0 {
				at.whole(to)
			} else {
				encode(to, m.Tensor.Dtype, at.part(m.Tensor.Dtype, redOf(m.Source), part))
			}
		})
	}
}

func (t *tensors) target(image []byte, salt uint64) {
	for i := range t.plan.Moves {
		m := &t.plan.Moves[i]
		_, parts := partOf(m.Source, m.Source.Mesh.Ranks[0])
		eachOwned(m, m.Target, t.rank, image[t.targetOffsets[i]:], func(to []byte, index uint64) {
			at := element{salt, uint64(i), index}
			if parts == 0 {
				at.whole(to)
			} else {
				at.total(to, m.Tensor.Dtype, redOf(m.Source), parts)
			}
		})
	}
}

// partOf is which part of a partial tensor a rank has, of how many; of none if
// it is not partial.
func partOf(l reshard.Layout, rank int) (part, parts int) {
	at, _ := l.Mesh.Coordinates(rank)
	for i, p := range l.Placements {
		if p.Kind == reshard.Partial && at != nil {
			part, parts = part*l.Mesh.Dims[i]+at[i], max(parts, 1)*l.Mesh.Dims[i]
		}
	}
	return part, parts
}

func redOf(l reshard.Layout) ccrun.RedOp {
	for _, p := range l.Placements {
		if p.Kind == reshard.Partial {
			return p.Red
		}
	}
	return ccrun.Sum
}

// eachOwned visits the elements that a rank has of a tensor, where they lie in
// an image, with their index in the whole tensor.
func eachOwned(m *reshard.Move, l reshard.Layout, rank int, image []byte, visit func(to []byte, index uint64)) {
	box, ok := l.Local(m.Tensor.Shape, rank)
	if !ok {
		return
	}
	size := m.Tensor.Dtype.Bytes()
	for i := range box.Elements() {
		index, rest := uint64(0), i
		stride := int64(1)
		for d := len(box.Size) - 1; d >= 0; d-- {
			index += uint64((box.Start[d] + rest%box.Size[d]) * stride)
			rest /= box.Size[d]
			stride *= m.Tensor.Shape[d]
		}
		visit(image[i*size:][:size], index)
	}
}
