package module

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// lane is a stream and the bucket that has it.
type lane struct {
	stream  device.Stream
	event   device.Event
	task    int32 // -1 if none
	landing bool  // what comes is being written to where it belongs
	busy    bool  // its event is yet to come
	buffer  op.Buffer
	ops     int
	sums    sums

	portion int      // operations submitted since the event was recorded last
	rest    []queued // those for which the stream may have no room
	next    int      // the first of them that is not submitted
}

// queued is an operation with the box that it points to.
type queued struct {
	op  op.Op
	box op.BoxShape
}

// portionMax is how many operations of a bucket a stream holds at a time: fewer
// than any stream has room for. A rank whose thread waited for room could neither
// admit other buckets nor hear of a failure, and the room may depend on that.
const portionMax = 256

// take gives the lane to a bucket.
func (l *lane) take(task int32, buffer op.Buffer) {
	l.task, l.landing, l.buffer, l.ops = task, false, buffer, 0
	l.portion, l.rest, l.next = 0, l.rest[:0], 0
}

// submit submits an operation, or keeps it for the next portion.
func (l *lane) submit(o *op.Op) error {
	if l.portion < portionMax {
		l.portion++
		return l.stream.Submit(o)
	}
	l.rest = append(l.rest, queued{op: *o})
	if q := &l.rest[len(l.rest)-1]; o.Box != nil {
		q.box = *o.Box
	}
	return nil
}

// record has the lane's event tell when the portion is done. o is scratch.
func (l *lane) record(o *op.Op) error {
	l.busy, l.portion = true, 0
	*o = op.Op{Kind: op.EventRecord, Peer: -1, Event: l.event}
	return l.stream.Submit(o)
}

// goOn submits the next portion, if there is one. o is scratch.
func (l *lane) goOn(o *op.Op) (more bool, err error) {
	if l.next == len(l.rest) {
		clear(l.rest)
		l.rest, l.next = l.rest[:0], 0
		return false, nil
	}
	for ; l.next < len(l.rest) && l.portion < portionMax; l.next++ {
		q := &l.rest[l.next]
		if q.op.Box != nil {
			q.op.Box = &q.box
		}
		l.portion++
		if err := l.stream.Submit(&q.op); err != nil {
			return false, err
		}
	}
	return true, l.record(o)
}
