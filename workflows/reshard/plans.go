package main

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
	"github.com/ccrun/ccrun/workflows/reshard/models"
)

// plans are what is to be moved: one, but for the sweep over channels, which
// has one for each value. It is made before anything is asked of the host, so
// that what cannot be planned is refused in the words of the flags.
func (o *options) plans(w *ccrun.World) ([]*reshard.Plan, error) {
	if o.sweep.name != "channels" {
		moves, err := o.moves(w.Size())
		if err != nil {
			return nil, err
		}
		plan, err := o.planned(w, moves)
		return []*reshard.Plan{plan}, err
	}
	plans := make([]*reshard.Plan, len(o.sweep.values))
	for i := range plans {
		moves, err := o.channelMoves(int(o.sweep.values[i].bytes), w.Size())
		if err != nil {
			return nil, err
		}
		if plans[i], err = o.planned(w, moves); err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// planned is the plan of moves, each entry with its transport.
func (o *options) planned(w *ccrun.World, moves []reshard.Move) (*reshard.Plan, error) {
	plan, err := reshard.New(moves, reshard.Options{
		MaxEntryBytes: int64(o.split), RanksPerNode: w.LocalSize(), Split: reshard.Split(number(fans, o.fan)),
	})
	if err != nil {
		return nil, err
	}
	for i := range plan.Entries {
		e := &plan.Entries[i]
		e.Transport = o.transport(e, w.LocalSize(), w.Device())
	}
	return plan, nil
}

// transport is how an entry travels. By itself one goes straight from where it
// lies to where it belongs if those can reach each other's memory; not in
// sweeps, whose subject is what is staged.
func (o *options) transport(e *reshard.Entry, ranksPerNode int, device string) ccrun.Transport {
	if o.packing != "auto" {
		return ccrun.Transport(number(transports, o.packing))
	}
	direct := len(e.Parts) < 2 && !o.checksum && o.sweep.name == ""
	for _, rank := range e.Destinations {
		direct = direct && rank/ranksPerNode == e.Source/ranksPerNode
	}
	switch {
	case direct:
		return ccrun.Direct
	case device == "cpu":
		return ccrun.Scattered
	}
	return ccrun.Packed
}

// moves are what the flags ask for.
func (o *options) moves(ranks int) ([]reshard.Move, error) {
	if o.model != "" {
		return o.modelMoves(ranks)
	}
	from, err := reshard.ParseLayout(o.from)
	if err != nil {
		return nil, fmt.Errorf("-from: %w", err)
	}
	to, err := reshard.ParseLayout(o.to)
	if err != nil {
		return nil, fmt.Errorf("-to: %w", err)
	}
	if err := o.checkRanks(from.Mesh, to.Mesh, ranks); err != nil {
		return nil, err
	}
	tensors, err := o.list()
	return reshard.Moves(from, to, tensors), err
}

// modelMoves take a model from one scheme to another, its tensors made smaller
// by the scale.
func (o *options) modelMoves(ranks int) ([]reshard.Move, error) {
	m, err := models.Load(o.model)
	if err != nil {
		return nil, fmt.Errorf("-model: %w", err)
	}
	from, err := models.ParseScheme(o.from)
	if err != nil {
		return nil, fmt.Errorf("-from: %w", err)
	}
	to, err := models.ParseScheme(o.to)
	if err != nil {
		return nil, fmt.Errorf("-to: %w", err)
	}
	if err := o.checkRanks(from.Mesh, to.Mesh, ranks); err != nil {
		return nil, err
	}
	moves, err := m.Moves(from, to)
	for i := range moves {
		moves[i].Tensor.Shape = scaled(moves[i].Tensor.Shape, int64(o.scale))
	}
	return moves, err
}

// checkRanks refuses meshes of ranks that are not there.
func (o *options) checkRanks(from, to reshard.Mesh, ranks int) error {
	first := "-from " + o.from
	for _, mesh := range [...]reshard.Mesh{from, to} {
		if last := slices.Max(mesh.Ranks); last >= ranks {
			return fmt.Errorf("%s needs ranks %d to %d, there are %d: start more with ccrun -n %d", first, slices.Min(mesh.Ranks), last, ranks, last+1)
		}
		first = "-to " + o.to
	}
	return nil
}

// scaled is a shape that is so many times smaller in each dimension.
func scaled(shape []int64, scale int64) []int64 {
	small := make([]int64, len(shape))
	for d, n := range shape {
		small[d] = max(1, n/scale)
	}
	return small
}
