package traces

import (
	"fmt"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// claim is what a rank says that a collective is. All ranks that take part
// must say the same; otherwise they have lost step with each other.
type claim struct {
	rank  int
	op    op.CollectiveOp
	bytes uint64
	dtype op.Dtype
	ranks int
}

// claimOf reads a rank's record of a collective in a run of the given size.
func claimOf(rank int, rec *flight.Record, size int) claim {
	c := claim{rank: rank, op: op.CollectiveOp(rec.Red), bytes: rec.Bytes, dtype: op.Dtype(rec.Type), ranks: size}
	if rec.Chunk > 0 && rec.Chunk < uint32(size) {
		c.ranks = int(rec.Chunk)
	}
	return c
}

// agrees reports whether two ranks mean the same collective. Where ranks may
// bring different amounts, the size is each rank's own.
func (c claim) agrees(other claim) bool {
	other.rank = c.rank
	if c.op == op.AllToAllV || c.op == op.Custom {
		other.bytes = c.bytes
	}
	return c == other
}

// String is the claim in words.
func (c claim) String() string {
	return fmt.Sprintf("rank %d has %s of %d bytes of %s on %s", c.rank, c.op, c.bytes, c.dtype, plural(int64(c.ranks), "rank"))
}
