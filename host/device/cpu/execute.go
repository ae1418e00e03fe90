package cpu

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// drain executes operations in order until the given number is done or the
// queue is empty. The caller owns the stream. While the queue is empty drain
// leaves the stream alone, because the guest's thread then executes operations
// without owning it. The only error is errDeadline: the guest's wait g is over,
// or it is the worker that drains and the guest's thread wants the stream. An
// operation that fails stops the stream, and what follows it is passed over.
func (s *stream) drain(target uint64, g guestWait) error {
	known := s.done.value.Load() // what is known to have been appended
	for {
		head := s.done.value.Load()
		if head >= target {
			return nil
		}
		if head >= known {
			if known = s.tail.Load(); head == known {
				return nil
			}
			s.mark = 0 // when it was appended is not known
		}
		if s.failed.Load() != nil {
			s.skip(head)
			continue
		}
		if g.kind == op.None && s.wanted.Load() {
			return errDeadline
		}
		if err := s.carryOut(head, g); err != nil {
			return err
		}
	}
}

// skip passes over an operation of a stream that has failed.
func (s *stream) skip(head uint64) {
	switch e := s.at(head); e.op.Kind {
	case op.CollectiveCall:
		s.failCalls(e, s.failed.Load().err)
	case op.Send:
		s.withdraw(e)
	}
	s.finishUntil(head + 1)
}

// carryOut executes the operation at the head of the queue.
func (s *stream) carryOut(head uint64, g guestWait) error {
	e := s.at(head)
	err := s.device.abortError()
	seen := uint64(0)
	switch {
	case err != nil:
	case e.op.Kind == op.Send || e.op.Kind == op.Recv:
		s.mark = 0
		return s.converse(head, g)
	case e.op.Kind == op.Wait || e.op.Kind == op.EventWait:
		seen, err = s.await(e, g)
	case e.op.Kind == op.CollectiveCall:
		s.mark = 0
		err = s.call(e, g)
	default:
		err = s.perform(&e.op)
	}
	if err == errDeadline {
		return err
	}
	if err != nil {
		s.fail(&e.op, head, seen, err)
		return nil // skip counts it as done
	}
	s.finishUntil(head + 1)
	return nil
}

// await holds the stream for a signal or an event.
func (s *stream) await(e *entry, g guestWait) (seen uint64, err error) {
	if e.start == 0 {
		e.start = s.startOf()
	}
	w := waiting{device: s.device, stream: s, op: &e.op, guest: g, limit: s.device.limitFrom(e.start)}
	target := e.target
	switch {
	case e.op.Kind == op.Wait:
		w.bell, target = s.device.own.pad(int(e.op.Peer), e.op.Slot), e.op.Value
	case e.after == nil: // never recorded
		w.bell, target = &s.done, 0
	default:
		w.bell = &e.after.done
	}
	err = w.atLeast(target)
	if err == nil && e.after != nil {
		err = e.after.failureBefore(e.target)
	}
	if err != errDeadline {
		s.mark = s.device.record(&e.op, s.number, int(e.op.Peer), device.StatusOf(err), e.start)
	}
	return w.bell.value.Load(), err
}

// failureBefore is why the stream never executed the operation before target.
func (s *stream) failureBefore(target uint64) error {
	if f := s.failed.Load(); f != nil && f.at < target {
		return f.err
	}
	return nil
}

// limitFrom is when an operation that began at start has taken too long.
func (d *Device) limitFrom(start int64) int64 {
	if d.opTimeout <= 0 {
		return never
	}
	return start + int64(d.opTimeout)
}

// perform executes an operation that waits for nobody, and records it.
func (s *stream) perform(o *op.Op) error {
	var start int64
	if device.Recorded(s.device.recorder, o) || s.device.ending != nil {
		start = s.startOf()
	}
	peer, err := s.execute(o)
	if s.device.ending != nil && err == nil {
		err = s.injectOp(o, peer, start)
	}
	if o.Kind == op.Reduce && err == nil {
		s.mark = s.device.recordReduce(o, s.number, start)
		return nil
	}
	s.mark = s.device.record(o, s.number, peer, device.StatusOf(err), start)
	return err
}

// startOf is the time at which the next operation begins: the end of the one
// that has just been executed, which saves a reading of the clock.
func (s *stream) startOf() int64 {
	if s.mark != 0 {
		return s.mark
	}
	return s.device.clock.Start()
}

func (s *stream) execute(o *op.Op) (peer int, err error) {
	switch o.Kind {
	case op.Copy, op.Get, op.CopyBox, op.GetBox:
		return o.Src.Buf.Peer(), s.transfer(o)
	case op.Put:
		return o.Dst.Buf.Peer(), s.transfer(o)
	case op.Signal:
		a := s.device.peers[o.Peer].Load()
		pad := a.pad(s.device.rank, o.Slot)
		pad.raise(o.Value)
		pad.wakeElsewhere(a)
		return int(o.Peer), nil
	case op.Wait: // satisfied, or it would not have come here
		return int(o.Peer), nil
	case op.Reduce:
		return -1, s.reduce(o)
	case op.Fill, op.Verify, op.Digest:
		return -1, s.inspect(o)
	case op.Gemm:
		return -1, s.multiply(o)
	case op.EventWait: // passed, or it would not have come here
		return -1, o.Event.(*event).failure()
	}
	return -1, nil
}

// transfer is one copy, of a run of bytes or of a box.
func (s *stream) transfer(o *op.Op) error {
	dst, src := o.Dst.Buf.(*buffer), o.Src.Buf.(*buffer)
	if !dst.enter(s.number, 0) {
		return device.ErrStale
	}
	defer dst.leave(s.number, 0)
	if !src.enter(s.number, 1) {
		return device.ErrStale
	}
	defer src.leave(s.number, 1)
	to, from := dst.mem[o.Dst.Off:], src.mem[o.Src.Off:]
	if o.Kind.Boxed() {
		s.device.kernels.CopyBox(to, from, o.Box)
		return nil
	}
	s.device.kernels.Copy(to[:o.Bytes], from[:o.Bytes], 0)
	return nil
}

// reduce combines the sources, wherever they are.
func (s *stream) reduce(o *op.Op) error {
	dst := o.Dst.Buf.(*buffer)
	var sources [op.MaxSources][]byte
	n, err := int(o.SourceCount), error(nil)
	entered := 0
	for ; entered < n; entered++ {
		v := &o.Sources[entered]
		b := v.Buf.(*buffer)
		if !b.enter(s.number, entered) {
			err = device.ErrStale
			break
		}
		sources[entered] = b.mem[v.Off:][:o.Bytes]
	}
	if err == nil && !dst.enter(s.number, n) {
		err = device.ErrStale
	}
	if err == nil {
		dests := [1][]byte{dst.mem[o.Dst.Off:][:o.Bytes]}
		s.device.kernels.Combine(dests[:], sources[:n], kernels.Task{Type: o.Type, Red: o.Red, Divisor: n})
		dst.leave(s.number, n)
	}
	for i := range entered {
		o.Sources[i].Buf.(*buffer).leave(s.number, i)
	}
	return err
}

// inspect executes Fill, Verify and Digest.
func (s *stream) inspect(o *op.Op) error {
	b := o.Dst.Buf.(*buffer)
	if !b.enter(s.number, 0) {
		return device.ErrStale
	}
	defer b.leave(s.number, 0)
	region := b.mem[o.Dst.Off:][:o.Bytes]
	switch o.Kind {
	case op.Fill:
		op.FillPattern(region, o.Type, o.Value, o.Src.Off)
	case op.Verify:
		mismatches, firstBad := op.VerifyPattern(region, o.Type, o.Value, o.Src.Off)
		if r := s.device.recorder; r != nil {
			r.CountVerified(o.Bytes, mismatches)
		}
		if o.Result != nil {
			o.Result.Mismatches, o.Result.FirstBad = mismatches, firstBad
		}
	case op.Digest:
		if digest := op.DigestBytes(region); o.Result != nil {
			o.Result.Digest = digest
		}
	}
	return nil
}

// accept checks what [op.Op.Check] cannot: that everything o names belongs to
// this device and is alive. It maps the arena of a peer named for the first
// time.
func (d *Device) accept(o *op.Op) error {
	switch o.Kind {
	case op.Copy, op.Put, op.Get, op.CopyBox, op.GetBox:
		return d.acceptTransfer(o)
	case op.Signal:
		if err := d.checkPad(int(o.Peer), o.Slot); err != nil {
			return err
		}
		_, err := d.attach(int(o.Peer))
		return err
	case op.Wait:
		return d.checkPad(int(o.Peer), o.Slot)
	case op.Send:
		return d.acceptMessage(o, o.Src.Buf)
	case op.Recv:
		return d.acceptMessage(o, o.Dst.Buf)
	case op.CollectiveCall:
		return d.acceptCalls(o)
	case op.Reduce, op.Gemm:
		for i := range o.Sources[:o.SourceCount] {
			if _, err := d.use(o.Sources[i].Buf); err != nil {
				return err
			}
		}
	case op.EventRecord, op.EventWait:
		return d.acceptEvent(o.Event)
	}
	_, err := d.use(o.Dst.Buf)
	return err
}

// acceptTransfer refuses what the kind does not allow to be a peer's.
func (d *Device) acceptTransfer(o *op.Op) error {
	dst, err := d.use(o.Dst.Buf)
	if err != nil {
		return err
	}
	src, err := d.use(o.Src.Buf)
	if err != nil {
		return err
	}
	if dst.remote() && o.Kind != op.Put || src.remote() && o.Kind != op.Get && o.Kind != op.GetBox {
		return fmt.Errorf("%s of a peer's buffer: %w", o.Kind, device.ErrForeign)
	}
	return nil
}
