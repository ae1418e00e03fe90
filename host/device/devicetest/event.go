package devicetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var eventCases = []testCase{
	{"event/never recorded", eventNever},
	{"event/orders streams", eventOrders},
	{"event/sync", eventSync},
	{"event/recorded again", eventAgain},
	{"event/failure passes on", eventFailure},
}

func record(e device.Event) op.Op    { return op.Op{Kind: op.EventRecord, Event: e, Peer: -1} }
func waitEvent(e device.Event) op.Op { return op.Op{Kind: op.EventWait, Event: e, Peer: -1} }

func (r *rank) recorded(e device.Event, want bool) {
	r.w.t.Helper()
	if got := e.Recorded(); got != want {
		r.failf("recorded is %v", got)
	}
}

func eventNever(t *testing.T, open Open) {
	r := one(t, open)
	s, e := r.stream(), r.event()
	r.recorded(e, true)
	r.must(e.Sync(0))
	r.submit(s, waitEvent(e))
	r.sync(s)
	r.must(e.Close())
	r.is(e.Close(), device.ErrClosed)
	r.is(e.Sync(0), device.ErrClosed)
	o := record(e)
	r.is(s.Submit(&o), device.ErrClosed)
}

// eventOrders copies from stream to stream, each hop behind an event.
func eventOrders(t *testing.T, open Open) {
	r := one(t, open)
	const size, hops = 500, 50
	streams := []device.Stream{r.stream(), r.stream(), r.stream()}
	gate := r.stream()
	chain := r.alloc(size * (hops + 1))
	r.write(chain, 0, pattern(size, 8))
	r.submit(streams[0], wait(0, 0, 1))
	for i := range hops {
		s, next, e := streams[i%3], streams[(i+1)%3], r.event()
		r.submit(s, move(op.Copy, at(chain, int64(i+1)*size), at(chain, int64(i)*size), size), record(e))
		r.submit(next, waitEvent(e))
		r.must(e.Close()) // waits that were submitted still count
	}
	r.submit(gate, signal(0, 0, 1))
	r.sync(streams[hops%3])
	if !bytes.Equal(r.read(chain)[hops*size:], pattern(size, 8)) {
		t.Error("the last hop does not hold the first's bytes")
	}
}

func eventSync(t *testing.T, open Open) {
	r := one(t, open)
	s, other, e := r.stream(), r.stream(), r.event()
	r.submit(s, record(e))
	r.must(e.Sync(patience))
	r.recorded(e, true)
	r.submit(s, wait(0, 0, 1), record(e), wait(0, 0, 2))
	r.recorded(e, false)
	r.is(e.Sync(0), device.ErrTimeout)
	r.is(e.Sync(5*time.Millisecond), device.ErrTimeout)
	r.submit(other, signal(0, 0, 1))
	r.must(e.Sync(patience)) // though the stream goes on
	r.recorded(e, true)
	done, err := s.Query()
	r.must(err)
	if done {
		t.Error("the stream did not wait for value 2")
	}
	r.submit(other, signal(0, 0, 2))
	r.sync(s)
}

// eventAgain records an event twice: waits between the records refer to the
// first, later ones and the guest to the second, whichever comes first.
func eventAgain(t *testing.T, open Open) {
	r := one(t, open)
	first, second, early, late, gate := r.stream(), r.stream(), r.stream(), r.stream(), r.stream()
	e := r.event()
	r.submit(first, wait(0, 0, 1), record(e))
	r.submit(early, waitEvent(e), signal(0, 10, 1))
	r.submit(second, wait(0, 1, 1), record(e))
	r.submit(late, waitEvent(e), signal(0, 11, 1))
	r.submit(gate, signal(0, 1, 1))
	r.sync(second)
	r.sync(late)
	r.signalValue(0, 10, 0) // early refers to the first record
	r.recorded(e, true)
	r.must(e.Sync(0))
	r.is(early.Sync(5*time.Millisecond), device.ErrTimeout)
	r.submit(gate, record(e))
	r.submit(second, wait(0, 1, 2), record(e))
	r.recorded(e, false) // though it was before
	r.is(e.Sync(0), device.ErrTimeout)
	r.submit(gate, signal(0, 1, 2))
	r.must(e.Sync(patience))
	r.recorded(e, true)
	r.submit(gate, signal(0, 0, 1))
	r.sync(early)
	r.signalValue(0, 10, 1)
	r.recorded(e, true)
}

// eventFailure makes a stream fail before it records: who waits for the event
// must not take its data for good.
func eventFailure(t *testing.T, open Open) {
	r := one(t, open, func(c *device.Config) { c.OpTimeout = 30 * time.Millisecond })
	bad, good, e := r.stream(), r.stream(), r.event()
	r.submit(bad, wait(0, 0, 1), record(e))
	r.submit(good, waitEvent(e), signal(0, 1, 1))
	r.is(bad.Sync(patience), device.ErrTimeout)
	r.is(good.Sync(patience), device.ErrTimeout)
	r.is(e.Sync(patience), device.ErrTimeout)
	r.signalValue(0, 1, 0)
}
