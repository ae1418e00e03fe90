package sim

import (
	"errors"
	"iter"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// coroutine is a rank's body while Run is under way.
type coroutine struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	ended bool
}

// fifo is a queue of ranks.
type fifo struct {
	ranks []int32
	head  int
}

func (q *fifo) push(rank int) { q.ranks = append(q.ranks, int32(rank)) }

func (q *fifo) pop() (int, bool) {
	if q.head == len(q.ranks) {
		q.ranks, q.head = q.ranks[:0], 0
		return 0, false
	}
	q.head++
	return int(q.ranks[q.head-1]), true
}

func (q *fifo) empty() bool { return q.head == len(q.ranks) }

// Deadlock is why [Cluster.Run] gave up: no rank could go on. By then the waits
// stand in the lanes of the ranks' recorders, and the ranks have been unwound.
type Deadlock struct {
	AtNanos int64
	Ranks   []int // that had not ended
}

// Error says when.
func (d *Deadlock) Error() string { return "deadlock: no rank can move" }

// Run runs bodies[i] as rank i, one at a time, until all have returned. If none
// can go on it gives the run up and returns a [*Deadlock]; if Abort was called,
// the cause. A body that is in no call of its device cannot be stopped.
func (c *Cluster) Run(bodies []func()) error {
	c.scheduled = true
	c.coroutines = make([]coroutine, len(bodies))
	for rank, body := range bodies {
		co := &c.coroutines[rank]
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			co.yield = yield
			body()
		})
		defer stop()
		co.next = next
		c.runnable.push(rank)
	}
	err := c.schedule(len(bodies))
	c.scheduled = false
	return err
}

// schedule lets ranks and events take turns until all ranks have ended.
func (c *Cluster) schedule(live int) error {
	var result error
	told := false
	for live > 0 {
		if cause := c.aborted.Load(); !told && cause != nil {
			told = true
			result = errors.Join(result, *cause)
			c.publishWaits(false)
			c.tell(*cause)
		}
		if rank, ok := c.runnable.pop(); ok {
			live -= c.resumeRank(rank)
			continue
		}
		if c.step() {
			continue
		}
		if told {
			return errors.Join(result, errors.New("ranks that were told to stop wait for ever"))
		}
		deadlock := &Deadlock{AtNanos: c.Now(), Ranks: c.publishWaits(true)}
		result = deadlock
		c.Abort(deadlock)
		told = true
		c.tell(deadlock)
	}
	c.finishEvents(told)
	return result
}

// finishEvents lets what was submitted and not waited for come to its end.
func (c *Cluster) finishEvents(aborted bool) {
	for !aborted && c.step() {
	}
}

// resumeRank lets a rank go on until it waits, and gives 1 if it has ended.
func (c *Cluster) resumeRank(rank int) int {
	co := &c.coroutines[rank]
	if co.ended {
		return 0
	}
	c.stats.Switches++
	if c.between != nil {
		c.between()
	}
	if _, more := co.next(); more {
		return 0
	}
	co.ended = true
	return 1
}

// tell says that the run is given up, and then lets the ranks see it.
func (c *Cluster) tell(cause error) {
	if c.givenUp != nil {
		c.givenUp(cause)
	}
	c.wakeAll()
}

// wakeAll lets every rank see that the run has been given up.
func (c *Cluster) wakeAll() {
	for _, d := range c.devices {
		if d != nil && d.waiting {
			d.wake()
		}
	}
}

// Sleep lets virtual time pass for a rank. It is to be called from its body.
func (c *Cluster) Sleep(rank int, nanos int64) error {
	d := c.devices[rank]
	defer d.leave(d.enter())
	d.wait = guestWait{kind: op.None}
	return d.await(max(0, time.Duration(nanos)))
}

// guestWait is what a rank's own thread waits for.
type guestWait struct {
	kind   op.Kind // op.None: for time to pass
	stream *stream
	target uint64 // operations of the stream, or number of the barrier
	key    string // of the store
	joined *group
	comm   *comm // whose calls are to be complete
	peer   int   // that has no device yet, for kind op.ShareLookup without a key; else -1
}

// satisfied reports whether the wait is over.
func (d *Device) satisfied() bool {
	switch w := &d.wait; {
	case w.stream != nil:
		return w.stream.head >= w.target || w.stream.failed != nil && w.kind != op.SyncEvent
	case w.comm != nil:
		return w.comm.done >= w.comm.submitted || w.comm.broken != nil
	case w.kind == op.Barrier:
		return d.cluster.passed >= w.target
	case w.joined != nil:
		return w.joined.complete() || w.joined.mismatch
	case w.key != "":
		return d.cluster.store.has(w.key)
	case w.kind == op.ShareLookup:
		return w.peer < 0 && d.cluster.opened == d.cluster.ranks || w.peer >= 0 && d.cluster.devices[w.peer] != nil
	}
	return false
}

// poke lets a rank go on if what it waits for has come.
func (d *Device) poke() {
	if d.waiting && d.satisfied() {
		d.wake()
	}
}

func (d *Device) wake() {
	d.waiting = false
	if d.cluster.scheduled {
		d.cluster.runnable.push(d.rank)
		return
	}
	d.cluster.changed.Broadcast()
}

// resume is the event that a rank's own time has come.
func (d *Device) resume(at int64) {
	if d.waiting && d.wait.kind == op.None && d.until == at {
		d.wake()
	}
}

// expire is the event that a wait has lasted too long.
func (d *Device) expire(at int64) {
	if d.waiting && d.until == at {
		d.expired = true
		d.wake()
	}
}

// await waits for what d.wait says, for as long as the timeout.
func (d *Device) await(timeout time.Duration) error {
	c := d.cluster
	if d.wait.kind != op.None {
		if err := d.abortError(); err != nil {
			return err
		}
		if d.satisfied() {
			return nil
		}
	}
	if !c.scheduled {
		return d.awaitFree(timeout)
	}
	d.waiting, d.expired, d.until = true, false, -1
	from := max(c.now, d.host)
	switch {
	case d.wait.kind == op.None:
		d.until = from + int64(timeout)*picosPerNano
		c.queue.Push(newEvent(d.until, evResume, uint32(d.rank)))
	case timeout >= 0:
		d.until = from + int64(timeout)*picosPerNano
		if d.until < from {
			break // later than time goes
		}
		c.queue.Push(newEvent(d.until, evTimeout, uint32(d.rank)))
	}
	c.coroutines[d.rank].yield(struct{}{})
	d.waiting = false
	d.host = max(d.host, c.now+c.machine.wakePicos())
	if d.expired {
		return device.ErrTimeout
	}
	return d.abortError()
}

// catchUp lets the cluster's time come to the rank's own, which is ahead by
// what its calls have cost: what it looks at next is of that time.
func (d *Device) catchUp() {
	c := d.cluster
	if !c.scheduled || d.host <= c.now {
		return
	}
	if c.runnable.empty() && len(c.ready) == 0 && len(c.readyRuns) == 0 && c.nextAt() > d.host {
		c.now = d.host
		return
	}
	d.wait = guestWait{kind: op.None}
	d.waiting, d.until = true, d.host
	c.queue.Push(newEvent(d.host, evResume, uint32(d.rank)))
	c.coroutines[d.rank].yield(struct{}{})
	d.waiting = false
}
