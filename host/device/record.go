package device

import (
	"errors"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Record writes the flight record of an operation that ran from start to end
// on a stream. Every device calls it once for each operation that it carries
// out, with times of its own clock; for a Reduce that reads peers' memory once
// for each of them. peer is the rank at the other end, -1 if none: for Put, Get
// and Reduce the owner of the imported buffer.
func Record(w *flight.Writer, o *op.Op, stream int, peer int, status uint8, start, end int64) {
	if !Recorded(w, o) {
		return
	}
	bytes := uint64(o.Bytes)
	if o.Kind == op.Signal || o.Kind == op.Wait {
		bytes = o.Value
	}
	r, number := w.Begin()
	if r == nil {
		return
	}
	r.Start, r.End, r.Bytes = start, end, bytes
	r.Collective, r.Chunk, r.Slice = o.Term.Collective, o.Term.Chunk, o.Term.Slice
	r.Message, r.Flow, r.Step = o.Term.Message, o.Term.Flow, o.Term.Step
	r.Peer, r.Aux = int32(peer), o.Slot
	r.Kind, r.Type, r.Red, r.Status = uint8(o.Kind), uint8(o.Type), uint8(o.Red), status
	r.Stream = uint16(stream)
	w.Commit(r, number)
}

// Recorded reports whether Record keeps o: if not, a device need not read its
// clock.
func Recorded(w *flight.Writer, o *op.Op) bool {
	return w != nil && (w.Level >= flight.LevelSlice || recordedAt(w.Level, o))
}

// recordedAt reports whether a level below Slice keeps a record of o: the flow
// level keeps what moves bytes, the others nothing.
func recordedAt(level flight.Level, o *op.Op) bool {
	return level == flight.LevelFlow && o.Kind.Moves()
}

// RecordMove writes the flight record of a step of a call that moved bytes
// from or to a peer.
func RecordMove(w *flight.Writer, kind op.Kind, c *op.Call, s *op.Step, sequence uint32, stream, peer int, start, end int64) {
	r, number := w.Begin()
	if r == nil {
		return
	}
	r.Start, r.End, r.Bytes = start, end, uint64(s.Bytes)
	r.Collective, r.Chunk, r.Slice = sequence, s.Term.Chunk, s.Term.Slice
	r.Message, r.Flow, r.Step = s.Term.Message, s.Term.Flow, s.Term.Step
	r.Peer, r.Kind, r.Type, r.Red = int32(peer), uint8(kind), uint8(c.Type), uint8(c.Red)
	r.Stream, r.Group = uint16(stream), c.Group
	w.Commit(r, number)
}

// warmup is the bit of a collective's Aux that leaves it out of statistics.
const warmup = 1 << 31

// RecordCall writes the flight record of a call among so many ranks, the
// record that a collective of the guest's own leaves too.
func RecordCall(w *flight.Writer, c *op.Call, sequence uint32, ranks, stream int, status uint8, start, end int64) {
	aux := uint32(c.NameIndex)
	if c.Warmup {
		aux |= warmup
	}
	r, number := w.Begin()
	if r == nil {
		return
	}
	r.Start, r.End, r.Bytes, r.Collective = start, end, uint64(c.Bytes), sequence
	r.Chunk, r.Slice, r.Step = uint32(ranks), uint32(c.Program.SliceBytes), uint16(c.Red)
	r.Peer, r.Aux = -1, aux
	r.Kind, r.Type, r.Red, r.Status = uint8(op.Collective), uint8(c.Type), uint8(c.Collective), status
	r.Stream, r.Group = uint16(stream), c.Group
	w.Commit(r, number)
}

// StatusOf is the status of the record of an operation that ended so.
func StatusOf(err error) uint8 {
	switch {
	case err == nil:
		return flight.StatusOK
	case errors.Is(err, ErrAborted):
		return flight.StatusAborted
	case errors.Is(err, ErrTimeout):
		return flight.StatusTimeout
	default:
		return flight.StatusFailed
	}
}
