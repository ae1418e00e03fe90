package main

import (
	"iter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/reshard"
)

// A source holds, of each tensor, its part of the tensor's pattern: bytes that
// tell which tensor they are of and where in it they belong. Of a tensor that
// is made of parts each part has a pattern of numbers, and their sum, or the
// like, is what must arrive.

// seed is that of the pattern of a part of a tensor.
func seed(run uint64, tensor, part int) uint64 {
	x := run + uint64(tensor+1)*0xd1342543de82ef95 + uint64(part+1)*0xaf251af3b0f025b5
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// parts is how many parts make up a tensor in a layout, which of them a rank
// holds, and how they are added up.
func parts(l reshard.Layout, rank int) (count, mine int, red ccrun.RedOp) {
	at, _ := l.Mesh.Coordinates(rank)
	count = 1
	for i, p := range l.Placements {
		if p.Kind != reshard.Partial {
			continue
		}
		count, red = count*l.Mesh.Dims[i], p.Red
		mine *= l.Mesh.Dims[i]
		if at != nil {
			mine += at[i]
		}
	}
	return count, mine, red
}

// elements are consecutive elements of a tensor that a rank has one after the other.
type elements struct {
	local, global int64 // where they start, in the rank's part and in the tensor
	count         int64
}

// runs yields the runs of a box of a tensor, the longest ones there are.
func runs(shape []int64, box reshard.Box) iter.Seq[elements] {
	return func(yield func(elements) bool) {
		if box.Elements() == 0 {
			return
		}
		r, outer := elements{count: 1}, len(shape)
		for outer > 0 && (outer == len(shape) || box.Size[outer] == shape[outer]) {
			outer--
			r.count *= box.Size[outer]
		}
		index := make([]int64, outer)
		for {
			r.global = 0
			for d := range shape {
				r.global = r.global*shape[d] + box.Start[d]
				if d < outer {
					r.global += index[d]
				}
			}
			if !yield(r) {
				return
			}
			r.local += r.count
			d := outer - 1
			for ; d >= 0; d-- {
				if index[d]++; index[d] < box.Size[d] {
					break
				}
				index[d] = 0
			}
			if d < 0 {
				return
			}
		}
	}
}
