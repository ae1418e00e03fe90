package cpu

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/devicetest"
	"github.com/ccrun/ccrun/host/op"
)

// slow makes a device look so rarely that what nobody tells it comes too late.
func slow(d *Device) {
	d.pace = pace{yieldNanos: yieldNanos, parkNanos: int64(20 * time.Second), lookMin: time.Hour, lookMax: time.Hour}
}

// inTime is how long what is told may take: less than a sleep of [slow].
const inTime = 8 * time.Second

// soon runs f, which waits on d and must end without anybody's looking.
func soon(t *testing.T, d *Device, what string, f func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		demand(t, err)
	case <-time.After(inTime):
		d.Abort(errTold)
		d.progress.rouse <- struct{}{}
		t.Fatalf("nobody was told of %s: %v", what, <-ended)
	}
}

var errTold = errors.New("too late")

// until waits for a condition that other threads bring about.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(inTime); !condition(); schedYield() {
		if time.Now().After(deadline) {
			t.Fatalf("nobody was told of %s", what)
		}
	}
}

// TestKick blocks the guest in a stream that needs another one, which nobody
// executes yet.
func TestKick(t *testing.T) {
	d, _ := openRecorded(t)
	slow(d)
	streams := newStreams(t, d, 3)
	submit(t, streams[0], op.Op{Kind: op.Wait, Value: 1}, op.Op{Kind: op.Signal, Slot: 1, Value: 1})
	submit(t, streams[1], op.Op{Kind: op.Wait, Slot: 1, Value: 1})
	submit(t, streams[2], op.Op{Kind: op.Signal, Value: 1})
	soon(t, d, "the first stream", func() error { return streams[1].Sync(device.Forever) })
}

// TestRestOfQueue lets the guest wait for an event in the midst of a queue, and
// then do something else.
func TestRestOfQueue(t *testing.T) {
	d, _ := openRecorded(t)
	slow(d)
	streams := newStreams(t, d, 2)
	e, err := d.NewEvent()
	demand(t, err)
	submit(t, streams[0], op.Op{Kind: op.Wait, Value: 1}, op.Op{Kind: op.EventRecord, Event: e},
		op.Op{Kind: op.Signal, Slot: 1, Value: 1})
	submit(t, streams[1], op.Op{Kind: op.Signal, Value: 1})
	soon(t, d, "the event", func() error { return e.Sync(device.Forever) })
	until(t, "what comes after the event", func() bool { return d.own.pad(0, 1).value.Load() == 1 })
}

// TestCatchUpMissesNobody lets the worker of a stream come for a heavy operation
// while Submit owns the stream for a small call ahead of it.
func TestCatchUpMissesNobody(t *testing.T) {
	const size = 4 * inlineBytes
	pair := openPair(t)
	comms := openComms(t, pair)
	d := pair[0]
	d.opTimeout = 0
	slow(d)
	s := newStreams(t, d, 2)[0]
	peer := newStreams(t, pair[1], 1)[0]
	b, err := d.Alloc(2 * size)
	demand(t, err)
	call := func(rank int) op.Op { return op.Op{Kind: op.CollectiveCall, Comm: comms[rank], Call: meetings(1)} }
	submit(t, s, call(0))
	s.owner.Store(ownedByGuest)
	submit(t, s, op.Op{Kind: op.Copy, Dst: op.View{Buf: b}, Src: op.View{Buf: b, Off: size}, Bytes: size})
	s.owner.Store(unowned)
	submit(t, peer, call(1))
	submit(t, s, call(0))
	until(t, "the heavy operation", func() bool { return s.done.value.Load() >= 2 })
	submit(t, peer, call(1))
	soon(t, d, "the last call", func() error { return s.Sync(device.Forever) })
}

// TestGroupGrows appends a Send to a group whose owner sleeps. The peer needs
// that Send before it does anything for the first one.
func TestGroupGrows(t *testing.T) {
	pair := openPair(t)
	var streams [2]*stream
	var views [2]op.View
	for i, d := range pair {
		d.opTimeout = 0
		slow(d)
		streams[i] = newStreams(t, d, 1)[0]
		b, err := d.Alloc(64)
		demand(t, err)
		views[i].Buf = b
	}
	s := streams[0]
	submit(t, s, op.Op{Kind: op.Send, Peer: 1, Src: views[0], Bytes: 64})
	s.wake()
	bell := &pair[0].own.header().bell
	until(t, "the first message", func() bool { return bell.waiters.Load() != 0 && s.owner.Load() == ownedByWorker })
	submit(t, s, op.Op{Kind: op.Send, Peer: 1, Slot: 1, Src: views[0], Bytes: 64})
	for _, channel := range []uint32{1, 0} {
		submit(t, streams[1], op.Op{Kind: op.Recv, Slot: channel, Dst: views[1], Bytes: 64})
		soon(t, pair[1], "a message", func() error { return streams[1].Sync(device.Forever) })
	}
	soon(t, pair[0], "the answers", func() error { return s.Sync(device.Forever) })
}

// TestProgressGoesToSleep appends work just before progress announces that it
// sleeps, so that nobody rouses it.
func TestProgressGoesToSleep(t *testing.T) {
	d, _ := openRecorded(t)
	slow(d)
	d.progress.started = true // by this test
	s := newStreams(t, d, 1)[0]
	submit(t, s, op.Op{Kind: op.Wait, Value: 1})
	soon(t, d, "the work that is there", func() error {
		d.progress.sleep(d)
		return nil
	})
	other := newStreams(t, d, 1)[0]
	submit(t, other, op.Op{Kind: op.Signal, Value: 1})
	demand(t, s.Sync(device.Forever))
	asleep := make(chan struct{})
	go func() {
		defer close(asleep)
		d.progress.sleep(d)
	}()
	until(t, "sleep", d.progress.asleep.Load)
	submit(t, s, op.Op{Kind: op.Wait, Value: 2})
	soon(t, d, "work that came later", func() error {
		<-asleep
		return nil
	})
	submit(t, other, op.Op{Kind: op.Signal, Value: 2})
	demand(t, s.Sync(device.Forever))
}

// TestFreeWhilePeerReads frees a buffer in the midst of a peer's operation and
// lets the next one have its place as soon as it may. The peer must see the
// bytes of the first alone.
func TestFreeWhilePeerReads(t *testing.T) {
	const size = 8 << 20
	exchange := new(devicetest.Exchange)
	var pair [2]*Device
	for i := range pair {
		d, err := Open(device.Config{Rank: i, Size: 2, Exchange: exchange, MemoryBytes: 3 * size})
		demand(t, err)
		t.Cleanup(func() { demand(t, d.Close()) })
		pair[i] = d.(*Device)
	}
	owner, reader := pair[0], pair[1]
	local, err := reader.Alloc(2 * size)
	demand(t, err)
	dst, other := op.View{Buf: local}, op.View{Buf: local, Off: size}
	s := newStreams(t, reader, 1)[0]
	ones, zeros := bytes.Repeat([]byte{1}, size), make([]byte, size)
	for range 5 {
		for _, o := range []op.Op{
			{Kind: op.Get, Dst: dst, Bytes: size},
			{Kind: op.Reduce, Type: op.U8, Dst: dst, Bytes: size, SourceCount: 2, Sources: [op.MaxSources]op.View{other}},
		} {
			b, err := owner.Alloc(size)
			demand(t, err)
			demand(t, owner.Write(op.View{Buf: b}, ones))
			demand(t, reader.Write(dst, zeros))
			h, err := owner.Export(op.View{Buf: b}, size)
			demand(t, err)
			imported, err := reader.Import(0, h)
			demand(t, err)
			o.Src.Buf, o.Sources[1].Buf = imported, imported
			if o.Kind == op.Get {
				o.SourceCount = 0
			}
			ended := make(chan error, 1)
			go func() { ended <- s.Submit(&o) }()
			for !holdsPin(owner.own, reader.rank, s) && len(ended) == 0 {
				pause()
			}
			demand(t, owner.Free(b))
			next, err := owner.Alloc(size)
			demand(t, err)
			demand(t, owner.Write(op.View{Buf: next}, bytes.Repeat([]byte{3}, size)))
			demand(t, <-ended)
			got := make([]byte, size)
			demand(t, reader.Read(got, dst))
			if !bytes.Equal(got, ones) {
				t.Fatalf("%s: %d bytes are not those of the freed buffer", o.Kind, size-bytes.Count(got, []byte{1}))
			}
			demand(t, owner.Free(next))
		}
	}
}

// holdsPin reports whether an operation of a peer's stream is under way.
func holdsPin(a *arena, peer int, s *stream) bool {
	for word := range pinWords {
		if a.pin(peer, s.number, word).Load() != 0 {
			return true
		}
	}
	return false
}

// TestWanted lets the guest wait for a stream whose worker waits for a signal:
// the guest's thread takes the wait over, so that only one of them yields.
func TestWanted(t *testing.T) {
	d, _ := openRecorded(t)
	d.pace.yieldNanos = int64(time.Hour)
	s := newStreams(t, d, 1)[0]
	submit(t, s, op.Op{Kind: op.Wait, Value: 1})
	s.wake()
	until(t, "the worker's turn", func() bool { return s.owner.Load() == ownedByWorker })
	ended := make(chan error, 1)
	go func() { ended <- s.Sync(device.Forever) }()
	until(t, "the guest's wish", func() bool { return s.owner.Load() == ownedByGuest })
	d.own.pad(0, 0).raise(1)
	demand(t, <-ended)
}
