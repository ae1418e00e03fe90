package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// queueMax is how many operations a stream holds before the guest has to wait.
const queueMax = 1024

// ringFirst is how many it holds before it takes more memory.
const ringFirst = 64

// stream is an in-order queue of operations.
type stream struct {
	// What every event of the stream looks at comes first, on one cache line:
	// thousands of streams take turns.
	ring       []task // a power of two long; operation i lies at i mod len
	head, tail uint64 // operations done, and submitted
	device     *Device
	failed     *failure
	busy       bool // the head is being carried out
	blocked    bool // the head waits for somebody else
	talking    bool // the head and what follows it are messages under way
	starting   bool // an event will come when the head can begin
	listed     bool // on the cluster's list of streams that may go on
	closed     bool
	glanced    uint8 // what glance has read, so that it reads

	posted    uint64 // messages before this one are under way or done
	free      int64  // when the operation before the head is over, if that is to come
	cluster   *Cluster
	followers []follower // event waits of other streams
	number    int        // within the rank, from 1
	index     int32      // within the cluster

	blockedSince time.Time // outside Run
}

// failure is why a stream has stopped, and after how many operations.
type failure struct {
	at  uint64
	err *device.OpError
}

// follower is a stream that waits until so many operations are done here.
type follower struct {
	stream *stream
	target uint64
}

// task is an operation in a queue: what of [op.Op] most kinds need, and the
// rest behind a pointer.
type task struct {
	// One cache line, all that waits and signals need.
	kind    op.Kind
	dtype   op.Dtype
	red     op.RedOp
	sources uint8
	state   taskState
	engaged bool // it has had to wait for nobody: delayed once
	peer    int32
	slot    uint32
	handed  int64 // when the guest had handed it over
	start   int64
	value   uint64
	bytes   int64
	dst     place

	// And another.
	src    place // the first of sources too
	second place // of two sources
	extra  *extra
	term   op.Term
}

// seen reads something of a place.
func (p *place) seen() uint8 { return uint8(p.off) }

// place is an offset into a buffer.
type place struct {
	buf *buffer
	off int64
}

// taskState is how far a message is.
type taskState uint8

const (
	taskNew taskState = iota
	taskPosted
	taskDone
)

// extra is what few kinds need.
type extra struct {
	sources [op.MaxSources]place
	gemm    op.GemmShape
	box     *op.BoxShape // behind a pointer: waits need an extra more often
	after   *stream      // of an EventWait: the stream of the record, nil if there was none
	target  uint64
	result  *op.Result
	comm    *comm
	call    *op.Call
	first   uint64 // number of the first call on its communicator
	running int    // calls of the group that are not complete
	letter  int32
}

// NewStream makes a stream.
func (d *Device) NewStream() (device.Stream, error) {
	defer d.leave(d.enter())
	if d.closed {
		return nil, device.ErrClosed
	}
	for number := 1; number <= maxStreams; number++ {
		if d.streams[number] == nil {
			d.charge()
			return d.openStream(number), nil
		}
	}
	return nil, device.ErrTooMany
}

func (d *Device) openStream(number int) *stream {
	c := d.cluster
	s := &c.slabs.streams.take(1, c.ranks)[0]
	*s = stream{cluster: c, device: d, number: number, ring: c.slabs.rings.take(ringFirst, c.ranks)}
	d.recorded = d.recorder != nil && d.recorder.Level >= flight.LevelFlow
	if n := len(c.unused); n > 0 {
		s.index = c.unused[n-1]
		c.unused = c.unused[:n-1]
		c.streams[s.index] = s
	} else {
		s.index = int32(len(c.streams))
		c.streams = append(c.streams, s)
	}
	d.streams[number] = s
	return s
}

func (s *stream) at(i uint64) *task { return &s.ring[i&uint64(len(s.ring)-1)] }

func (s *stream) empty() bool { return s.head == s.tail }

// err is the failure of the stream, or the abort of the device.
func (s *stream) err() error {
	if s.failed != nil {
		return s.failed.err
	}
	return s.device.abortError()
}

func (s *stream) usable() error {
	if s.closed || s.device.closed {
		return device.ErrClosed
	}
	return s.err()
}

// Submit appends o.
func (s *stream) Submit(o *op.Op) error {
	d := s.device
	defer d.leave(d.enter())
	if err := s.usable(); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := d.accept(o); err != nil {
		return err
	}
	if err := s.makeRoom(); err != nil {
		return err
	}
	d.charge()
	t := s.at(s.tail)
	*t = task{kind: o.Kind, dtype: o.Type, red: o.Red, peer: o.Peer, slot: o.Slot, value: o.Value, bytes: o.Bytes, term: o.Term}
	t.handed = max(d.host, s.cluster.now)
	s.take(t, o)
	s.tail++
	s.cluster.stats.Operations++
	if !s.busy && !s.blocked && !s.starting || s.talking {
		s.cluster.makeReady(s)
	}
	return nil
}

// makeRoom makes the queue longer, up to a limit, and then waits.
func (s *stream) makeRoom() error {
	n := uint64(len(s.ring))
	if s.tail-s.head < n {
		return nil
	}
	if n < queueMax {
		grown := make([]task, 2*n)
		for i := s.head; i < s.tail; i++ {
			grown[i&(2*n-1)] = *s.at(i)
		}
		s.ring = grown
		return nil
	}
	if err := s.reach(s.tail-n/2, op.SyncStream, device.Forever); err != nil {
		return err
	}
	return s.err()
}

// reach waits until so many operations are done.
func (s *stream) reach(target uint64, kind op.Kind, timeout time.Duration) error {
	d := s.device
	d.wait = guestWait{kind: kind, stream: s, target: target, peer: -1}
	return d.await(timeout)
}

// Query reports whether everything submitted is complete.
func (s *stream) Query() (bool, error) {
	d := s.device
	defer d.leave(d.enter())
	if s.closed || d.closed {
		return false, device.ErrClosed
	}
	d.charge()
	d.catchUp()
	if err := s.err(); err != nil || s.empty() {
		return s.empty(), err
	}
	d.looked()
	return false, nil
}

// Sync waits until everything submitted is complete.
func (s *stream) Sync(timeout time.Duration) error {
	d := s.device
	defer d.leave(d.enter())
	if s.closed || d.closed {
		return device.ErrClosed
	}
	d.charge()
	if s.empty() {
		return s.err()
	}
	if err := s.reach(s.tail, op.SyncStream, timeout); err != nil {
		return err
	}
	return s.err()
}

// Close waits for the stream and gives it back.
func (s *stream) Close() error {
	d := s.device
	defer d.leave(d.enter())
	if s.closed || d.closed {
		return device.ErrClosed
	}
	var err error
	if !s.empty() {
		err = s.reach(s.tail, op.SyncStream, device.Forever)
	}
	if e := s.err(); e != nil {
		err = e
	}
	s.closed = true
	s.stop(device.ErrClosed)
	d.streams[s.number] = nil
	s.release()
	return err
}

// release gives the number of a closed stream back, once nothing names it.
func (s *stream) release() {
	if c := s.cluster; s.closed && s.idle() && c.streams[s.index] == s {
		c.streams[s.index] = nil
		c.unused = append(c.unused, s.index)
	}
}

// idle reports whether no event of the cluster still names the stream.
func (s *stream) idle() bool { return !s.busy && !s.starting && !s.listed && !s.blocked && !s.talking }

// stop passes over what is left of the queue.
func (s *stream) stop(cause error) {
	if !s.empty() && s.failed == nil {
		s.failHead(cause)
	}
}
