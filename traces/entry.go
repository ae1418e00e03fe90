package traces

import (
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// entry is a record and what belongs to it, for outputs that show records one
// by one.
type entry struct {
	flight.Record
	log        *flight.Log
	kind       op.Kind
	collective *Collective // that it is part of, nil if none or not known
}

// isWhole: the record is of a collective as a whole.
func (e *entry) isWhole() bool { return e.kind == op.Collective }

// hasTerm: the record is of an operation that has a place in a collective.
func (e *entry) hasTerm() bool { return e.Record.Collective != 0 && e.kind < op.Collective }

func (e *entry) hasPeer() bool { return e.Peer >= 0 }

// crosses: the record is of a message from one rank to another.
func (e *entry) crosses() bool {
	return e.kind.Moves() && !e.kind.Local() && e.hasPeer() && int(e.Peer) < e.log.Size && int(e.Peer) != e.log.Rank
}

// hasValue: what a signal raises its slot to, or a wait waits for.
func (e *entry) hasValue() bool { return e.kind == op.Signal || e.kind == op.Wait }

func (e *entry) hasSlot() bool {
	return e.hasValue() || e.kind == op.Send || e.kind == op.Recv
}

func (e *entry) hasBytes() bool { return !e.hasValue() && e.kind != op.Mark }

func (e *entry) hasType() bool {
	return e.hasRedOp() || e.kind == op.Fill || e.kind == op.Verify || e.kind == op.Gemm
}

func (e *entry) hasRedOp() bool { return e.kind == op.Reduce || e.isWhole() }

// redOp is where the kind keeps it: the record of a collective has its name
// there, and the operator among the terms.
func (e *entry) redOp() op.RedOp {
	if e.isWhole() {
		return op.RedOp(e.Step)
	}
	return op.RedOp(e.Red)
}

// status is the status in a word.
func (e *entry) status() string {
	if e.Status == flight.StatusOK {
		return "ok"
	}
	return failure(e.Status)
}
