package main

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
	"github.com/ccrun/ccrun/workflows/reshard/models"
)

// modelMoves take a model from one scheme to another, its tensors made smaller
// by the scale.
func (o *options) modelMoves() ([]reshard.Move, error) {
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
	moves, err := m.Moves(from, to)
	for i := range moves {
		moves[i].Tensor.Shape = scaled(moves[i].Tensor.Shape, int64(o.scale))
	}
	return moves, err
}

// scaled is a shape that is so many times smaller in each dimension.
func scaled(shape []int64, scale int64) []int64 {
	small := make([]int64, len(shape))
	for d, n := range shape {
		small[d] = max(1, n/scale)
	}
	return small
}
