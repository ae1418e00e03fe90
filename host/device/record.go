package device

import (
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
	w.Append(&flight.Record{
		Start: start, End: end, Bytes: bytes,
		Collective: o.Term.Collective, Chunk: o.Term.Chunk, Slice: o.Term.Slice,
		Message: o.Term.Message, Flow: o.Term.Flow, Step: o.Term.Step,
		Peer: int32(peer), Aux: o.Slot,
		Kind: uint8(o.Kind), Type: uint8(o.Type), Red: uint8(o.Red), Status: status,
		Stream: uint16(stream),
	})
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
	w.Append(&flight.Record{
		Start: start, End: end, Bytes: uint64(s.Bytes),
		Collective: sequence, Chunk: s.Term.Chunk, Slice: s.Term.Slice,
		Message: s.Term.Message, Flow: s.Term.Flow, Step: s.Term.Step,
		Peer: int32(peer), Kind: uint8(kind), Type: uint8(c.Type), Red: uint8(c.Red),
		Stream: uint16(stream), Group: c.Group,
	})
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
	w.Append(&flight.Record{
		Start: start, End: end, Bytes: uint64(c.Bytes), Collective: sequence,
		Chunk: uint32(ranks), Slice: uint32(c.Program.SliceBytes), Step: uint16(c.Red),
		Peer: -1, Aux: aux, Kind: uint8(op.Collective), Type: uint8(c.Type), Red: uint8(c.Collective),
		Status: status, Stream: uint16(stream), Group: c.Group,
	})
}
