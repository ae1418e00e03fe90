package sim

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// channel is where one peer's sends meet this rank's receives, in order.
type channel struct{ sends, recvs []*message }

// message is a send or a receive that has been posted.
type message struct {
	stream    *stream
	at        uint64 // operation of the stream
	withdrawn bool   // its stream has failed
	other     *message
}

func (d *Device) channel(from int, number uint32) *channel {
	key := uint64(from)<<32 | uint64(number)
	c := d.mail[key]
	if c == nil {
		c = new(channel)
		d.mail[key] = c
	}
	return c
}

// converse posts the messages at the head of the queue, all that follow one
// another, and passes over those that are done.
func (s *stream) converse() {
	for s.posted = max(s.posted, s.head); s.posted < s.tail; s.posted++ {
		t := s.at(s.posted)
		if t.kind != op.Send && t.kind != op.Recv {
			break
		}
		if t.handed > s.cluster.now {
			if !s.starting {
				s.startAt(t.handed)
			}
			break
		}
		t.state, t.start = taskPosted, s.cluster.now
		s.post(t, s.posted)
		if s.failed != nil {
			return
		}
	}
	if !s.blocked {
		s.block()
	}
	s.hangUp()
}

// hangUp counts messages at the head that are done, and ends the conversation
// when none is left.
func (s *stream) hangUp() {
	for s.head < s.tail && s.at(s.head).state == taskDone {
		t := s.at(s.head)
		s.finish(t, flight.StatusOK)
	}
	if s.head == s.tail || s.at(s.head).state == taskNew {
		s.talking, s.blocked = false, false
		s.cluster.makeReady(s)
	}
}

// post offers a message to its other end.
func (s *stream) post(t *task, at uint64) {
	m := &message{stream: s, at: at}
	if t.extra == nil {
		t.extra = new(extra)
	}
	t.extra.letter = -1
	var pair *channel
	if t.kind == op.Send {
		pair = s.cluster.devices[t.peer].channel(s.device.rank, t.slot)
		pair.sends = append(pair.sends, m)
	} else {
		pair = s.device.channel(int(t.peer), t.slot)
		pair.recvs = append(pair.recvs, m)
	}
	for len(pair.sends) > 0 && len(pair.recvs) > 0 {
		from, to := pair.sends[0], pair.recvs[0]
		pair.sends, pair.recvs = pair.sends[1:], pair.recvs[1:]
		if to.withdrawn {
			pair.sends = append([]*message{from}, pair.sends...)
			continue
		}
		s.cluster.meetMessages(from, to)
	}
}

// meetMessages begins the copy of a send to its receive.
func (c *Cluster) meetMessages(from, to *message) {
	if from.withdrawn {
		to.stream.failMessage(to.at, device.ErrStale)
		return
	}
	sent, taken := from.task(), to.task()
	if sent.bytes != taken.bytes {
		err := fmt.Errorf("rank %d sends %d bytes, rank %d receives %d: %w",
			from.stream.device.rank, sent.bytes, to.stream.device.rank, taken.bytes, device.ErrMismatch)
		from.stream.failMessage(from.at, err)
		to.stream.failMessage(to.at, err)
		return
	}
	from.other, to.other = to, from
	letterID := c.letters.take()
	*c.letters.at(letterID) = letter{mail: to}
	taken.src = sent.src
	id := c.jobs.take()
	*c.jobs.at(id) = job{stream: to.stream, letter: letterID}
	dm := &c.machineDemand
	dm.reset()
	c.machine.demand(dm, to.stream.device.rank, taken)
	c.begin(id, dm)
}

func (m *message) task() *task { return m.stream.at(m.at) }

// arrived ends the copy of a message, on both sides.
func (c *Cluster) arrived(id int32) {
	l := *c.letters.at(id)
	to := l.mail
	from := to.other
	if to.stream.failed != nil { // whoever sends need not know
		c.letters.give(id)
		from.done()
		return
	}
	t := to.task()
	if !t.engaged {
		t.engaged = true
		to.stream.device.apply(t)
		if to.inject(t, id) {
			return
		}
	}
	c.letters.give(id)
	from.done()
	to.done()
}

// done ends a message for its stream.
func (m *message) done() {
	if m.stream.failed == nil {
		m.task().state = taskDone
		m.stream.hangUp()
	}
}

// failMessage fails a stream for one of its messages.
func (s *stream) failMessage(at uint64, err error) {
	if s.failed != nil {
		return
	}
	t := s.at(at)
	s.failed = &failure{at: at, err: &device.OpError{Op: s.device.opOf(t), Stream: s.number, Err: err}}
	s.device.record(s, t, device.StatusOf(err))
	s.blocked, s.talking = false, false
	s.passOver()
}

// unfinishedMessage is the first message at the head that is not done.
func (s *stream) unfinishedMessage() *task {
	for i := s.head; i < s.tail; i++ {
		if t := s.at(i); t.state != taskDone {
			return t
		}
	}
	return s.at(s.head)
}

// withdraw takes a posted message back whose stream has failed.
func (s *stream) withdraw(t *task) {
	if t.state != taskPosted {
		return
	}
	pair := s.device.channel(int(t.peer), t.slot)
	list := pair.recvs
	if t.kind == op.Send {
		list = s.cluster.devices[t.peer].channel(s.device.rank, t.slot).sends
	}
	for _, m := range list {
		if m.stream == s {
			m.withdrawn = true
		}
	}
}

func (d *Device) acceptMessage(o *op.Op, buf op.Buffer) error {
	if o.Slot >= sendChannels {
		return fmt.Errorf("channel %d of %d: %w", o.Slot, sendChannels, device.ErrSlot)
	}
	if o.Peer < 0 {
		return fmt.Errorf("rank %d: %w", o.Peer, device.ErrPeer)
	}
	if err := d.meet(int(o.Peer), device.Forever); err != nil {
		return err
	}
	b, err := d.use(buf)
	if err != nil {
		return err
	}
	if b.remote() {
		return fmt.Errorf("%s of a peer's buffer: %w", o.Kind, device.ErrForeign)
	}
	return nil
}
