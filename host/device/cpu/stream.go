package cpu

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// Owners of a stream: who executes its queue.
const (
	unowned uint32 = iota
	ownedByGuest
	ownedByWorker
)

// inlineBytes is up to which size an operation is faster on the guest's thread
// than handed over, even if other streams wait for that thread.
const inlineBytes = 16 << 10

// stream is an in-order queue of operations. An operation that can complete at
// once while the queue is empty is executed by Submit itself. Queued ones are
// executed by the guest's thread when it waits for the stream, or by the
// stream's worker, whoever comes first.
type stream struct {
	device *Device
	number int
	queue
	owner    atomic.Uint32
	failed   atomic.Pointer[failure]
	wakeup   chan struct{}
	stopping atomic.Bool
	closed   bool
	any      anyOf       // the guest's thread only, like the next
	attended bool        // the guest has last waited for it among others, on its only processor
	wanted   atomic.Bool // the guest's thread waits for the stream and would rather execute it itself
	mark     int64       // when the operation before ended, 0 if not at this moment; the owner's, the guest's while the queue is empty
}

// failure is why a stream has stopped, and after how many operations.
type failure struct {
	at  uint64
	err *device.OpError
}

// NewStream makes a stream.
func (d *Device) NewStream() (device.Stream, error) {
	if d.closed {
		return nil, device.ErrClosed
	}
	for number := 1; number <= maxStreams; number++ {
		if d.streams[number].Load() == nil {
			return d.startStream(number), nil
		}
	}
	return nil, device.ErrTooMany
}

func (d *Device) startStream(number int) *stream {
	s := &stream{device: d, number: number, wakeup: make(chan struct{}, 1)}
	s.entries = make([]entry, queueLength)
	if lanes := uint32(number) + 1; lanes > d.lanes {
		d.lanes = lanes
		for i := range d.peers {
			if a := d.peers[i].Load(); a != nil {
				a.presence(d.rank).Store(lanes)
			}
		}
	}
	if d.recorder != nil {
		d.recorder.Submitted(number, 0)
	}
	s.finished()
	d.streams[number].Store(s)
	d.open++
	d.workers.Add(1)
	go s.work()
	return s
}

// usable is nil while the stream accepts operations.
func (s *stream) usable() error {
	if s.closed || s.device.closed {
		return device.ErrClosed
	}
	return s.err()
}

// err is the failure of the stream, or the abort of the device.
func (s *stream) err() error {
	if f := s.failed.Load(); f != nil {
		return f.err
	}
	return s.device.abortError()
}

// fail stops the stream because o, operation at of its queue, failed.
func (s *stream) fail(o *op.Op, at, seen uint64, err error) {
	s.failed.CompareAndSwap(nil, &failure{at: at, err: &device.OpError{Op: *o, Stream: s.number, Seen: seen, Err: err}})
}

// Submit appends o.
func (s *stream) Submit(o *op.Op) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := s.device.accept(o); err != nil {
		return err
	}
	if o.Kind == op.CollectiveCall {
		return s.submitCalls(o)
	}
	if s.empty() && s.immediate(o) {
		return s.executeNow(o)
	}
	return s.enqueue(o)
}

// immediate reports whether the guest's thread should execute o itself.
func (s *stream) immediate(o *op.Op) bool {
	switch o.Kind {
	case op.Signal, op.EventRecord:
		return true
	case op.Wait:
		return s.device.own.pad(int(o.Peer), o.Slot).value.Load() >= o.Value
	case op.EventWait:
		return o.Event.(*event).Recorded()
	case op.Send, op.Recv:
		return false
	default:
		return s.device.open == 1 || !heavy(o)
	}
}

func (s *stream) executeNow(o *op.Op) error {
	s.mark = 0
	if o.Kind == op.EventRecord {
		o.Event.(*event).record(s, s.tail.Load())
	}
	if err := s.perform(o); err != nil {
		s.fail(o, s.tail.Load(), 0, err)
		return s.err()
	}
	return nil
}

// enqueue appends o, after making room if there is none.
func (s *stream) enqueue(o *op.Op) error {
	if err := s.makeRoom(); err != nil {
		return err
	}
	i := s.tail.Load()
	e := s.at(i)
	e.op, e.start, e.state, e.after = *o, 0, messageNew, nil
	switch o.Kind {
	case op.EventRecord:
		o.Event.(*event).record(s, i+1)
	case op.EventWait:
		e.after, e.target = o.Event.(*event).last()
	case op.Gemm:
		e.shape = *o.Gemm
		e.op.Gemm = &e.shape
	case op.CopyBox, op.GetBox:
		e.box = *o.Box
		e.op.Box = &e.box
	}
	s.publish(o)
	return nil
}

// makeRoom waits until one more operation can be appended.
func (s *stream) makeRoom() error {
	i := s.tail.Load()
	if i-s.done.value.Load() < queueLength {
		return nil
	}
	if err := s.reach(i-queueLength/2, s.device.guestWaitFor(op.SyncStream, device.Forever)); err != nil {
		return err
	}
	return s.err()
}

// publish makes the entry at the tail, a copy of o, part of the queue.
func (s *stream) publish(o *op.Op) {
	i := s.tail.Load() + 1
	if r := s.device.recorder; r != nil {
		r.Submitted(s.number, i)
	}
	s.tail.Store(i)
	s.announce(o)
}

// announce sees to it that someone executes what was appended: the worker at
// once if it is much and other streams exist that it may overlap with, unless it
// would only take turns with the guest's thread, which comes for all of them;
// else the guest's thread when it waits for the stream, or the worker when the
// guest waits for something else or turns out to be computing.
func (s *stream) announce(o *op.Op) {
	switch {
	case s.owner.Load() != unowned:
		if o.Kind == op.Send || o.Kind == op.Recv {
			s.device.own.header().bell.ring() // the owner may be waiting in a group that this extends
		}
	case s.device.open > 1 && heavy(o) && !s.attended:
		s.wake()
	default:
		s.device.progress.expect(s.device)
	}
}

// heavy reports whether handing o over costs little compared with o itself.
func heavy(o *op.Op) bool {
	switch o.Kind {
	case op.CollectiveCall:
		return o.Call.Bytes > inlineBytes || o.Call.Next != nil && o.Call.Next.Bytes > inlineBytes
	case op.Gemm:
		return o.Bytes*o.Gemm.K > inlineBytes // what is computed takes long, not what is moved
	}
	return o.Bytes*int64(max(o.SourceCount, 1)) > inlineBytes
}

// Query reports whether everything submitted is complete.
func (s *stream) Query() (bool, error) {
	if s.closed || s.device.closed {
		return false, device.ErrClosed
	}
	if !s.empty() {
		g := s.device.guestWaitFor(op.SyncStream, 0)
		g.slot = uint32(s.number)
		if s.owner.Load() == unowned {
			_ = s.reach(s.tail.Load(), g) // the guest may poll and never wait
		}
	}
	return s.empty(), s.err()
}

// Sync waits until everything submitted is complete.
func (s *stream) Sync(timeout time.Duration) error {
	if s.closed || s.device.closed {
		return device.ErrClosed
	}
	if s.empty() {
		return s.err()
	}
	g := s.device.guestWaitFor(op.SyncStream, timeout)
	g.slot = uint32(s.number)
	if err := s.reach(s.tail.Load(), g); err != nil {
		return err
	}
	return s.err()
}

// reach waits until the given number of operations is done: by executing them
// if nobody does, else by waiting for who does.
func (s *stream) reach(target uint64, g guestWait) error {
	g.value, s.attended = target, false
	defer s.wanted.Store(false)
	for s.done.value.Load() < target {
		if s.owner.CompareAndSwap(unowned, ownedByGuest) {
			s.wanted.Store(false)
			err := s.drain(target, g)
			s.release()
			if !s.empty() {
				s.wake()
			}
			if err != nil {
				return unwrapTimeout(err)
			}
			continue
		}
		if err := s.watch(target, g); err != nil {
			return unwrapTimeout(err)
		}
	}
	return nil
}

// watch waits until the given number of operations is done, or nobody owns the
// stream any more. Meanwhile it asks for the stream: a worker that only yields
// the processor while it waits would compete for it with this thread.
func (s *stream) watch(target uint64, g guestWait) error {
	w := waiting{device: s.device, bell: &s.done, guest: g, limit: never}
	defer w.end()
	for {
		seen := s.done.value.Load()
		if seen >= target || s.owner.Load() == unowned {
			return nil
		}
		s.wanted.Store(!w.parked)
		if err := w.once(seen); err != nil {
			return err
		}
	}
}

// release ends ownership. What is finished is told here, what is submitted by
// the guest's thread: each has one writer at a time, so that a stream with work
// that nobody has taken up counts as busy and one without as idle, whatever
// else happens meanwhile.
func (s *stream) release() {
	s.finished()
	s.owner.Store(unowned)
}

// finishUntil counts operations as done, and wakes who waits for that.
func (s *stream) finishUntil(n uint64) {
	s.done.set(n)
	s.done.wakeElsewhere(s.device.own)
}

func (s *stream) finished() {
	if r := s.device.recorder; r != nil {
		r.Finished(s.number, s.done.value.Load())
	}
}

// Close waits for the stream and gives it back.
func (s *stream) Close() error {
	if s.closed || s.device.closed {
		return device.ErrClosed
	}
	err := s.Sync(device.Forever)
	s.closed = true
	s.retire()
	s.stop()
	s.device.streams[s.number].Store(nil)
	s.device.open--
	return err
}

// retire takes ownership for good, so that a worker that comes late finds
// nothing to do and leaves the lane to the next stream of this number. Only an
// abort leaves operations behind, which fail here at once.
func (s *stream) retire() {
	for !s.owner.CompareAndSwap(unowned, ownedByGuest) {
		runtime.Gosched()
		schedYield()
	}
	_ = s.drain(never64, guestWait{})
	s.finished()
}
