package main

import (
	"fmt"
	"iter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// The slots that a rank raises at its neighbours. Values never go back, so
// that an iteration needs no barrier and no reset.
const (
	// slotData, raised at the next rank, counts slices: by put those that have
	// arrived there, by get those that it may pull.
	slotData = 0
	// slotFree, raised at the previous rank, counts the iterations whose result
	// this rank needs no more: until then its neighbour may neither write to
	// this rank's buffer (put) nor change what this rank reads (get).
	slotFree = 1
)

// kind is what an action does.
type kind int

const (
	wait   kind = iota // until the previous rank has raised slotData to order
	signal             // raise slotData at the next rank to order
	put                // push a slice to the next rank
	get                // pull a slice from the previous rank
)

// action is one operation of an iteration. order numbers the slices that a
// rank passes on, over all steps, from 1.
type action struct {
	kind               kind
	step, chunk, slice int
	order              int
}

// String is the action as text.
func (a action) String() string {
	if a.kind == wait || a.kind == signal {
		return fmt.Sprintf("step %d %s %d", a.step, [...]string{"wait", "signal"}[a.kind], a.order)
	}
	return fmt.Sprintf("step %d %s chunk %d slice %d", a.step, [...]string{put: "put", get: "get"}[a.kind], a.chunk, a.slice)
}

// plan yields the operations of one rank in one iteration.
func plan(protocol string, ring ccrun.Ring, slices int) iter.Seq[action] {
	if protocol == "put" {
		return planPut(ring, slices)
	}
	return planGet(ring, slices)
}

// planPut pushes: a rank passes a slice on as soon as it has arrived.
func planPut(ring ccrun.Ring, slices int) iter.Seq[action] {
	return func(yield func(action) bool) {
		for step := range ring.Steps() {
			for slice := range slices {
				a := action{step: step, chunk: ring.Sends(step), slice: slice, order: step*slices + slice + 1}
				if step > 0 && !yield(a.arrival(slices)) {
					return
				}
				if !yield(a.as(put)) || !yield(a.as(signal)) {
					return
				}
			}
		}
		if last := ring.Steps() * slices; last > 0 {
			yield(action{kind: wait, step: ring.Steps(), chunk: ring.Sends(ring.Steps()), slice: slices - 1, order: last})
		}
	}
}

// planGet pulls: a rank offers a slice as soon as it has it, its own chunk at
// once.
func planGet(ring ccrun.Ring, slices int) iter.Seq[action] {
	return func(yield func(action) bool) {
		if ring.Steps() == 0 || slices == 0 {
			return
		}
		if !yield(action{kind: signal, chunk: ring.Rank, slice: slices - 1, order: slices}) {
			return
		}
		for step := range ring.Steps() {
			for slice := range slices {
				a := action{step: step, chunk: ring.Receives(step), slice: slice, order: step*slices + slice + 1}
				if !yield(a.as(wait)) || !yield(a.as(get)) {
					return
				}
				offered := a
				offered.order += slices
				if step+1 < ring.Steps() && !yield(offered.as(signal)) {
					return
				}
			}
		}
	}
}

func (a action) as(k kind) action {
	a.kind = k
	return a
}

// arrival is the wait for what a passes on: the same slice, one step before.
func (a action) arrival(slices int) action {
	a.kind = wait
	a.order -= slices
	return a
}
