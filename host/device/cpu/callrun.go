package cpu

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// groupRun is how far the group of calls at the front of a communicator is. Its
// calls are taken in chunks: the calls of a chunk are entered together, carried
// out one after another, and parted from together. It may be left at any wait
// and taken up again, by another thread too.
type groupRun struct {
	term    op.Term // of the operation
	rest    *op.Call
	index   int // of rest in the group
	live    int // calls of the chunk, 0 between chunks
	turn    int // the one that is carried out
	calls   [callsAtOnce]callRun
	parting bool   // the calls of the chunk have been carried out but for their parting
	last    uint64 // number of the last call before the chunk
	settled uint64 // number of the last call that all ranks are known to have entered, and have not entered something else in
	limit   int64  // when the wait at hand fails with a timeout, 0 if there is none
}

// callRun is one call under way.
type callRun struct {
	call    *op.Call
	words   callWords
	number  uint64
	place   int
	pc      int // next step
	peer    int // whom the step waits for; those before it have come
	start   int64
	mark    int64 // when the step before ended, 0 if nobody looked
	in      *buffer
	out     *buffer
	moves   bool // to be recorded one by one
	traffic int64
}

// caller is who carries calls out: a stream, and the guest's wait if the
// guest's thread does it. An impatient one gives up where it would have to
// wait, with errPending.
type caller struct {
	stream  *stream
	guest   guestWait
	patient bool
}

// errPending says that calls are not complete because someone has not come yet.
// It never leaves the package.
var errPending = errors.New("pending")

// errParting says that only the parting of a call is left. It never leaves the
// package.
var errParting = errors.New("parting")

// begin makes the group of calls in o the one that is carried out. The numbers
// of its calls follow last.
func (g *groupRun) begin(o *op.Op, last uint64) {
	g.term, g.rest, g.index, g.live, g.last, g.limit = o.Term, o.Call, 0, 0, last, 0
}

// rebind tells the group under way that its calls have been copied to o.
func (g *groupRun) rebind(o *op.Op) {
	next := o.Call
	for range g.index - g.live {
		next = next.Next
	}
	for i := range g.live {
		g.calls[i].call, next = next, next.Next
	}
	g.rest = next
}

// advance carries out the group until it is complete.
func (c *comm) advance(by *caller) error {
	g := &c.run
	for {
		if g.live == 0 {
			if g.rest == nil {
				return nil
			}
			if err := c.beginChunk(by); err != nil {
				return err
			}
		}
		if err := c.carryAll(by); err != nil {
			return err
		}
		if !g.parting && g.live > 1 {
			g.parting, g.turn = true, 0
			continue
		}
		c.finishChunk(by)
	}
}

// carryAll carries out the calls of the chunk, up to their parting at first.
func (c *comm) carryAll(by *caller) error {
	for g := &c.run; g.turn < g.live; g.turn++ {
		if err := c.carryOn(&g.calls[g.turn], by); err != nil && err != errParting {
			return err
		}
	}
	return nil
}

// finishChunk completes the calls of the chunk.
func (c *comm) finishChunk(by *caller) {
	c.recordCalls(by, flight.StatusOK)
	c.unpin(by.stream.number)
	g := &c.run
	for i := range g.calls[:g.live] {
		if r := &g.calls[i]; r.call.Program.Met && g.settled == r.number-1 {
			g.settled = r.number // those that it has not met itself have been compared by others
		}
	}
	g.last += uint64(g.live)
	g.live = 0
}

// beginChunk takes the next calls of the group, and enters them if they are
// several. A place is written again only once all ranks are done with the call
// that had it before: it is so if they have entered a call that cannot have
// been in a chunk with that one. So whatever is called, a rank is never more
// than callsAtOnce calls ahead of another.
func (c *comm) beginChunk(by *caller) error {
	g, n := &c.run, 0
	for next := g.rest; next != nil && n < callsAtOnce; next = next.Next {
		n++
	}
	last := g.last + uint64(n)
	if g.settled+callsAtOnce < last {
		if err := c.settle(last-callsAtOnce, by); err != nil {
			return err
		}
	}
	for i := range n {
		c.start(&g.calls[i], g.rest, g.last+uint64(i)+1, by)
		g.calls[i].mark = 0
		g.rest = g.rest.Next
	}
	g.live, g.turn, g.parting = n, 0, false
	g.index += n
	if n == 1 {
		return nil
	}
	for i := range n {
		if err := c.enterEarly(&g.calls[i], by); err != nil {
			return err
		}
	}
	return nil
}

// start prepares a call.
func (c *comm) start(r *callRun, call *op.Call, number uint64, by *caller) {
	*r = callRun{call: call, words: wordsOf(call), number: number, place: int(number % placeCount)}
	r.traffic = trafficOf(call, len(c.peers))
	r.in, _ = call.In.Buf.(*buffer)
	r.out, _ = call.Out.Buf.(*buffer)
	if w := c.device.recorder; w != nil && w.Level >= flight.LevelCollective {
		r.start = c.device.clock.Start()
		r.mark, r.moves = r.start, w.Level >= flight.LevelFlow
		if sequence := c.sequence(r); sequence != 0 {
			w.BeginCollective(sequence, uint8(call.Collective))
		}
	}
}

// sequence is the number of the call among this rank's collectives.
func (c *comm) sequence(r *callRun) uint32 {
	if c.run.term.Collective == 0 {
		return 0
	}
	return c.run.term.Collective + uint32(c.run.index+int(r.number-c.run.last)-1-c.run.live)
}

// enterEarly carries out the steps up to the entry of a call: they use nothing
// of other ranks.
func (c *comm) enterEarly(r *callRun, by *caller) error {
	for steps := r.call.Program.StepsOf(r.number); r.pc < len(steps); r.pc++ {
		s := &steps[r.pc]
		switch s.Kind {
		case op.StepMove:
			if err := c.move(r, s, by); err != nil {
				return err
			}
		case op.StepEnter:
			c.enter(r)
			r.pc++
			return nil
		default:
			return nil
		}
	}
	return nil
}

// carryOn takes one call to its end, but for parting.
func (c *comm) carryOn(r *callRun, by *caller) error {
	for steps := r.call.Program.StepsOf(r.number); r.pc < len(steps); r.pc++ {
		if err := c.step(r, &steps[r.pc], by); err != nil {
			return err
		}
	}
	return nil
}

func (c *comm) step(r *callRun, s *op.Step, by *caller) error {
	switch s.Kind {
	case op.StepMove:
		return c.move(r, s, by)
	case op.StepEnter:
		c.enter(r)
	case op.StepMeet:
		r.mark = 0
		return c.meet(r, int(s.Peer), by)
	case op.StepLeave:
		c.leave(r, by)
	case op.StepPart:
		return c.part(r, int(s.Peer), by)
	case op.StepSignal:
		c.peers[s.Peer].block.raised[s.Flag].set(flagValue(r, s))
	case op.StepWait:
		r.mark = 0
		flag := c.peers[c.rank].block.flag(int(s.Peer), int(s.Flag))
		return c.await(flag, flagValue(r, s), int(s.Peer), by)
	case op.StepTake:
		return c.take(r, s, by)
	}
	return nil
}

// flagValue is the value of a flag as it lies in memory, where it never falls. A
// futex compares the lower half of it, which repeats after 4096 calls: a flag
// that was last raised so long ago to the same value may let a waiter sleep for
// one round more.
func flagValue(r *callRun, s *op.Step) uint64 { return r.number<<20 | uint64(s.Value) }

// enter shows the peers what this rank calls and where its areas are.
func (c *comm) enter(r *callRun) {
	p := &c.peers[c.rank].block.places[r.place]
	p.locations.of[op.AreaIn].set(r.in, r.call.In.Off)
	p.locations.of[op.AreaOut].set(r.out, r.call.Out.Off)
	if r.call.Collective == op.AllToAllV {
		for i := range c.peers {
			v := c.peers[c.rank].block.vector(r.place, i)
			v.sends, v.recvs, v.offset = r.call.SendCounts[i], r.call.RecvCounts[i], r.call.SendOffsets[i]
		}
	}
	p.header.what, p.header.count, p.header.slice = r.words.what, r.words.count, r.words.slice
	p.header.posted = [postedBytes]byte(p.slot)
	p.header.entered.set(r.number)
}

// meet waits until a peer, or all of them, have entered the call, and compares.
func (c *comm) meet(r *callRun, peer int, by *caller) error {
	if peer >= 0 {
		return c.meetOne(r, peer, by)
	}
	for ; r.peer < len(c.peers)-1; r.peer++ {
		if err := c.meetOne(r, c.other(r.peer), by); err != nil {
			return err
		}
	}
	r.peer = 0
	return nil
}

func (c *comm) meetOne(r *callRun, peer int, by *caller) error {
	if err := c.await(&c.peers[peer].block.places[r.place].header.entered, r.number, peer, by); err != nil {
		return err
	}
	return c.match(r, peer)
}

// other is the i-th of the other ranks. Every rank begins with the one after
// it, so that they do not all look at the same one.
func (c *comm) other(i int) int {
	if i += c.rank + 1; i >= len(c.peers) {
		i -= len(c.peers)
	}
	return i
}

// leave tells all ranks that this one needs nothing more of them in this call.
func (c *comm) leave(r *callRun, by *caller) {
	c.unpin(by.stream.number)
	c.peers[c.rank].block.left.set(r.number)
}

// part waits until a peer, or all of them, need nothing more of this rank in
// the call. Of several calls in a chunk each waits when all are carried out.
func (c *comm) part(r *callRun, peer int, by *caller) error {
	switch {
	case c.run.live > 1 && !c.run.parting:
		return errParting
	case peer < 0:
		return c.awaitLeft(r.number, by)
	}
	return c.await(c.peers[peer].block.left, r.number, peer, by)
}

// awaitLeft waits until all ranks have left a call.
func (c *comm) awaitLeft(number uint64, by *caller) error {
	for i := range len(c.peers) - 1 {
		peer := c.other(i)
		if err := c.await(c.peers[peer].block.left, number, peer, by); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a word that peer raises has a value.
func (c *comm) await(bell *counter, value uint64, peer int, by *caller) error {
	d, g := c.device, &c.run
	if bell.value.Load() >= value || by.guest.brief && d.awaitBriefly(bell, value) {
		g.limit = 0
		return nil
	}
	if !by.patient {
		return errPending
	}
	if g.limit == 0 {
		g.limit = d.limitFrom(d.Now())
	}
	c.nameWait(peer)
	w := waiting{device: d, bell: bell, stream: by.stream, op: &c.waits, guest: by.guest, limit: g.limit}
	switch err := w.atLeast(value); err {
	case nil:
		g.limit = 0
		return nil
	case errDeadline:
		return err
	default:
		return fmt.Errorf("waiting for rank %d: %w", c.peers[peer].world, err)
	}
}

// recordCalls writes the records of the calls of the chunk.
func (c *comm) recordCalls(by *caller, status uint8) {
	w, g := c.device.recorder, &c.run
	if w == nil || w.Level < flight.LevelCollective || g.term.Collective == 0 {
		return
	}
	end := c.device.Now()
	for i := range g.calls[:g.live] {
		r := &g.calls[i]
		device.RecordCall(w, r.call, c.sequence(r), len(c.peers), by.stream.number, status, r.start, end)
	}
}

// fail ends the calls of the chunk.
func (g *groupRun) fail(c *comm, s *stream, err error) {
	c.recordCalls(&caller{stream: s}, device.StatusOf(err))
	c.unpin(s.number)
}
