package op

import "math"

// MaxGroup is the largest number of calls in a group.
const MaxGroup = 1024

// Call is one collective on a communicator, as the guest asks for it. The
// counts are elements: what one rank contributes to or gets from one peer for
// AllGather, ReduceScatter, Gather, Scatter and AllToAll; the whole vector for
// AllReduce, Broadcast and ReduceTo.
//
// A stream copies the call when it is submitted, and Next with it; the slices
// and the program are shared and must stay as they are.
type Call struct {
	Collective CollectiveOp
	Type       Dtype
	Red        RedOp
	Root       int // rank within the communicator, of rooted collectives
	Count      int64
	In, Out    View  // what AreaIn and AreaOut of this rank are; Buf nil if the program touches none of it
	Algorithm  uint8 // index in the communicator's list, agreed by all ranks

	// AllToAllV: elements to and from each rank of the communicator, and where
	// they lie in In and Out, in elements.
	SendCounts, SendOffsets []int64
	RecvCounts, RecvOffsets []int64

	Program *Program // what this rank does; from package coll
	Bytes   int64    // size as nccl-tests counts it, for the record

	// For the record, filled in by package module: the communicator's number,
	// the same on all its ranks and 0 for the world's; the index that the
	// flight recorder has given to the algorithm's name; and whether to leave
	// the call out of statistics. The Term of the operation that carries the
	// call holds its sequence number; later calls of a group have the following
	// ones. No record is written if it is 0.
	Group     uint16
	NameIndex uint16
	Warmup    bool

	// Next is another call of the group, nil for the last: the calls of a group
	// are independent of each other and make progress together.
	Next *Call
}

// Comm is a communicator: an ordered set of ranks that call collectives
// together. A device knows its own implementation and refuses any other's.
type Comm interface {
	// Rank is this rank's number within the communicator.
	Rank() int
	// Size is how many ranks there are.
	Size() int
}

// checkCalls checks that every call of a group has a program, known types and
// buffers, and is within limits.
func (o *Op) checkCalls() error {
	if o.Comm == nil || o.Call == nil {
		return ErrCall
	}
	n := 0
	for c := o.Call; c != nil; c = c.Next {
		if n++; n > MaxGroup {
			return ErrCall
		}
		if err := c.check(o.Comm.Size()); err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) check(size int) error {
	switch {
	case c.Program == nil || !c.Collective.Valid() || c.Count < 0 || c.Root < 0 || c.Root >= size:
		return ErrCall
	case !c.Type.Valid():
		return ErrType
	case !c.Red.Valid():
		return ErrRedOp
	case c.In.Buf != nil && !c.In.holds(0) || c.Out.Buf != nil && !c.Out.holds(0):
		return ErrRange
	}
	return nil
}

// VectorBytes is how much of In and of Out a rank of so many uses in an
// AllToAllV. It fails with [ErrCall] or [ErrRange] if the counts cannot be.
func (c *Call) VectorBytes(rank, ranks int) (bytes [2]int64, err error) {
	size := int64(c.Type.Size())
	for area, parts := range [...][2][]int64{{c.SendCounts, c.SendOffsets}, {c.RecvCounts, c.RecvOffsets}} {
		counts, offsets := parts[0], parts[1]
		if len(counts) != ranks || len(offsets) != ranks {
			return bytes, ErrCall
		}
		for i, n := range counts {
			const most = math.MaxInt64 / 16
			if n < 0 || offsets[i] < 0 || n > most || offsets[i] > most {
				return bytes, ErrRange
			}
			if n > 0 {
				bytes[area] = max(bytes[area], (offsets[i]+n)*size)
			}
		}
	}
	if c.SendCounts[rank] != c.RecvCounts[rank] {
		return bytes, ErrCall
	}
	return bytes, nil
}
