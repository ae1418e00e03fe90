// Package rings has what a guest needs to script pipelined rings by hand: the
// schedule of a ring reduce-scatter, all-gather or all-reduce as a pure
// function, [Plan], and [Pipe], which carries one out on a stream. Data flows
// from each rank to its next one, cut into slices, and a slice moves on as soon
// as it is there. Signals only grow, so that rounds need neither a barrier nor
// a reset. Several pipes on several streams, each on a part of the data, are
// several channels.
package rings

import (
	"fmt"
	"iter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Kind is what an action does.
type Kind int

// The actions. Reduce combines a slice of this rank with what the previous one
// has made of it: pulled from there by get, in the scratch memory by put.
const (
	Wait   Kind = iota // until the previous rank has raised the data slot to Order
	Signal             // raise the data slot at the next rank to Order
	Put                // push a slice to the next rank: to its scratch memory while reducing
	Get                // pull a slice from the previous rank
	Reduce
)

var kinds = [...]string{Wait: "wait", Signal: "signal", Put: "put", Get: "get", Reduce: "reduce"}

// Action is one operation of a round. Order numbers the slices that a rank
// passes on, over all steps, from 1.
type Action struct {
	Kind               Kind
	Step, Chunk, Slice int
	Order              int
}

// String is the action as text.
func (a Action) String() string {
	if a.Kind == Wait || a.Kind == Signal {
		return fmt.Sprintf("step %d %s %d", a.Step, kinds[a.Kind], a.Order)
	}
	return fmt.Sprintf("step %d %s chunk %d slice %d", a.Step, kinds[a.Kind], a.Chunk, a.Slice)
}

// Shape says which round is planned: of which collective (AllReduce,
// ReduceScatter or AllGather; any other has no steps), by put or by get, and
// how many slices a chunk has.
type Shape struct {
	Op     ccrun.CollectiveOp
	Push   bool
	Slices int
}

// Steps is how many steps a round has: how many of them reduce, and all.
func (s Shape) Steps(ring ccrun.Ring) (reducing, all int) {
	switch s.Op {
	case ccrun.AllReduce:
		return ring.Steps(), 2 * ring.Steps()
	case ccrun.ReduceScatter:
		return ring.Steps(), ring.Steps()
	case ccrun.AllGather:
		return 0, ring.Steps()
	}
	return 0, 0
}

// Orders is how many orders a round takes; the next one begins behind them.
func (s Shape) Orders(ring ccrun.Ring) uint64 {
	_, all := s.Steps(ring)
	return uint64(all) * uint64(s.Slices)
}

// receives is the chunk that a rank gets from its previous one in a step. A
// reduce-scatter leaves each rank with the chunk of its own number, from which
// an all-gather goes on.
func (s Shape) receives(ring ccrun.Ring, step int) int {
	reducing, _ := s.Steps(ring)
	if step < reducing {
		return ring.Combines(step)
	}
	return ring.Receives(step - reducing)
}

// Plan yields the actions of one rank in one round, in order.
func Plan(s Shape, ring ccrun.Ring) iter.Seq[Action] {
	if s.Push {
		return s.push(ring)
	}
	return s.pull(ring)
}

// pull waits for each slice, gets it or combines it with what is here, and
// offers it to the next rank.
func (s Shape) pull(ring ccrun.Ring) iter.Seq[Action] {
	reducing, all := s.Steps(ring)
	return func(yield func(Action) bool) {
		if all == 0 || s.Slices == 0 {
			return
		}
		offered := Action{Kind: Signal, Chunk: s.receives(ccrun.NewRing(ring.Next, ring.Size), 0), Slice: s.Slices - 1, Order: s.Slices}
		if !yield(offered) {
			return
		}
		for step := range all {
			move := Get
			if step < reducing {
				move = Reduce
			}
			for slice := range s.Slices {
				a := Action{Step: step, Chunk: s.receives(ring, step), Slice: slice, Order: step*s.Slices + slice + 1}
				if !yield(a.as(Wait)) || !yield(a.as(move)) {
					return
				}
				if step+1 < all && !yield(a.later(s.Slices).as(Signal)) {
					return
				}
			}
		}
	}
}

// push passes each slice on as soon as it has arrived and, while reducing, has
// been combined with what is here.
func (s Shape) push(ring ccrun.Ring) iter.Seq[Action] {
	_, all := s.Steps(ring)
	next := ccrun.NewRing(ring.Next, ring.Size)
	return func(yield func(Action) bool) {
		for step := range all + 1 {
			for slice := range s.Slices {
				if step > 0 && !s.arrive(ring, step-1, slice, yield) {
					return
				}
				if step == all {
					continue
				}
				a := Action{Step: step, Chunk: s.receives(next, step), Slice: slice, Order: step*s.Slices + slice + 1}
				if !yield(a.as(Put)) || !yield(a.as(Signal)) {
					return
				}
			}
		}
	}
}

// arrive yields what happens to a slice that is pushed here in a step.
func (s Shape) arrive(ring ccrun.Ring, step, slice int, yield func(Action) bool) bool {
	reducing, all := s.Steps(ring)
	if all == 0 {
		return true
	}
	a := Action{Step: step, Chunk: s.receives(ring, step), Slice: slice, Order: step*s.Slices + slice + 1}
	return yield(a.as(Wait)) && (step >= reducing || yield(a.as(Reduce)))
}

func (a Action) as(k Kind) Action {
	a.Kind = k
	return a
}

// later is the same slice one step of n slices later.
func (a Action) later(n int) Action {
	a.Order += n
	return a
}
