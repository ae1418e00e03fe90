package runner

import (
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// describeRecord says what an operation was: "put to rank 2, 65536 bytes,
// collective 3 chunk 1 slice 4".
func describeRecord(r *flight.Record) string {
	var b strings.Builder
	kind := op.Kind(r.Kind)
	b.WriteString(kind.String())
	switch kind {
	case op.Signal:
		fmt.Fprintf(&b, " rank %d, slot %d to %d", r.Peer, r.Aux, r.Bytes)
	case op.Wait:
		fmt.Fprintf(&b, " for rank %d, slot %d at least %d", r.Peer, r.Aux, r.Bytes)
	case op.Put, op.Send:
		fmt.Fprintf(&b, " to rank %d, %d bytes", r.Peer, r.Bytes)
	case op.Get, op.GetBox, op.Recv:
		fmt.Fprintf(&b, " from rank %d, %d bytes", r.Peer, r.Bytes)
	case op.Collective:
		fmt.Fprintf(&b, " %s, %d bytes", op.CollectiveOp(r.Red), r.Bytes)
	case op.Barrier, op.EventRecord, op.EventWait, op.Mark:
	default:
		fmt.Fprintf(&b, ", %d bytes", r.Bytes)
	}
	switch {
	case r.Collective == 0:
	case kind == op.Collective:
		fmt.Fprintf(&b, ", collective %d", r.Collective)
	default:
		fmt.Fprintf(&b, ", collective %d chunk %d slice %d", r.Collective, r.Chunk, r.Slice)
	}
	if r.Status != flight.StatusOK {
		b.WriteString(", failed")
	}
	return b.String()
}
