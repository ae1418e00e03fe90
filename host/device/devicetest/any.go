package devicetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var anyCases = []testCase{
	{"any/reached before", anyBefore},
	{"any/event", anyEvent},
	{"any/out of order", anyOutOfOrder},
	{"any/two events of a stream", anyTwoOfOne},
	{"any/signals of peers", anySignals},
	{"any/mixed", anyMixed},
	{"any/behind other streams", anyBehind},
	{"any/a look", anyLook},
	{"any/nothing", anyNothing},
	{"any/failed stream", anyFailed},
	{"any/refused", anyRefused},
	{"any/the rest goes on", anyRest},
	{"any/storm", anyStorm},
}

// raised is the point at which a peer has raised a slot here.
func raised(peer int, slot uint32, value uint64) device.Point {
	return device.Point{Peer: peer, Slot: slot, Value: value}
}

// reaches demands that a point is the first that has been reached.
func (r *rank) reaches(want int, points ...device.Point) {
	r.w.t.Helper()
	got, err := r.WaitAny(points, patience)
	r.must(err)
	if got != want {
		r.failf("point %d of %d has been reached, want %d", got, len(points), want)
	}
}

// misses demands that none has, now and a moment later.
func (r *rank) misses(points ...device.Point) {
	r.w.t.Helper()
	for _, timeout := range []time.Duration{0, 3 * time.Millisecond} {
		i, err := r.WaitAny(points, timeout)
		if i != -1 {
			r.failf("point %d of %d has been reached, error %v", i, len(points), err)
		}
		r.is(err, device.ErrTimeout)
	}
}

func anyBefore(t *testing.T, open Open) {
	r := one(t, open)
	s, e, never := r.stream(), r.event(), r.event()
	r.reaches(0, device.Point{Event: e}) // never recorded
	r.submit(s, signal(0, 3, 7), record(e))
	r.sync(s)
	r.submit(s, wait(0, 0, 1), record(never))
	r.reaches(0, device.Point{Event: e}, raised(0, 3, 7))
	r.reaches(1, device.Point{Event: never}, device.Point{Event: e})
	r.reaches(2, raised(0, 3, 8), device.Point{Event: never}, raised(0, 3, 7), device.Point{Event: e})
	r.reaches(0, raised(0, 5, 0)) // holds nobody
	r.misses(device.Point{Event: never}, raised(0, 3, 8))
}

func anyEvent(t *testing.T, open Open) {
	r := one(t, open)
	s, gate, e := r.stream(), r.stream(), r.event()
	for round := range uint64(30) {
		r.submit(s, wait(0, 0, round+1), record(e))
		r.misses(device.Point{Event: e})
		r.submit(gate, signal(0, 0, round+1))
		r.reaches(0, device.Point{Event: e})
		r.recorded(e, true)
	}
}

// anyOutOfOrder lets streams finish in an order that has nothing to do with
// that of the points.
func anyOutOfOrder(t *testing.T, open Open) {
	const streams = 12
	r := one(t, open)
	random := rand.New(rand.NewPCG(1, 2))
	gate := r.stream()
	var points []device.Point
	var held []device.Stream
	for range streams {
		held = append(held, r.stream())
		points = append(points, device.Point{Event: r.event()})
	}
	for round := range uint64(8) {
		for i, s := range held {
			r.submit(s, wait(0, uint32(i), round+1), record(points[i].Event))
		}
		for _, i := range random.Perm(streams) {
			r.misses(points...)
			r.submit(gate, signal(0, uint32(i), round+1))
			r.reaches(i, points...)
			points[i] = raised(0, uint32(i), round+2) // what never comes, in its place
			defer r.sync(held[i])
		}
		for i := range points {
			points[i] = device.Point{Event: r.event()}
		}
	}
}

func anyTwoOfOne(t *testing.T, open Open) {
	r := one(t, open)
	s, gate, first, second := r.stream(), r.stream(), r.event(), r.event()
	r.submit(s, wait(0, 0, 1), record(first), wait(0, 0, 2), record(second))
	points := []device.Point{{Event: second}, {Event: first}}
	r.misses(points...)
	r.submit(gate, signal(0, 0, 1))
	r.reaches(1, points...)
	r.misses(points[0])
	r.submit(gate, signal(0, 0, 2))
	r.reaches(0, points[0])
	r.reaches(0, points...)
}

// anySignals lets a rank wait for whichever peer comes first, which is told to
// come by the rank itself.
func anySignals(t *testing.T, open Open) {
	const size, rounds = 4, 25
	w := newWorld(t, open, size)
	w.each(func(r *rank) {
		s := r.stream()
		if r.n != 0 {
			for round := range uint64(rounds) {
				r.reaches(0, raised(0, 9, round+1))
				r.submit(s, signal(0, uint32(r.n), round+1))
			}
			r.sync(s)
			return
		}
		random := rand.New(rand.NewPCG(3, 4))
		for round := range uint64(rounds) {
			var points []device.Point
			for peer := 1; peer < size; peer++ {
				points = append(points, raised(peer, uint32(peer), round+1))
			}
			for _, i := range random.Perm(size - 1) {
				r.submit(s, signal(i+1, 9, round+1))
				r.reaches(i, points...)
				points[i].Value = 1 << 40
			}
		}
	})
}

// anyMixed waits for events and signals of which each comes first in turn.
func anyMixed(t *testing.T, open Open) {
	const rounds = 40
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s := r.stream()
		if r.n == 1 {
			for round := range uint64(rounds) {
				r.reaches(0, raised(0, 0, round+1))
				r.submit(s, signal(0, uint32(round%3), round+1))
			}
			r.sync(s)
			return
		}
		asked, held, other := r.stream(), r.stream(), r.stream()
		early, late := r.event(), r.event()
		for round := range uint64(rounds) {
			r.submit(held, wait(1, 0, round/3*3+1), record(early))
			r.submit(other, wait(1, 1, round/3*3+2), record(late))
			points := []device.Point{{Event: early}, {Event: late}, raised(1, 2, round+1)}
			for i := range int(round % 3) {
				r.sync([]device.Stream{held, other}[i]) // they came in the rounds before
				points[i] = raised(1, 30, 1)
			}
			r.submit(asked, signal(1, 0, round+1))
			r.reaches(int(round%3), points...)
		}
	})
}

// anyBehind waits for events whose streams wait for other streams, some of which
// are not waited for.
func anyBehind(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		const size = 40_000
		peer, b := 1-r.n, r.filled(3*size, uint64(r.n))
		streams := []device.Stream{r.stream(), r.stream(), r.stream(), r.stream()}
		moved, came, done := r.event(), r.event(), r.event()
		r.submit(streams[0], send(peer, 0, at(b, 0), size), move(op.Copy, at(b, size/2), at(b, 0), size/4))
		r.submit(streams[1], recv(peer, 0, at(b, size), size), record(came))
		r.submit(streams[2], waitEvent(came), move(op.Copy, at(b, 2*size), at(b, size), size), record(moved), signal(peer, 1, 1))
		r.submit(streams[3], wait(peer, 1, 1), waitEvent(moved), record(done))
		r.reaches(0, device.Point{Event: done})
		if got := r.read(b)[2*size:]; !bytes.Equal(got, pattern(size, uint64(peer))) {
			r.failf("%s", firstDifference(got, pattern(size, uint64(peer)), "what was received"))
		}
		r.barrier()
	})
}

// anyLook polls and never waits: the streams must get on.
func anyLook(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		const size = 100_000
		peer, b := 1-r.n, r.filled(2*size, uint64(r.n))
		s, other, sent, came := r.stream(), r.stream(), r.event(), r.event()
		r.submit(s, send(peer, 0, at(b, 0), size), record(sent))
		r.submit(other, recv(peer, 0, at(b, size), size), record(came))
		for _, e := range []device.Event{came, sent} {
			for {
				_, err := r.WaitAny([]device.Point{{Event: e}}, 0)
				if err == nil {
					break
				}
				r.is(err, device.ErrTimeout)
			}
			r.recorded(e, true)
		}
		r.barrier()
	})
}

func anyNothing(t *testing.T, open Open) {
	r := one(t, open)
	r.misses()
	start := time.Now()
	_, err := r.WaitAny(nil, 20*time.Millisecond)
	r.is(err, device.ErrTimeout)
	if took := time.Since(start); !r.Facts().Virtual && took < 20*time.Millisecond {
		t.Errorf("a wait of 20 ms took %v", took)
	}
}

// anyFailed makes a stream fail: its event is over, for whatever reason.
func anyFailed(t *testing.T, open Open) {
	w := newWorld(t, open, 2, func(c *device.Config) { c.OpTimeout = 30 * time.Millisecond })
	r := w.ranks[0]
	b := r.alloc(8)
	for i, o := range []op.Op{wait(1, 0, 1), recv(1, 0, at(b, 0), 8)} {
		s, good, e := r.stream(), r.stream(), r.event()
		r.submit(good, wait(0, uint32(i), 1))
		r.submit(s, o, record(e))
		r.reaches(1, raised(1, 5, 1), device.Point{Event: e})
		r.is(e.Sync(patience), device.ErrTimeout)
		r.reaches(0, device.Point{Event: e})
	}
}

func anyRefused(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	r := w.ranks[0]
	closed, foreign := r.event(), w.ranks[1].event()
	r.must(closed.Close())
	for _, c := range []struct {
		point device.Point
		want  error
	}{
		{device.Point{Event: closed}, device.ErrClosed},
		{device.Point{Event: foreign}, device.ErrForeign},
		{raised(2, 0, 0), device.ErrPeer},
		{raised(-1, 0, 0), device.ErrPeer},
		{raised(1, r.Facts().SignalSlots, 0), device.ErrSlot},
	} {
		i, err := r.WaitAny([]device.Point{raised(0, 0, 0), c.point}, device.Forever)
		if i != -1 {
			t.Errorf("%+v: point %d", c.point, i)
		}
		r.is(err, c.want)
	}
}

// anyRest waits for one of many streams, and then for what peers need the others
// for.
func anyRest(t *testing.T, open Open) {
	const streams, size = 8, 30_000
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		next, before := (r.n+1)%r.size, (r.n+r.size-1)%r.size
		b := r.filled((streams+1)*size, uint64(r.n))
		var points []device.Point
		for i := range uint32(streams) {
			s, e := r.stream(), r.event()
			if i%2 == 0 {
				r.submit(s, send(next, i, at(b, 0), size), record(e))
			} else {
				r.submit(s, recv(before, i-1, at(b, int64(i)*size), size), record(e), signal(before, 0, uint64(i)))
			}
			points = append(points, device.Point{Event: e})
		}
		i, err := r.WaitAny(points, patience)
		r.must(err)
		if i < 0 || i >= streams {
			r.failf("point %d", i)
		}
		r.barrier() // others may need the rest
		for len(points) > 0 {
			i, err := r.WaitAny(points, patience)
			r.must(err)
			r.recorded(points[i].Event, true)
			points = append(points[:i], points[i+1:]...)
		}
		r.reaches(0, raised(next, 0, streams-1))
		r.barrier()
	})
}

// anyStorm is what a pipeline does: every rank has slots, each a stream with an
// event, and gives a free one the next of its messages, which copies, moves and
// copies. Peers agree on nothing but the order of the messages of a channel, for
// each end of which there is a slot.
func anyStorm(t *testing.T, open Open) {
	for _, c := range []struct{ size, slots int }{{1, 2}, {2, 5}, {4, 8}, {3, 24}} {
		t.Run(fmt.Sprintf("%d ranks, %d streams", c.size, c.slots), func(t *testing.T) {
			w := newWorld(t, open, c.size)
			w.each(func(r *rank) { newAnyStorm(r, c.slots).run() })
		})
	}
}

const (
	anyMessages = 60 // of each channel
	anyBytes    = 40_000
)

// anySlot is a stream that carries out one message at a time.
type anySlot struct {
	stream  device.Stream
	staging op.Buffer
	busy    *anyMessage
}

// anyMessage is one direction of a channel between two ranks.
type anyMessage struct {
	peer     int
	receives bool
	next     int // message
	under    bool
	buffer   op.Buffer
}

type stormOfAny struct {
	*rank
	random *rand.Rand
	slots  []*anySlot
	events []device.Event
	work   []*anyMessage
	points []device.Point
}

func newAnyStorm(r *rank, slots int) *stormOfAny {
	a := &stormOfAny{rank: r, random: rand.New(rand.NewPCG(uint64(r.n), uint64(slots)))}
	for range slots {
		a.slots = append(a.slots, &anySlot{stream: r.stream(), staging: r.alloc(anyBytes)})
		a.events = append(a.events, r.event())
	}
	for peer := range r.size {
		for _, receives := range []bool{false, true} {
			a.work = append(a.work, &anyMessage{peer: peer, receives: receives, buffer: r.alloc(anyBytes)})
		}
	}
	return a
}

func (a *stormOfAny) run() {
	for left := len(a.work) * anyMessages; left > 0; {
		for _, i := range a.random.Perm(len(a.slots)) {
			a.fill(i)
		}
		a.wait()
		left--
	}
	for peer := range a.size { // all of them have told all
		a.reaches(0, raised(peer, 2, uint64(anyMessages)))
	}
	a.barrier()
}

// fill gives a free slot a message, if there is one that may begin.
func (a *stormOfAny) fill(slot int) {
	s := a.slots[slot]
	var ready []*anyMessage
	for _, m := range a.work {
		if !m.under && m.next < anyMessages && s.busy == nil {
			ready = append(ready, m)
		}
	}
	if len(ready) == 0 {
		return
	}
	m := ready[a.random.IntN(len(ready))]
	s.busy, m.under = m, true
	bytes := int64(a.seed(m)*7919) % anyBytes
	into, out := move(op.Copy, at(s.staging, 0), at(m.buffer, 0), bytes), move(op.Copy, at(m.buffer, 0), at(s.staging, 0), bytes)
	if m.receives {
		a.submit(s.stream, recv(m.peer, 1, at(s.staging, 0), bytes), out, record(a.events[slot]), signal(m.peer, 2, uint64(m.next+1)))
		return
	}
	a.write(m.buffer, 0, pattern(bytes, a.seed(m)))
	a.submit(s.stream, into, send(m.peer, 1, at(s.staging, 0), bytes), record(a.events[slot]))
}

// seed is of the bytes of a message, the same at both ends.
func (a *stormOfAny) seed(m *anyMessage) uint64 {
	from, to := a.n, m.peer
	if m.receives {
		from, to = to, from
	}
	return uint64(m.next*100 + from*10 + to + 1)
}

// wait waits for any slot, in one way or another, and looks at what it has done.
func (a *stormOfAny) wait() {
	a.points = a.points[:0]
	var slots []int
	for _, i := range a.random.Perm(len(a.slots)) {
		if a.slots[i].busy != nil {
			slots, a.points = append(slots, i), append(a.points, device.Point{Event: a.events[i]})
		}
	}
	a.points = append(a.points, raised(a.random.IntN(a.size), 40, 1)) // never
	timeout := patience
	if a.random.IntN(3) == 0 {
		timeout = time.Duration(a.random.IntN(50)) * time.Microsecond
	}
	found, err := a.WaitAny(a.points, timeout)
	for timeout != patience && err != nil {
		a.is(err, device.ErrTimeout)
		timeout = patience
		found, err = a.WaitAny(a.points, timeout)
	}
	a.must(err)
	if found >= len(slots) {
		a.failf("a signal has come that nobody sent")
	}
	s := a.slots[slots[found]]
	m := s.busy
	a.must(a.events[slots[found]].Sync(0))
	if bytesOf := int64(a.seed(m)*7919) % anyBytes; m.receives && !bytes.Equal(a.read(m.buffer)[:bytesOf], pattern(bytesOf, a.seed(m))) {
		a.failf("message %d of rank %d is not what was sent", m.next, m.peer)
	}
	s.busy, m.under = nil, false
	m.next++
}
