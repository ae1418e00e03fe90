package main

import (
	"context"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// What is priced.
const (
	sandbox  = "sandbox"
	recorder = "recorder"
)

// row is one comparison.
type row struct {
	of   string
	work work
	most bound
}

// bound is what a price should not exceed: nanoseconds of an operation, or a
// part of its time in percent.
type bound struct {
	nanos   float64
	percent float64
}

// The bounds, as the project has set them.
var (
	callBound     = bound{nanos: 80}
	batchBound    = bound{nanos: 20}
	recordBound   = bound{nanos: 70}
	transferBound = bound{percent: 2}
)

// Sizes that the bounds are about.
const (
	smallBytes      = 64
	sliceBytes      = 256 << 10
	batchSliceBytes = 64 << 10
)

// rows are in the order of the table.
var rows = []row{
	{sandbox, work{kind: op.Copy, bytes: smallBytes}, callBound},
	{sandbox, work{kind: op.Put, bytes: smallBytes}, callBound},
	{sandbox, work{kind: op.Signal}, callBound},
	{sandbox, work{kind: op.Copy, bytes: smallBytes, batched: true}, batchBound},
	{sandbox, work{kind: op.Put, bytes: smallBytes, batched: true}, batchBound},
	{sandbox, work{kind: op.Signal, batched: true}, batchBound},
	{sandbox, work{kind: op.Put, bytes: sliceBytes}, transferBound},
	{sandbox, work{kind: op.Put, bytes: batchSliceBytes, batched: true}, transferBound},
	{recorder, work{kind: op.Copy, bytes: smallBytes}, recordBound},
	{recorder, work{kind: op.Put, bytes: smallBytes}, recordBound},
	{recorder, work{kind: op.Signal}, recordBound},
	{recorder, work{kind: op.Put, bytes: sliceBytes}, transferBound},
}

// price is what a row was found to cost.
type price struct {
	row
	rounds
}

// measure plays the rounds of a row.
func (r row) measure(ctx context.Context, dir string, count int) (price, error) {
	with, err := openWorld(ctx, dir, flight.LevelSlice, r.work)
	if err != nil {
		return price{}, err
	}
	defer with.close(ctx)
	var played rounds
	switch r.of {
	case sandbox:
		played, err = play(ctx, count, with.native(r.work), with.guest)
	case recorder:
		without, e := openWorld(ctx, dir, flight.LevelOff, r.work)
		if e != nil {
			return price{}, e
		}
		defer without.close(ctx)
		played, err = play(ctx, count, without.guest, with.guest)
	}
	if err != nil {
		return price{}, err
	}
	return price{r, played.perOperation(r.work.chunk())}, with.check()
}
