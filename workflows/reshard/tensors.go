package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// parseTensors reads "1000x777:f32" or "512x512:f32:64".
func parseTensors(text string) ([]reshard.Tensor, error) {
	fields := strings.Split(text, ":")
	if len(fields) < 2 || len(fields) > 3 {
		return nil, fmt.Errorf("-tensor %s: want shape and type, such as 1000x777:f32", text)
	}
	t := reshard.Tensor{Name: text}
	elements := int64(1)
	for _, size := range strings.Split(fields[0], "x") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 1 || n > 1<<50/elements {
			return nil, fmt.Errorf("-tensor %s: %q is not a dimension, or there are too many elements", text, size)
		}
		elements *= n
		t.Shape = append(t.Shape, n)
	}
	var err error
	if t.Dtype, err = reshard.ParseDtype(fields[1]); err != nil {
		return nil, fmt.Errorf("-tensor %s: %w", text, err)
	}
	count := 1
	if len(fields) == 3 {
		if count, err = strconv.Atoi(fields[2]); err != nil || count < 1 || count > tensorsMax {
			return nil, fmt.Errorf("-tensor %s: want 1 to %d of them", text, tensorsMax)
		}
	}
	tensors := make([]reshard.Tensor, count)
	for i := range tensors {
		tensors[i] = t
	}
	return tensors, nil
}

// moves are what the flags ask for.
func (o *options) moves() ([]reshard.Move, error) {
	if o.model != "" {
		return o.modelMoves()
	}
	from, err := reshard.ParseLayout(o.from)
	if err != nil {
		return nil, fmt.Errorf("-from: %w", err)
	}
	to, err := reshard.ParseLayout(o.to)
	if err != nil {
		return nil, fmt.Errorf("-to: %w", err)
	}
	tensors, err := o.list()
	return reshard.Moves(from, to, tensors), err
}

// list is the tensors that are given one by one.
func (o *options) list() ([]reshard.Tensor, error) {
	var all []reshard.Tensor
	for _, text := range o.tensors {
		tensors, err := parseTensors(text)
		if err != nil {
			return nil, err
		}
		all = append(all, tensors...)
	}
	return all, nil
}

// channelMoves are those of the sweep over channels: rank 0 has matrices with a
// block of columns, which is what the flags say, for each of so many ranks: the
// next ones, and itself last.
func (o *options) channelMoves(channels, ranks int) ([]reshard.Move, error) {
	tensors, err := o.list()
	for i := range tensors {
		t := &tensors[i]
		t.Shape = append([]int64(nil), t.Shape...)
		t.Shape[len(t.Shape)-1] *= int64(channels)
	}
	from := reshard.Layout{Mesh: reshard.NewMesh(0, 1), Placements: reshard.Placements{{Kind: reshard.Replicate}}}
	to := reshard.Mesh{Dims: []int{channels}}
	for c := range channels {
		to.Ranks = append(to.Ranks, (c+1)%ranks)
	}
	moves := reshard.Moves(from, reshard.Layout{Mesh: to}, tensors)
	for i := range moves {
		last := len(moves[i].Tensor.Shape) - 1
		moves[i].Target.Placements = reshard.Placements{{Kind: reshard.Shard, Dim: last}}
	}
	return moves, err
}
