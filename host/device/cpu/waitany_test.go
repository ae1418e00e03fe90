package cpu

import (
	"errors"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// tellings are what may end a wait of rank 0 that sleeps: rank 1, or another
// goroutine, does it while nobody looks.
var tellings = []struct {
	name   string
	wait   []op.Op // of the stream that is waited for, before its record
	behind bool    // another stream's event, and that one's stream has the operations
	signal bool    // no stream: the signal itself
	tell   op.Op   // of rank 1
}{
	{name: "a letter", wait: []op.Op{{Kind: op.Recv, Peer: 1, Bytes: 64}}, tell: op.Op{Kind: op.Send, Bytes: 64}},
	{name: "an answer", wait: []op.Op{{Kind: op.Send, Peer: 1, Bytes: 64}}, tell: op.Op{Kind: op.Recv, Bytes: 64}},
	{name: "what a stream waits for", wait: []op.Op{{Kind: op.Wait, Peer: 1, Value: 1}}, tell: op.Op{Kind: op.Signal, Value: 1}},
	{name: "a letter behind a signal", wait: []op.Op{{Kind: op.Wait, Peer: 1, Value: 1}, {Kind: op.Recv, Peer: 0, Bytes: 0}, {Kind: op.Send, Peer: 0, Bytes: 0}},
		tell: op.Op{Kind: op.Signal, Value: 1}},
	{name: "another stream's event", behind: true, wait: []op.Op{{Kind: op.Recv, Peer: 1, Bytes: 64}}, tell: op.Op{Kind: op.Send, Bytes: 64}},
	{name: "a signal", signal: true, tell: op.Op{Kind: op.Signal, Value: 1}},
}

// TestAnyIsTold lets the guest's thread sleep in a wait for many points, and
// then has one of them reached, on machines with processors for workers and
// without.
func TestAnyIsTold(t *testing.T) {
	for _, oneProcessor := range []bool{false, true} {
		for _, c := range tellings {
			t.Run(c.name, func(t *testing.T) {
				pair := openPair(t)
				var views [2]op.View
				for i, d := range pair {
					d.opTimeout, d.oneProcessor = 0, oneProcessor
					slow(d)
					b, err := d.Alloc(64)
					demand(t, err)
					views[i].Buf = b
				}
				d := pair[0]
				streams := newStreams(t, d, 4)
				points := []device.Point{{Peer: 1, Slot: 99, Value: 1}}
				at := func(s *stream, ops ...op.Op) {
					e, err := d.NewEvent()
					demand(t, err)
					submit(t, s, append(ops, op.Op{Kind: op.EventRecord, Event: e})...)
					points = append(points, device.Point{Event: e})
				}
				for i := range c.wait {
					c.wait[i].Src, c.wait[i].Dst = views[0], views[0]
				}
				at(streams[0], op.Op{Kind: op.Recv, Peer: 1, Slot: 7, Dst: views[0], Bytes: 8}) // never
				at(streams[1], op.Op{Kind: op.Wait, Peer: 1, Slot: 98, Value: 1})               // never
				switch {
				case c.signal:
					points = append(points, device.Point{Peer: 1, Value: 1})
				case c.behind:
					at(streams[2], c.wait...)
					behind := points[len(points)-1].Event
					points = points[:len(points)-1]
					at(streams[3], op.Op{Kind: op.EventWait, Event: behind})
				default:
					at(streams[2], c.wait...)
				}
				found, told := make(chan int, 1), make(chan struct{})
				go func() {
					defer close(told)
					until(t, "the wait", func() bool { return d.own.pad(1, 99).elsewhere.Load() != 0 })
					c.tell.Src, c.tell.Dst = views[1], views[1]
					s := newStreams(t, pair[1], 1)[0]
					submit(t, s, c.tell)
					demand(t, s.Sync(device.Forever))
				}()
				soon(t, d, c.name, func() error {
					i, err := d.WaitAny(points, device.Forever)
					found <- i
					return err
				})
				<-told
				if i := <-found; i != 3 {
					t.Errorf("found %d", i)
				}
				if n := d.own.pad(1, 99).elsewhere.Load() + d.own.pad(1, 0).elsewhere.Load() + streams[2].done.elsewhere.Load(); n != 0 {
					t.Error("the thread is still counted where it waited")
				}
				last := newStreams(t, pair[1], 1)[0] // sleeps are long
				submit(t, last, op.Op{Kind: op.Signal, Slot: 98, Value: 1}, op.Op{Kind: op.Send, Slot: 7, Src: views[1], Bytes: 8})
				last.wake()
				for _, s := range append(streams, last) {
					soon(t, d, "the rest", func() error { return s.Sync(device.Forever) })
				}
			})
		}
	}
}

// TestAnyLanes reads what a rank says of itself while it sleeps in such a wait.
func TestAnyLanes(t *testing.T) {
	d, log := openRecorded(t)
	d.oneProcessor = true
	b, err := d.Alloc(8)
	demand(t, err)
	var points []device.Point
	streams := newStreams(t, d, 2)
	for i, o := range []op.Op{{Kind: op.Recv, Slot: 5, Dst: op.View{Buf: b}, Bytes: 8}, {Kind: op.Wait, Slot: 9, Value: 42}} {
		e, err := d.NewEvent()
		demand(t, err)
		submit(t, streams[i], o, op.Op{Kind: op.EventRecord, Event: e})
		points = append(points, device.Point{Event: e})
	}
	d.own.pad(0, 3).raise(6)
	points = append(points, device.Point{Slot: 3, Value: 7})
	ended := make(chan error, 1)
	go func() {
		_, err := d.WaitAny(points, device.Forever)
		ended <- err
	}()
	var first, later map[int]flight.Lane
	waits := func(l map[int]flight.Lane) bool {
		return l[0].State == flight.LaneWaiting && l[1].State == flight.LaneWaiting && l[2].State == flight.LaneWaiting
	}
	until(t, "the lanes", func() bool { first = log.Lanes(); return waits(first) })
	for i, want := range []flight.Wait{
		{Kind: uint8(op.SyncAny), Slot: 3, Value: 7, Seen: 6, Name: flight.OrOthers}, {Kind: uint8(op.Recv), Slot: 5}, {Kind: uint8(op.Wait), Slot: 9, Value: 42},
	} {
		got := first[i].Wait
		got.Since = 0
		if want.Kind == uint8(op.Recv) {
			got.Seen = 0 // the bell
		}
		if got != want {
			t.Errorf("lane %d is %+v, want %+v", i, got, want)
		}
	}
	until(t, "more looks", func() bool {
		later = log.Lanes()
		return waits(later) && later[0].Checks >= first[0].Checks+2 && later[1].Checks >= first[1].Checks+2 && later[2].Checks >= first[2].Checks+2
	})
	for i := range 3 {
		if later[i].Epoch != first[i].Epoch {
			t.Errorf("lane %d moved: %+v, then %+v", i, first[i], later[i])
		}
	}
	d.Abort(errTold)
	if err := <-ended; !errors.Is(err, errTold) {
		t.Error(err)
	}
	until(t, "the end", func() bool {
		return log.Lanes()[0].State == flight.LaneBusy && log.Lanes()[1].State != flight.LaneWaiting
	})
}

// TestAnyAllocates nothing, whether it finds something at once, after a while or
// not at all.
func TestAnyAllocates(t *testing.T) {
	d, _ := openRecorded(t)
	for mode, oneProcessor := range []bool{false, true} {
		d.oneProcessor = oneProcessor
		streams := newStreams(t, d, 3)
		points := make([]device.Point, 3)
		for i := range 2 {
			e, err := d.NewEvent()
			demand(t, err)
			points[i].Event = e
		}
		value := d.own.pad(0, 0).value.Load()
		points[2] = device.Point{Slot: 1, Value: 1}
		record := [2]op.Op{{Kind: op.EventRecord, Event: points[0].Event}, {Kind: op.EventRecord, Event: points[1].Event}}
		never, hold, signal := op.Op{Kind: op.Wait, Slot: 2, Value: uint64(mode + 1)}, op.Op{Kind: op.Wait}, op.Op{Kind: op.Signal}
		demand(t, errors.Join(streams[0].Submit(&never), streams[0].Submit(&record[0])))
		n := testing.AllocsPerRun(100, func() {
			value++
			hold.Value, signal.Value = value, value
			if err := errors.Join(streams[1].Submit(&hold), streams[1].Submit(&record[1])); err != nil {
				t.Error(err)
			}
			for _, timeout := range []time.Duration{0, 300 * time.Microsecond} {
				if _, err := d.WaitAny(points, timeout); err != device.ErrTimeout {
					t.Error(err)
				}
			}
			if err := streams[2].Submit(&signal); err != nil {
				t.Error(err)
			}
			if i, err := d.WaitAny(points, device.Forever); err != nil || i != 1 {
				t.Error(i, err)
			}
			if i, err := d.WaitAny(points, device.Forever); err != nil || i != 1 {
				t.Error(i, err)
			}
		})
		if n != 0 {
			t.Errorf("%v allocations in a round", n)
		}
		d.own.pad(0, 2).raise(never.Value)
		demand(t, streams[0].Sync(device.Forever))
	}
}

// TestAttendedStreamGetsOn gives much to a stream that was waited for among
// others on the rank's only processor, and then never waits: somebody must come
// all the same, though no worker is woken for it at once.
func TestAttendedStreamGetsOn(t *testing.T) {
	d, _ := openRecorded(t)
	d.oneProcessor = true
	streams := newStreams(t, d, 2)
	s := streams[0]
	b, err := d.Alloc(4 * inlineBytes)
	demand(t, err)
	e, err := d.NewEvent()
	demand(t, err)
	submit(t, s, op.Op{Kind: op.Wait, Value: 1}, op.Op{Kind: op.EventRecord, Event: e})
	if _, err := d.WaitAny([]device.Point{{Event: e}}, 0); err != device.ErrTimeout {
		t.Fatal(err)
	}
	if !s.attended || s.owner.Load() != unowned {
		t.Error("the stream is not as a wait leaves it")
	}
	submit(t, streams[1], op.Op{Kind: op.Signal, Value: 1})
	submit(t, s, op.Op{Kind: op.Copy, Dst: op.View{Buf: b}, Src: op.View{Buf: b, Off: 2 * inlineBytes}, Bytes: 2 * inlineBytes})
	until(t, "what was submitted", func() bool { return s.done.value.Load() == 3 })
	demand(t, s.Sync(device.Forever))
	demand(t, errors.Join(s.Submit(&op.Op{Kind: op.Wait, Value: 2}), streams[1].Submit(&op.Op{Kind: op.Signal, Value: 2}), s.Sync(device.Forever)))
	if s.attended {
		t.Error("the stream was waited for alone, and still counts as one of many")
	}
}
