package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// parseTensors reads a tensor of the SDK's text form, "1000x777:f32", or so
// many of them, "512x512:f32:64".
func parseTensors(text string) ([]reshard.Tensor, error) {
	kind, count := text, 1
	if last := strings.LastIndexByte(text, ':'); strings.IndexByte(text, ':') < last {
		var err error
		if count, err = strconv.Atoi(text[last+1:]); err != nil || count < 1 || count > tensorsMax {
			return nil, fmt.Errorf("-tensor %s: want 1 to %d of them, such as 512x512:f32:64", text, tensorsMax)
		}
		kind = text[:last]
	}
	t, err := reshard.ParseTensor(kind)
	if err != nil {
		return nil, fmt.Errorf("-tensor: %w", err)
	}
	if t.Size() == 0 {
		return nil, fmt.Errorf("-tensor %s: it has no elements", text)
	}
	return slices.Repeat([]reshard.Tensor{t}, count), nil
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
