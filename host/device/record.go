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
