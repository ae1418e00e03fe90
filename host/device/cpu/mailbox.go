package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// channelState numbers the messages of one channel with one peer.
type channelState struct {
	sent, received atomic.Uint64
}

// messageState is how far a Send or Recv is.
type messageState uint8

const (
	messageNew      messageState = iota
	messageNumbered              // has its place on the channel
	messagePosted                // Send: the receiver can see it
	messageDone
)

// What a receiver answers.
const (
	letterTaken uint32 = iota + 1
	letterMismatch
	letterStale
	letterFault
)

func (d *Device) acceptMessage(o *op.Op, buf op.Buffer) error {
	if o.Slot >= sendChannels {
		return fmt.Errorf("channel %d of %d: %w", o.Slot, sendChannels, device.ErrSlot)
	}
	b, err := d.use(buf)
	if err != nil {
		return err
	}
	if b.remote() {
		return fmt.Errorf("%s of a peer's buffer: %w", o.Kind, device.ErrForeign)
	}
	_, err = d.attach(int(o.Peer))
	return err
}

// converse carries out the sends and receives at the head of the queue, and
// those that are appended to them meanwhile, all at once: a rank that sends
// first and a peer that does so too must both get to their receives.
func (s *stream) converse(head uint64, g guestWait) error {
	w := waiting{device: s.device, bell: &s.device.own.header().bell, stream: s, guest: g}
	defer w.end()
	end := head
	for {
		seen := w.bell.value.Load()
		end = s.groupEnd(end)
		moved := s.advanceGroup(head, end)
		if s.failed.Load() != nil {
			return nil
		}
		first := head
		for head < end && s.at(head).state == messageDone {
			head++
		}
		if head != first {
			s.finishUntil(head)
		}
		if head == end && s.groupEnd(end) == end {
			return nil
		}
		if moved || head == end {
			w.end()
			w.rounds, w.since = 0, 0
			continue
		}
		e := s.at(head)
		w.op, w.limit = &e.op, s.device.limitFrom(e.start)
		switch err := w.once(seen); {
		case err == errDeadline:
			return err
		case err != nil:
			s.failMessage(e, head, err)
			return nil
		}
	}
}

// groupEnd extends a group of sends and receives by what has been appended.
func (s *stream) groupEnd(end uint64) uint64 {
	for tail := s.tail.Load(); end < tail; end++ {
		if k := s.at(end).op.Kind; k != op.Send && k != op.Recv {
			break
		}
	}
	return end
}

// advanceGroup takes every message as far as it can go now.
func (s *stream) advanceGroup(head, end uint64) (moved bool) {
	for i := head; i < end; i++ {
		e := s.at(i)
		if e.state == messageDone {
			continue
		}
		before := e.state
		if err := s.advance(e); err != nil {
			s.failMessage(e, i, err)
			return true
		}
		moved = moved || e.state != before
	}
	return moved
}

func (s *stream) failMessage(e *entry, at uint64, err error) {
	s.device.record(&e.op, s.number, int(e.op.Peer), device.StatusOf(err), e.start)
	s.fail(&e.op, at, 0, err)
}

// advance takes one message as far as it can go now.
func (s *stream) advance(e *entry) error {
	d, o := s.device, &e.op
	channel := &d.mail[int(o.Peer)*sendChannels+int(o.Slot)]
	if e.state == messageNew {
		e.start, e.state = d.Now(), messageNumbered
		if o.Kind == op.Send {
			e.sequence = channel.sent.Add(1) - 1
		} else {
			e.sequence = channel.received.Add(1) - 1
		}
	}
	var err error
	if o.Kind == op.Send {
		err = s.advanceSend(e)
	} else {
		err = s.advanceRecv(e)
	}
	if err == nil && e.state == messageDone {
		d.record(o, s.number, int(o.Peer), 0, e.start)
	}
	return err
}

// advanceSend posts the message in the receiver's arena, once its letter is
// free, and then looks whether it was taken.
func (s *stream) advanceSend(e *entry) error {
	o, a := &e.op, s.device.peers[e.op.Peer].Load()
	l := a.letter(s.device.rank, o.Slot, e.sequence)
	done := l.done.Load()
	if e.state == messageNumbered && done+mailDepth > e.sequence {
		b := o.Src.Buf.(*buffer)
		l.offset, l.bytes = b.offset+o.Src.Off, o.Bytes
		l.allocation, l.generation = b.allocation, b.generation
		l.ready.Store(e.sequence + 1)
		a.header().bell.ring()
		e.state = messagePosted
		return nil
	}
	if e.state != messagePosted || done <= e.sequence {
		return nil
	}
	e.state = messageDone
	if l.status.Load() == letterFault {
		return device.ErrFaultThere
	}
	return letterError(l.status.Load())
}

// advanceRecv takes the message if it has been posted, and answers.
func (s *stream) advanceRecv(e *entry) error {
	d, o := s.device, &e.op
	l := d.own.letter(int(o.Peer), o.Slot, e.sequence)
	if l.ready.Load() <= e.sequence {
		return nil
	}
	status := s.take(e, l)
	l.status.Store(status)
	l.done.Store(e.sequence + 1)
	d.peers[o.Peer].Load().header().bell.ring()
	e.state = messageDone
	return letterError(status)
}

// letterError is what an answer means for who receives.
func letterError(status uint32) error {
	switch status {
	case letterTaken:
		return nil
	case letterStale:
		return device.ErrStale
	case letterFault:
		return device.ErrFault
	default:
		return device.ErrMismatch
	}
}

// withdraw says that this rank does not hold the memory of a posted Send any
// longer, because its stream has failed.
func (s *stream) withdraw(e *entry) {
	if e.op.Kind == op.Send && e.state == messagePosted {
		a := s.device.peers[e.op.Peer].Load()
		a.letter(s.device.rank, e.op.Slot, e.sequence).withdrawn.Store(e.sequence + 1)
	}
}

// copyLetter moves a message of a peer's.
func (d *Device) copyLetter(to, from []byte, peer int) error {
	if d.ending == nil {
		d.kernels.Copy(to, from, 0)
		return nil
	}
	start := d.Now()
	d.kernels.Copy(to, from, 0)
	return d.injectLetter(to, peer, start)
}

// take copies a message out of the sender's arena. Nothing in the letter is
// trusted. The sender holds the memory until the letter is answered, even if
// it has freed the buffer; only that of a withdrawn letter may be another's by
// now. The pin is written before that is read, and the sender withdraws before
// it looks for pins: see [buffer.enter].
func (s *stream) take(e *entry, l *letter) uint32 {
	o := &e.op
	offset, bytes := atomic.LoadInt64(&l.offset), atomic.LoadInt64(&l.bytes)
	a, b := s.device.peers[o.Peer].Load(), o.Dst.Buf.(*buffer)
	if bytes != o.Bytes || !a.holds(offset, bytes) {
		return letterMismatch
	}
	allocation := atomic.LoadUint32(&l.allocation)
	pin := a.pin(s.device.rank, s.number, 0)
	pin.Store(uint64(allocation) + 1)
	defer pin.Store(0)
	if l.withdrawn.Load() == e.sequence+1 && a.generation(allocation).Load() != atomic.LoadUint32(&l.generation) {
		return letterStale
	}
	if s.device.copyLetter(b.mem[o.Dst.Off:][:bytes], a.mem[offset:][:bytes], int(o.Peer)) != nil {
		return letterFault
	}
	return letterTaken
}
