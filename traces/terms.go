package traces

import (
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Collective is one collective operation as all its ranks saw it. Times are
// nanoseconds of the node's monotonic clock.
type Collective struct {
	Sequence   uint32 // among those of its group, in order of collective_begin, from 1
	Group      uint16 // communicator, 0 for the world
	Op         op.CollectiveOp
	Algorithm  string
	Bytes      uint64 // S as nccl-tests counts it
	Ranks      int    // that take part
	SliceBytes uint32 // of a pipelined slice, 0 if chunks are not sliced
	Type       op.Dtype
	Red        op.RedOp
	Warmup     bool

	Parts     []Part     // by rank, of the ranks that left a trace of it
	Transfers []Transfer // by chunk, step, source, destination
	Local     []Message  // work inside one rank: copies and reductions
	Complete  bool       // every rank whose file is there ended it without an error

	// Disagreement names two ranks that take it for different collectives, ""
	// if there are none. What such ranks did is no one collective, so it has no
	// place in statistics.
	Disagreement string
}

// Part is what one rank did of a collective.
type Part struct {
	Rank   int
	Start  int64 // when the rank began it
	Finish int64 // when its last operation was complete
	Wait   int64 // nanoseconds in which at least one of its streams waited
	Status uint8 // flight status: of the collective, or of the first operation that failed
	Marked bool  // the rank recorded the collective's begin and end
	opEnd  int64
	number uint32 // the rank's own number of the collective
}

// Transfer is one rank-chunk on its way from one rank to another in one step.
type Transfer struct {
	Chunk  uint32
	Step   uint16
	Source int32
	Dest   int32
	Start  int64
	End    int64
	Bytes  int64
	Status uint8
	Pushed bool // the source moved it (put, or a send whose receive is missing)
	Pulled bool // the destination moved it (get, recv)

	Flows  []Flow  // by number, then by who moves it
	Slices []Slice // likewise
	Sends  []Slice // what the source's own send records say, if it sent
}

// Flow is the sequence of messages of one rank-chunk that follow each other.
type Flow struct {
	ID       uint16
	Start    int64
	End      int64
	Bytes    int64
	Status   uint8
	Pulled   bool      // the destination moves it
	Messages []Message // by start
}

// Slice is the part of a rank-chunk that moves down the pipeline as one.
type Slice struct {
	ID       uint32
	Start    int64
	End      int64
	Bytes    int64
	Messages int
	Status   uint8
	Pulled   bool // the destination moves it
	Kind     op.Kind
}

// Message is one transport call, or one piece of local work.
type Message struct {
	Start  int64
	End    int64
	Bytes  int64
	Chunk  uint32
	Slice  uint32
	ID     uint32
	Source int32
	Dest   int32
	Flow   uint16
	Step   uint16
	Kind   op.Kind
	Status uint8
}

// label names the collective in a message.
func (c *Collective) label() string {
	if c.Group == 0 {
		return fmt.Sprintf("collective %d", c.Sequence)
	}
	return fmt.Sprintf("collective %d of group %d", c.Sequence, c.Group)
}

// Start is when the first rank began the collective.
func (c *Collective) Start() int64 {
	start := int64(maxTime)
	for i := range c.Parts {
		start = min(start, c.Parts[i].Start)
	}
	return start
}

// End is when the last rank finished.
func (c *Collective) End() int64 {
	end := int64(0)
	for i := range c.Parts {
		end = max(end, c.Parts[i].Finish)
	}
	return end
}

// CCT is the collective completion time: last rank's finish minus first
// rank's start, in nanoseconds.
func (c *Collective) CCT() int64 { return c.End() - c.Start() }

// Straggler is the rank that was busy longest: from the start of the
// collective to its own finish, without the time that it waited for others. A
// rank that begins late and one that moves slowly are both found, which the
// last finish alone does not do, because a slow rank delays all. The lowest
// such rank is given, -1 if there is none.
func (c *Collective) Straggler() int {
	rank, longest := -1, int64(-1)
	start := c.Start()
	for i := range c.Parts {
		p := &c.Parts[i]
		if busy := max(0, p.Finish-start-p.Wait); busy > longest {
			rank, longest = p.Rank, busy
		}
	}
	return rank
}

// part is the part of one rank, nil if it has none.
func (c *Collective) part(rank int) *Part {
	i, ok := slices.BinarySearchFunc(c.Parts, rank, func(p Part, rank int) int { return p.Rank - rank })
	if !ok {
		return nil
	}
	return &c.Parts[i]
}

// Failed is the status of the first part that did not go well.
func (c *Collective) Failed() uint8 {
	for i := range c.Parts {
		if c.Parts[i].Status != flight.StatusOK {
			return c.Parts[i].Status
		}
	}
	return flight.StatusOK
}

// RCCT is the rank-chunk completion time in nanoseconds: from the start of the
// first flow to the end of the last.
func (t *Transfer) RCCT() int64 { return t.End - t.Start }

// FCT is the flow completion time in nanoseconds.
func (f *Flow) FCT() int64 { return f.End - f.Start }
