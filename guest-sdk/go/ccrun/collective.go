package ccrun

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"

// CollectiveOp names a collective, for traces and bandwidth formulas.
type CollectiveOp uint32

// The collectives; Custom is anything else.
const (
	Custom        CollectiveOp = raw.CollectiveCustom
	AllReduce     CollectiveOp = raw.CollectiveAllReduce
	AllGather     CollectiveOp = raw.CollectiveAllGather
	ReduceScatter CollectiveOp = raw.CollectiveReduceScatter
	Broadcast     CollectiveOp = raw.CollectiveBroadcast
	ReduceTo      CollectiveOp = raw.CollectiveReduce
	Gather        CollectiveOp = raw.CollectiveGather
	Scatter       CollectiveOp = raw.CollectiveScatter
	AllToAll      CollectiveOp = raw.CollectiveAllToAll
	AllToAllV     CollectiveOp = raw.CollectiveAllToAllV
	SendRecv      CollectiveOp = raw.CollectiveSendRecv
)

// CollectiveInfo says what a collective is.
type CollectiveInfo struct {
	Op         CollectiveOp
	Algorithm  string // "ring", at most 63 bytes
	Bytes      int64  // the whole array, as nccl-tests counts: n times one rank's share for AllGather, ReduceScatter, AllToAll
	SliceBytes int64  // size of a pipelined slice, 0 if chunks are not sliced
	Dtype      Dtype
	Red        RedOp // of reducing collectives
	Ranks      int   // how many take part, 0 for all
	Group      int   // communicator, 0 for the world
	Warmup     bool  // to be left out of the statistics
}

// fits reports whether the host can be told of c.
func (c *CollectiveInfo) fits() bool {
	return len(c.Algorithm) < len(World{}.algorithm) && c.Bytes >= 0 && c.SliceBytes >= 0 && c.SliceBytes <= 1<<32-1 &&
		fits(c.Ranks, 1<<32-1) && fits(c.Group, 1<<32-1)
}

// Collective is a collective between its begin and its end.
type Collective struct {
	world    *World
	Sequence uint32 // number by which operations say that they belong to it
}

// Term is the place of an operation in the field's terms.
type Term struct {
	Collective uint32 // sequence number, 0 for none
	Chunk      int    // rank-chunk of the collective
	Slice      int    // pipelined slice of the chunk
	Message    int    // transport message of the flow
	Flow       int    // flow of the chunk
	Step       int    // step of the algorithm
}

// Begin begins a collective in the trace. Its operations carry its sequence
// number: see [Stream.Tag]. It fails with [ErrInvalid] for an algorithm's name
// or a number that is too large, and for one that is negative.
func (w *World) Begin(c CollectiveInfo) (Collective, error) {
	if !c.fits() {
		return Collective{}, &Error{Call: "collective_begin", Errno: ErrInvalid}
	}
	w.collective = raw.Collective{
		Op: uint32(c.Op), Dtype: uint8(c.Dtype), Redop: uint8(c.Red), Bytes: uint64(c.Bytes),
		SliceBytes: uint32(c.SliceBytes), Ranks: uint32(c.Ranks), Group: uint32(c.Group),
		Algorithm: w.host.AddressOfText(&w.algorithm), AlgorithmLen: uint32(copy(w.algorithm[:], c.Algorithm)),
	}
	if c.Warmup {
		w.collective.Warmup = 1
	}
	if errno := w.host.CollectiveBegin(&w.collective, &w.sequence); errno != raw.OK {
		return Collective{}, w.check("collective_begin", errno)
	}
	return Collective{world: w, Sequence: w.sequence}, nil
}

// End says that all operations of the collective have been submitted; it is
// complete when they are.
func (c Collective) End() error {
	return c.world.check("collective_end", c.world.host.CollectiveEnd(c.Sequence))
}

// Mark is a named span of the guest's own between its begin and its end.
type Mark struct {
	world  *World
	number uint64
}

// Mark begins a named span in the trace.
func (w *World) Mark(name string) (Mark, error) {
	m := Mark{world: w}
	err := w.check("mark_begin", w.host.MarkBegin(name, &m.number))
	return m, err
}

// End ends the span.
func (m Mark) End() error { return m.world.check("mark_end", m.world.host.MarkEnd(m.number)) }
