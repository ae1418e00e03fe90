package cpu

import (
	"sync/atomic"

	"github.com/ccrun/ccrun/host/op"
)

// queueLength is how many operations a stream holds before Submit has to wait.
const queueLength = 1024

// entry is a queued operation and how far it is.
type entry struct {
	op       op.Op
	start    int64   // when it was first tried, 0 if it was not
	after    *stream // EventWait: the stream whose record it waits for
	target   uint64  // and how much of that stream has to be done
	sequence uint64  // Send, Recv: number of the message on its channel; CollectiveCall: of the call before
	state    messageState
	begun    bool      // CollectiveCall: it is the one that its communicator carries out
	calls    []op.Call // what op.Call points to
	position uint64    // and where in the ring that is
	shape    op.GemmShape
	box      op.BoxShape
}

// queue is a ring of operations: the guest's thread appends, whoever owns the
// stream executes in order. Entries from done to tail do not change but for
// the progress that their owner notes in them.
type queue struct {
	entries []entry
	ring    callRing // the guest's
	tail    atomic.Uint64
	_       [lineBytes]byte // the guest writes above, the owner below
	done    counter
}

// at is entry i, counted from the stream's beginning.
func (q *queue) at(i uint64) *entry { return &q.entries[i%queueLength] }

// empty reports whether everything appended is done.
func (q *queue) empty() bool { return q.done.value.Load() == q.tail.Load() }

// lastUse is how far the queue must be done until nothing in it uses b.
func (q *queue) lastUse(b *buffer) (done uint64, found bool) {
	for i := q.tail.Load(); i > q.done.value.Load(); i-- {
		if uses(&q.at(i-1).op, b) {
			return i, true
		}
	}
	return 0, false
}

func uses(o *op.Op, b op.Buffer) bool {
	if o.Dst.Buf == b || o.Src.Buf == b {
		return true
	}
	for i := range o.Sources[:min(int(o.SourceCount), op.MaxSources)] {
		if o.Sources[i].Buf == b {
			return true
		}
	}
	if o.Kind != op.CollectiveCall {
		return false
	}
	for c := o.Call; c != nil; c = c.Next {
		if c.In.Buf == b || c.Out.Buf == b {
			return true
		}
	}
	return false
}
