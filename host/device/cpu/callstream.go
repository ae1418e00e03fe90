package cpu

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// extent is how much of its own areas a program uses.
type extent struct {
	program *op.Program
	bytes   [2]int64 // by op.AreaIn, op.AreaOut
	meeting int      // of a quick program, 0 if it is none
}

// extentOf gives the extent of a program. Only that of the last one is kept:
// to look at all steps once more is little beside carrying them out, and to
// remember programs would keep them alive.
func (c *comm) extentOf(p *op.Program) *extent {
	if c.extent.program != p {
		c.extent = measure(p, c.rank)
		c.extent.meeting = quickMeeting(p, c.rank, len(c.peers))
	}
	return &c.extent
}

// acceptCalls checks that the communicator is this device's and that the
// buffers of every call are this rank's own and as large as its program needs.
func (d *Device) acceptCalls(o *op.Op) error {
	c, ok := o.Comm.(*comm)
	if !ok || c == nil || c.device != d {
		return device.ErrForeign
	}
	if c.closed {
		return device.ErrClosed
	}
	if b := c.broken.Load(); b != nil {
		return b.err
	}
	for call := o.Call; call != nil; call = call.Next {
		bytes := c.extentOf(call.Program).bytes
		if call.Collective == op.AllToAllV {
			var err error
			if bytes, err = call.VectorBytes(c.rank, len(c.peers)); err != nil {
				return err
			}
		}
		for area, v := range [...]op.View{call.In, call.Out} {
			if err := d.acceptArea(v, bytes[area]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Device) acceptArea(v op.View, bytes int64) error {
	if v.Buf == nil {
		if bytes > 0 {
			return op.ErrRange
		}
		return nil
	}
	b, err := d.use(v.Buf)
	switch {
	case err != nil:
		return err
	case b.peer >= 0:
		return fmt.Errorf("collective on an imported buffer: %w", device.ErrForeign)
	case bytes > b.Size()-v.Off:
		return op.ErrRange
	}
	return nil
}

func measure(p *op.Program, rank int) extent {
	e := extent{program: p}
	for _, steps := range [...][]op.Step{p.Steps, p.Back} {
		for i := range steps {
			e.include(&steps[i], rank)
		}
	}
	return e
}

func (e *extent) include(s *op.Step, rank int) {
	for _, places := range [...][]op.Place{s.Sources, s.Dests} {
		for _, at := range places {
			if int(at.Rank) == rank && at.Area != op.AreaSlot {
				e.bytes[at.Area] = max(e.bytes[at.Area], at.Off+s.Bytes)
			}
		}
	}
}

// submitCalls numbers the calls of o and carries them out as far as that needs
// no waiting, so that peers can begin; the rest is queued.
func (s *stream) submitCalls(o *op.Op) error {
	c, small := o.Comm.(*comm), !heavy(o)
	if small && !s.empty() {
		if err := s.catchUp(); err != nil {
			return err
		}
	}
	last := c.submitted
	for call := o.Call; call != nil; call = call.Next {
		c.submitted++
	}
	begun := s.empty() && c.done.value.Load() == last && c.broken.Load() == nil && (s.device.open == 1 || small)
	if begun {
		if complete, err := s.startCalls(o, c, last); complete || err != nil {
			return err
		}
	}
	return s.enqueueCalls(o, c, last, begun)
}

// startCalls begins the calls of o, and reports whether they are complete.
func (s *stream) startCalls(o *op.Op, c *comm, last uint64) (complete bool, err error) {
	if begun, complete := c.quick(o, last, s); begun {
		return complete, nil
	}
	c.run.begin(o, last)
	switch err := c.advance(&caller{stream: s}); err {
	case nil:
		c.done.set(c.submitted)
		return true, nil
	case errPending:
		return false, nil
	default:
		c.run.fail(c, s, err)
		c.breakOff(c.submitted, err)
		s.fail(o, s.tail.Load(), 0, err)
		return false, s.err()
	}
}

// catchUpCalls is how many calls Submit takes up again at once.
const catchUpCalls = 4

// catchUp carries small calls at the head of the queue on, as far as that takes
// no long wait: where peers were a little late once, the calls that follow
// would otherwise all have to be queued behind.
func (s *stream) catchUp() error {
	if !s.owner.CompareAndSwap(unowned, ownedByGuest) {
		return nil
	}
	target, tail := s.done.value.Load(), s.tail.Load()
	for last := min(target+catchUpCalls, tail); target < last; target++ {
		if o := &s.at(target).op; o.Kind != op.CollectiveCall || heavy(o) {
			break
		}
	}
	_ = s.drain(target, guestWait{kind: op.SyncStream, peer: -1, limited: true, brief: true}) // its only error is that peers are late
	missed := s.device.open > 1 && target < tail && heavy(&s.at(target).op)
	s.release()
	if missed {
		s.wake() // the worker may have come for it meanwhile, and gone
	}
	return s.err()
}

// enqueueCalls appends o with a copy of its calls.
func (s *stream) enqueueCalls(o *op.Op, c *comm, last uint64, begun bool) error {
	room, position, err := s.makeRoomForCalls(int(c.submitted - last))
	if err == nil {
		err = s.makeRoom()
	}
	if err != nil {
		c.breakOff(c.submitted, err)
		return err
	}
	e := s.at(s.tail.Load())
	e.calls, e.position = room, position
	e.copyCalls(o)
	e.sequence, e.begun = last, begun
	if begun {
		c.run.rebind(&e.op)
	}
	s.publish(o)
	return nil
}

// copyCalls copies o and its calls, for which the entry has room.
func (e *entry) copyCalls(o *op.Op) {
	for call := o.Call; call != nil; call = call.Next {
		e.calls = append(e.calls, *call)
	}
	for i := range len(e.calls) - 1 {
		e.calls[i].Next = &e.calls[i+1]
	}
	e.op.Kind, e.op.Comm, e.op.Call, e.op.Term = op.CollectiveCall, o.Comm, &e.calls[0], o.Term
	e.op.Dst.Buf, e.op.Src.Buf, e.op.SourceCount, e.op.Bytes = nil, nil, 0, 0
	e.start, e.state = 0, messageNew
}

// call carries out the calls at the head of the queue, after those that were
// submitted to the communicator before them.
func (s *stream) call(e *entry, g guestWait) error {
	c, by := e.op.Comm.(*comm), &caller{stream: s, guest: g, patient: true}
	if !e.begun {
		if err := c.awaitTurn(e, by); err != nil {
			return err
		}
		if b := c.broken.Load(); b != nil {
			return b.err
		}
		c.run.begin(&e.op, e.sequence)
		e.begun = true
	}
	err := c.advance(by)
	if err == nil {
		c.done.raise(e.sequence + uint64(len(e.calls))) // a later call may have broken the communicator off meanwhile
	}
	return err
}

// awaitTurn waits until earlier calls on the communicator, in other streams,
// are complete.
func (c *comm) awaitTurn(e *entry, by *caller) error {
	if c.done.value.Load() >= e.sequence {
		return nil
	}
	d := c.device
	if e.start == 0 {
		e.start = d.Now()
	}
	w := waiting{
		device: d, bell: &c.done, stream: by.stream, op: &op.Op{Kind: op.EventWait, Peer: -1},
		guest: by.guest, limit: d.limitFrom(e.start),
	}
	return w.atLeast(e.sequence)
}

// breakOff gives the communicator up because calls up to number last have
// failed or were never carried out. Peers notice by their own waits.
func (c *comm) breakOff(last uint64, err error) {
	c.broken.CompareAndSwap(nil, &brokenComm{fmt.Errorf("communicator %s is broken: %w", c.name, err)})
	for i := range c.peers[c.rank].block.places {
		c.peers[c.rank].block.places[i].locations.broken.Store(1)
	}
	c.done.raise(last)
}

// failCalls is breakOff for calls that were begun.
func (s *stream) failCalls(e *entry, err error) {
	c := e.op.Comm.(*comm)
	if e.begun {
		c.run.fail(c, s, err)
	}
	c.breakOff(e.sequence+uint64(len(e.calls)), err)
}
