package sim

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Limits of a device, those of the cpu device.
const (
	maxStreams   = 64
	maxEvents    = 4096
	maxBuffers   = 1 << 16
	signalSlots  = 1024
	sendChannels = 64
	// waitLimit is how long a rank that has no device yet is waited for outside
	// Run, if operations have no limit of their own.
	waitLimit = time.Minute
)

// Device is one rank of a cluster.
type Device struct {
	// What every operation looks at comes first, on one cache line.
	cluster  *Cluster
	rank     int
	ending   ending // nil unless operations go wrong on purpose
	host     int64  // the time on the rank's own thread, ahead of the cluster's
	near     *slot  // the slot looked up last, and its key
	nearKey  uint64
	waiting  bool
	limited  bool  // the wait ends at until
	expired  bool  // it has
	recorded bool  // some operations leave records
	shares   bool  // its operations wait for turns on a core
	until    int64 // when the wait ends, or the rank's own time has come

	wait        guestWait
	alarm       int64 // of the earliest evTimeout on the queue, -1 if none is known of
	looks       int   // since the rank has last done something
	looksBefore int   // this call
	calls       int   // since the rank was told to stop
	recorder    *flight.Writer
	opTimeout   time.Duration

	memory    memory
	streams   [maxStreams + 1]*stream // by number; 0 is not used
	events    int
	slots     map[uint64]*slot
	mail      map[uint64]*channel
	barriers  uint64
	openComms int
	engines   int       // copy engines that are busy
	queued    []*stream // for an engine

	aborted atomic.Pointer[error]
	closed  bool
}

var _ interface {
	device.Device
	device.Collectives
	device.Faults
} = (*Device)(nil)

// Open makes the device of a rank. Within Run, waits of streams have no limit,
// whatever the configuration says: one that cannot end is found at once.
func (c *Cluster) Open(o device.Config) (device.Device, error) {
	if o.Size != c.ranks || o.Rank < 0 || o.Rank >= c.ranks {
		return nil, fmt.Errorf("rank %d of %d: %w", o.Rank, o.Size, device.ErrPeer)
	}
	if !c.scheduled {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	if c.devices[o.Rank] != nil {
		return nil, fmt.Errorf("rank %d is open already: %w", o.Rank, device.ErrPeer)
	}
	d := &c.slabs.devices.take(1, c.ranks)[0]
	d.cluster, d.rank, d.recorder, d.opTimeout = c, o.Rank, o.Recorder, o.OpTimeout
	d.slots, d.mail, d.alarm = make(map[uint64]*slot), make(map[uint64]*channel), -1
	d.shares = c.machine.shares(o.Rank)
	d.memory.init(c, o.MemoryBytes)
	c.devices[o.Rank] = d
	if c.opened++; c.meeting > 0 {
		c.pokeAll()
	}
	return d, nil
}

// pokeAll lets all ranks go on whose wait is over.
func (c *Cluster) pokeAll() {
	for _, d := range c.devices {
		if d != nil {
			d.poke()
		}
	}
}

// Facts says what the device is.
func (d *Device) Facts() device.Facts {
	return device.Facts{
		Name: "sim", Model: d.cluster.preset.Name, MemoryBytes: d.memory.limit,
		MaxStreams: maxStreams, MaxEvents: maxEvents,
		SignalSlots: signalSlots, SendChannels: sendChannels, Virtual: true,
	}
}

// Now is the rank's virtual time in nanoseconds.
func (d *Device) Now() int64 {
	d.looks++
	d.grow()
	return d.time() / picosPerNano
}

// time is that of the rank's own thread, in picoseconds.
func (d *Device) time() int64 { return max(d.cluster.now, d.host) }

// Abort ends every wait of this rank, now and from now on.
func (d *Device) Abort(cause error) {
	if cause == nil {
		cause = errors.New("no cause given")
	}
	wrapped := fmt.Errorf("%w: %w", device.ErrAborted, cause)
	d.aborted.CompareAndSwap(nil, &wrapped)
	d.cluster.news.Store(true)
	d.cluster.announce()
}

// abortError is nil until Abort is called.
func (d *Device) abortError() error {
	if e := d.aborted.Load(); e != nil {
		return *e
	}
	if e := d.cluster.aborted.Load(); e != nil {
		return *e
	}
	return nil
}

// usable is nil while the guest may call.
func (d *Device) usable() error {
	if d.closed {
		return device.ErrClosed
	}
	return d.abortError()
}

// charge adds what a call costs the rank's own thread.
func (d *Device) charge() {
	if d.cluster.scheduled {
		d.host = max(d.host, d.cluster.now) + d.cluster.machine.callPicos()
	}
}

// meet waits until a rank has a device, or all have for rank -1.
func (d *Device) meet(peer int, timeout time.Duration) error {
	if peer >= d.cluster.ranks {
		return fmt.Errorf("rank %d of %d: %w", peer, d.cluster.ranks, device.ErrPeer)
	}
	d.wait = guestWait{kind: op.ShareLookup, peer: peer}
	if d.satisfied() {
		return nil
	}
	limit := waitLimit
	if d.opTimeout > 0 {
		limit = d.opTimeout
	}
	if timeout >= 0 {
		limit = min(limit, timeout)
	}
	d.cluster.meeting++
	err := d.await(limit)
	d.cluster.meeting--
	if err != nil {
		return fmt.Errorf("rank %d has no device: %w", max(peer, 0), err)
	}
	return nil
}

// Barrier counts this rank in and waits until every rank's count is as high.
func (d *Device) Barrier(timeout time.Duration) error {
	defer d.leave(d.enter())
	if err := d.usable(); err != nil {
		return err
	}
	d.charge()
	d.catchUp()
	if err := d.meet(-1, timeout); err != nil {
		return fmt.Errorf("barrier %d: %w", d.barriers+1, err)
	}
	c := d.cluster
	if d.barriers-c.passed >= barriersAhead {
		return fmt.Errorf("barrier %d: %d have not ended: %w", d.barriers+1, barriersAhead, device.ErrTooMany)
	}
	d.barriers++
	c.arrive(d.barriers)
	d.wait = guestWait{kind: op.Barrier, target: d.barriers, peer: -1}
	if err := d.await(timeout); err != nil {
		rank, entered := c.laggard(d.barriers)
		if rank < 0 {
			return fmt.Errorf("barrier %d: all ranks have entered it: %w", d.barriers, err)
		}
		return fmt.Errorf("barrier %d: rank %d has entered %d: %w", d.barriers, rank, entered, err)
	}
	return nil
}

// barriersAhead is how many barriers a rank may have entered and not waited for.
const barriersAhead = 1 << 16

// round is a barrier that not all ranks have passed.
type round struct {
	entered int
	behind  int // all ranks before this one have entered
}

// arrive counts a rank into a barrier, and plans its end if it was the last.
func (c *Cluster) arrive(number uint64) {
	at := number - c.passed - 1
	for uint64(len(c.rounds)) <= at {
		c.rounds = append(c.rounds, round{})
	}
	r := &c.rounds[at]
	if r.entered++; r.entered == c.ranks {
		c.plan(c.now+c.machine.barrierPicos(), evBarrier, 0)
	}
}

// pass ends the barrier whose turn it is: they end in the order in which the
// last rank has come to them.
func (c *Cluster) pass() {
	c.passed++
	c.rounds = c.rounds[1:]
	c.pokeAll()
}

// laggard is the first rank that has not entered a barrier, and how many it has.
// It is -1 if all have, and the barrier is over or about to be.
func (c *Cluster) laggard(number uint64) (rank int, entered uint64) {
	if number <= c.passed {
		return -1, number
	}
	r := &c.rounds[number-c.passed-1]
	for ; r.behind < c.ranks; r.behind++ {
		switch d := c.devices[r.behind]; {
		case d == nil:
			return r.behind, 0
		case d.barriers < number:
			return r.behind, d.barriers
		}
	}
	return -1, number
}

// Close gives the device back. What its streams still do touches no memory
// afterwards.
func (d *Device) Close() error {
	defer d.leave(d.enter())
	if d.closed {
		return device.ErrClosed
	}
	d.closed = true
	for _, s := range d.streams {
		if s != nil {
			s.stop(device.ErrClosed)
		}
	}
	d.memory.close()
	return nil
}
