package main

import (
	"fmt"
	"iter"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// kind is what an action does.
type kind int

const (
	offer    kind = iota // tell the next rank that a tile is here
	fetch                // wait until the previous rank has a tile, and get it
	multiply             // compute what depends on a tile
)

var kinds = [...]string{"offer", "fetch", "multiply"}

// action is one operation of a round.
type action struct {
	kind   kind
	stream int
	tile   int
	ring   int // ring that the tile travels on
	step   int
}

// String is the action as text.
func (a action) String() string {
	return fmt.Sprintf("stream %d: %s tile %d", a.stream, kinds[a.kind], a.tile)
}

// plan yields one rank's operations in the order in which they are submitted.
// Tile i*n + r of n ranks is rank r's and travels on ring i. In each step a
// rank offers the tile that it has to the next rank, fetches the one that it
// needs next on the stream after, and multiplies on the same stream. On each
// stream the order is fetch, offer, multiply for one tile after the other, so
// that nothing but the order of a stream says when a tile may be used.
func plan(ring ccrun.Ring, tiles, streams int) iter.Seq[action] {
	return func(yield func(action) bool) {
		for i := range tiles / ring.Size {
			for step := range ring.Size {
				a := action{ring: i, step: step, stream: (i + step) % streams, tile: i*ring.Size + ring.Sends(step)}
				if step < ring.Steps() {
					next := action{ring: i, step: step, stream: (i + step + 1) % streams, tile: i*ring.Size + ring.Receives(step), kind: fetch}
					if !yield(a) || !yield(next) {
						return
					}
				}
				a.kind = multiply
				if !yield(a) {
					return
				}
			}
		}
	}
}
