package main

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// work is an operation that is repeated.
type work struct {
	kind    op.Kind
	bytes   int64 // 0 of a signal
	batched bool  // submitted as structures, batchOps in a call
}

// batchOps is how many operations a batch has.
const batchOps = 64

// Where the signals go: each side raises a slot of its own, so that all its
// signals do.
const (
	guestSlot  = 1
	nativeSlot = 2
)

// chunk is how many operations are timed together, before it is the other
// side's turn: too few to see a neighbour come and go, enough for the clock.
func (w work) chunk() int {
	const most, bytes = 2048, 8 << 20
	if w.bytes == 0 {
		return most
	}
	return min(most, int(max(bytes/w.bytes, 1)))
}

// what names the work in the table.
func (w work) what() string {
	text := w.kind.String()
	if w.bytes > 0 {
		text += fmt.Sprintf(" of %s", size(w.bytes))
	}
	if w.batched {
		return fmt.Sprintf("%s, %d in a batch", text, batchOps)
	}
	return text + ", one by one"
}

func size(bytes int64) string {
	if bytes%1024 == 0 {
		return fmt.Sprintf("%d KiB", bytes/1024)
	}
	return fmt.Sprintf("%d B", bytes)
}
