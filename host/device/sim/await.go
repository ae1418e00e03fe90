package sim

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/event"
	"github.com/ccrun/ccrun/host/op"
)

// Sleep lets virtual time pass for a rank. It is to be called from its body.
func (c *Cluster) Sleep(rank int, nanos int64) error {
	d := c.devices[rank]
	defer d.leave(d.enter())
	if err := d.abortError(); err != nil {
		return err
	}
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
	comm   *comm          // whose calls are to be complete
	points []device.Point // one of which has to be reached, for kind op.SyncAny
	found  int            // one of these that has been, -1 if none has, for that kind
	peer   int            // that has no device yet, for kind op.ShareLookup without a key; else -1
}

// satisfied reports whether the wait is over.
func (d *Device) satisfied() bool {
	switch w := &d.wait; {
	case w.stream != nil:
		return w.stream.head >= w.target || w.stream.failed != nil && w.kind != op.SyncEvent
	case w.comm != nil:
		return w.comm.done >= w.comm.submitted || w.comm.broken != nil
	case w.kind == op.SyncAny:
		return w.found >= 0
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

// poke lets a rank go on if what it waits for has come, other than points.
func (d *Device) poke() { d.pokeFor(nil) }

// pokeFor does so when a stream has moved on.
func (d *Device) pokeFor(s *stream) {
	if !d.waiting {
		return
	}
	if s != nil && d.wait.kind == op.SyncAny {
		d.lookAtEvents(s)
	}
	if d.satisfied() {
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
	if d.waiting && d.wait.kind == op.None && d.until <= at {
		d.wake()
	}
}

// limit ends the wait at a time, if it lasts that long. A rank has one event for
// it on the queue, as a rule, however many such waits it makes: when its time
// comes, the event is put off to the end of the wait that there is by then.
func (d *Device) limit(at int64) {
	d.until, d.limited = at, true
	d.cluster.limited++
	if d.alarm < 0 || at < d.alarm {
		d.setAlarm()
	}
}

func (d *Device) setAlarm() {
	d.alarm = d.until
	d.cluster.queue.Push(event.Event{At: d.until, Kind: evTimeout, Target: uint32(d.rank)})
}

// expire is the event that a wait may have lasted too long.
func (d *Device) expire(at int64) {
	if d.alarm == at {
		d.alarm = -1
	}
	switch {
	case !d.waiting || !d.limited:
	case d.until == at:
		d.expired = true
		d.wake()
	case d.alarm < 0:
		d.setAlarm()
	}
}

// timeMax is the last instant, picoseconds: 53 days. Whatever is later comes
// then, or, if it is the end of a wait, never.
const timeMax = 1 << 62

// later is the instant so long after another.
func later(from int64, nanos int64) int64 {
	if nanos > (timeMax-from)/picosPerNano {
		return max(from, timeMax)
	}
	return from + nanos*picosPerNano
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
	from := max(c.now, d.host)
	d.waiting, d.expired = true, false
	switch end := later(from, int64(timeout)); {
	case d.wait.kind == op.None:
		d.until = end
		c.plan(end, evResume, uint32(d.rank))
	case timeout >= 0 && end < timeMax:
		d.limit(end)
	}
	c.coroutines[d.rank].yield(struct{}{})
	d.waiting = false
	if d.limited {
		d.limited = false
		c.limited--
	}
	if c.now > from { // else it was over before the thread had come to wait
		d.host = max(d.host, c.now+c.machine.wakePicos())
	}
	if d.wait.kind != op.None && d.satisfied() {
		return nil // what came before the abort, or at the last instant
	}
	if d.expired {
		d.looked()
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
	d.waiting, d.expired, d.until = true, false, d.host
	c.plan(d.host, evResume, uint32(d.rank))
	c.coroutines[d.rank].yield(struct{}{})
	d.waiting = false
}

// looksMax is how often a rank may look at something, the clock for example, and
// do nothing else, before it counts as waiting for what it sees to change.
const looksMax = 1 << 16

// looked counts a look by a call that may be made over and over until something
// has happened. Who does so is a microsecond older each time: where calls cost
// nothing, nothing would ever happen otherwise.
func (d *Device) looked() {
	d.looks = d.looksBefore + 1
	d.grow()
}

func (d *Device) grow() {
	if d.looks > looksMax && d.cluster.scheduled {
		d.host = d.time() + 1000*picosPerNano
	}
}
