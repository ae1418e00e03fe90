package cpu

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// linked makes a group of calls.
func linked(calls ...op.Call) *op.Call {
	for i := range len(calls) - 1 {
		calls[i].Next = &calls[i+1]
	}
	return &calls[0]
}

// meeting is a call that waits for everyone.
func meeting() op.Call {
	return op.Call{Collective: op.BarrierAll, Program: &op.Program{
		Met: true, Steps: []op.Step{{Kind: op.StepEnter, Peer: -1}, {Kind: op.StepMeet, Peer: -1}},
	}}
}

func meetings(n int) *op.Call {
	var calls []op.Call
	for range n {
		calls = append(calls, meeting())
	}
	return linked(calls...)
}

// TestLimitIsOfAWait: a group may take longer than a wait as long as its calls
// come along, so each wait has a limit of its own.
func TestLimitIsOfAWait(t *testing.T) {
	pair := openPair(t)
	comms := openComms(t, pair)
	var by [2]*caller
	for i, d := range pair {
		d.opTimeout = time.Hour
		by[i] = &caller{stream: newStreams(t, d, 1)[0], guest: d.guestWaitFor(op.SyncStream, 0), patient: true}
	}
	comms[0].run.begin(&op.Op{Call: meetings(callsAtOnce)}, 0)
	limits := map[int64]bool{}
	for number := range uint64(callsAtOnce) {
		var limit int64
		for again := range 2 {
			if err := comms[0].advance(by[0]); err != errDeadline {
				t.Fatalf("error %v", err)
			}
			if again == 1 && comms[0].run.limit != limit {
				t.Errorf("the same wait has a limit %d and then %d", limit, comms[0].run.limit)
			}
			limit = comms[0].run.limit
		}
		limits[limit] = true
		comms[1].run.begin(&op.Op{Call: meetings(1)}, number)
		demand(t, comms[1].advance(by[1]))
	}
	demand(t, comms[0].advance(by[0]))
	if len(limits) != callsAtOnce || limits[0] {
		t.Errorf("%d waits have the limits %v", callsAtOnce, limits)
	}
}

// spinUntil waits for a counter that another processor is about to raise.
func spinUntil(c *counter, value uint64) {
	for i := 1; c.value.Load() < value; i++ {
		if pause(); i%1000 == 0 {
			runtime.Gosched()
		}
	}
}

// TestLimitEndsWithABriefWait: a wait that ended well within a moment leaves
// its limit to no other, whether its peer had come before or came meanwhile.
func TestLimitEndsWithABriefWait(t *testing.T) {
	d := openPair(t)[0]
	c, by := &comm{device: d}, &caller{guest: guestWait{brief: true}}
	var asked, bell counter
	const rounds = 2_000
	var peer sync.WaitGroup
	peer.Go(func() {
		for number := range uint64(rounds) {
			spinUntil(&asked, number+1)
			bell.set(number + 1)
		}
	})
	defer peer.Wait()
	for number := range uint64(rounds) {
		asked.set(number + 1)
		c.run.limit = 1
		switch err := c.await(&bell, number+1, 1, by); {
		case err == nil && c.run.limit != 0:
			asked.set(rounds)
			t.Fatalf("round %d: the limit %d is left", number, c.run.limit)
		case err != nil && err != errPending:
			t.Errorf("round %d: %v", number, err)
		}
		spinUntil(&bell, number+1)
	}
}

// TestQueuedCallsAreBounded queues groups behind a wait until the queue has no
// room for calls, though it has for operations.
func TestQueuedCallsAreBounded(t *testing.T) {
	pair := openPair(t)
	comms := openComms(t, pair)
	d := pair[0]
	slow(d)
	s := newStreams(t, d, 1)[0]
	submit(t, s, op.Op{Kind: op.Wait, Peer: 1, Value: 1})
	group := op.Op{Kind: op.CollectiveCall, Comm: comms[0], Call: meetings(op.MaxGroup)}
	d.opTimeout = time.Hour
	fit := ringCallsMax/op.MaxGroup + 1 // those before the ring grew have an array of their own
	submit(t, s, op.Op{Kind: op.CollectiveCall, Comm: comms[0], Call: meetings(1)})
	for range fit - 1 {
		submit(t, s, group)
	}
	if n := len(s.ring.calls); n != ringCallsMax {
		t.Fatalf("the ring has room for %d calls", n)
	}
	submitted := make(chan error, 1)
	go func() { submitted <- s.Submit(&group) }()
	until(t, "a full ring", func() bool { return s.owner.Load() == ownedByGuest })
	select {
	case err := <-submitted:
		t.Fatalf("one group more was taken: %v", err)
	default:
	}
	d.Abort(errTold)
	if err := <-submitted; err == nil {
		t.Error("a group was taken after an abort")
	}
}

// TestCallRing takes room for groups of all lengths and frees it in order: what
// is in use never overlaps.
func TestCallRing(t *testing.T) {
	var r callRing
	type taken struct {
		room     []op.Call
		position uint64
	}
	var live []taken
	marks := map[*op.Call]bool{}
	for i := range 20_000 {
		n := []int{1, 1, 3, 700, op.MaxGroup, 64}[i*i%6]
		room, position := r.take(n)
		for room == nil {
			if len(live) == 0 {
				t.Fatalf("no room for %d in an empty ring", n)
			}
			for j := range live[0].room[:cap(live[0].room)] {
				delete(marks, &live[0].room[:cap(live[0].room)][j])
			}
			if live = live[1:]; len(live) == 0 {
				r.free(r.next)
			} else {
				r.free(live[0].position)
			}
			if i > 10_000 {
				r.grow()
			}
			room, position = r.take(n)
		}
		if len(room) != 0 || cap(room) != n {
			t.Fatalf("room for %d of %d calls, %d of them used", cap(room), n, len(room))
		}
		for j := range room[:n] {
			if c := &room[:n][j]; marks[c] {
				t.Fatalf("a call is given twice, at position %d", position)
			} else {
				marks[c] = true
			}
		}
		live = append(live, taken{room, position})
	}
}

// TestProgramsAreNotKept: a communicator remembers one program, whatever is
// submitted.
func TestProgramsAreNotKept(t *testing.T) {
	pair := openPair(t)
	c := openComms(t, pair)[0]
	b, err := pair[0].Alloc(64)
	demand(t, err)
	for bytes := int64(8); bytes <= 64; bytes += 8 {
		in := []op.Place{{Rank: 0, Area: op.AreaIn}}
		call := &op.Call{In: op.View{Buf: b}, Program: &op.Program{Steps: []op.Step{{Bytes: bytes, Sources: in, Dests: in}}}}
		demand(t, pair[0].acceptCalls(&op.Op{Comm: c, Call: call}))
		if c.extent.program != call.Program || c.extent.bytes != [2]int64{bytes, 0} {
			t.Errorf("%d bytes: the extent is %+v", bytes, c.extent)
		}
	}
}

// TestFarDeadline: no timeout is so long that it has passed already.
func TestFarDeadline(t *testing.T) {
	d, _ := openRecorded(t)
	for _, timeout := range []time.Duration{1<<63 - 1, 1 << 62, device.Forever} {
		if at := d.deadlineAfter(timeout); at < 1<<62 {
			t.Errorf("%d: deadline %d", timeout, at)
		}
	}
	if at, now := d.deadlineAfter(time.Second), d.Now(); at > now+int64(time.Second) {
		t.Errorf("a second: deadline %d at %d", at, now)
	}
}
