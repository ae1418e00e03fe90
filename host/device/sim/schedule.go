package sim

import (
	"fmt"
	"iter"
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
// an error that wraps the cause. If a body panics, the others are told to stop,
// and Run panics as well when they have ended.
//
// A body that is given up gets errors from all its calls. One that makes a
// million calls all the same is ended; one that calls nothing cannot be. Time
// passes for who polls: not only for each call, if the preset says so, but also
// for who reads the clock again and again.
func (c *Cluster) Run(bodies []func()) error {
	c.scheduled, c.told, c.result = true, false, nil
	defer func() { c.scheduled = false }()
	c.coroutines = make([]coroutine, len(bodies))
	for rank, body := range bodies {
		co := &c.coroutines[rank]
		// Its stop is of no use: a body is resumed until it has ended.
		co.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			co.yield = yield
			body()
		})
		c.runnable.push(rank)
	}
	c.live = len(bodies)
	c.schedule()
	c.finishEvents()
	return c.result
}

// schedule lets ranks and events take turns until all ranks have ended.
func (c *Cluster) schedule() {
	for c.live > 0 {
		if c.news.Load() && c.news.Swap(false) {
			c.heed()
		}
		if rank, ok := c.runnable.pop(); ok {
			c.resumeRank(rank)
			continue
		}
		if !c.step() {
			c.deadlocked()
		}
	}
	if c.news.Swap(false) { // the last one has called Abort
		c.heed()
	}
}

// deadlocked gives the run up since nothing can happen any more.
func (c *Cluster) deadlocked() {
	if c.told {
		panic("sim: ranks that were told to stop wait for ever")
	}
	for _, st := range c.streams {
		if st != nil && st.blocked { // an early one, which was looked at before its time
			c.now = max(c.now, st.at(st.head).start)
		}
	}
	deadlock := &Deadlock{AtNanos: c.Now(), Ranks: c.publishWaits(true)}
	c.told, c.result = true, deadlock
	c.Abort(deadlock)
	if c.givenUp != nil {
		c.givenUp(deadlock)
	}
}

// heed lets ranks see that they have been aborted, one or all.
func (c *Cluster) heed() {
	if cause := c.aborted.Load(); cause != nil && !c.told {
		c.told, c.result = true, *cause
		c.publishWaits(false)
		if c.givenUp != nil {
			c.givenUp(*cause)
		}
	}
	c.wakeAborted()
}

// wakeAborted ends the waits of those that have been aborted.
func (c *Cluster) wakeAborted() {
	for _, d := range c.devices {
		if d != nil && d.waiting && d.abortError() != nil {
			d.wake()
		}
	}
}

// finishEvents lets what was submitted and not waited for come to its end.
func (c *Cluster) finishEvents() {
	for !c.told && c.step() {
	}
}

// resumeRank lets a rank go on until it waits or ends.
func (c *Cluster) resumeRank(rank int) {
	co := &c.coroutines[rank]
	if co.ended {
		return
	}
	c.stats.Switches++
	if c.between != nil {
		c.between()
	}
	back := false
	defer func() {
		if !back {
			c.lost(rank, recover())
		}
	}()
	_, more := co.next()
	back = true
	if !more {
		co.ended = true
		c.live--
	}
}

// lost is called when a body has not returned but panicked, or left its
// goroutine as a test does that fails: then the others are told to stop.
func (c *Cluster) lost(rank int, fault any) {
	c.coroutines[rank].ended = true
	c.live--
	if _, ok := fault.(deaf); ok {
		return
	}
	c.Abort(fmt.Errorf("rank %d has left its body", rank))
	c.schedule()
	if fault != nil {
		panic(fault)
	}
}

// deaf is the panic that ends a body which has been told to stop and does not.
type deaf struct{}

// callsAfterEnd is how many calls a body may make when it has been told to stop.
const callsAfterEnd = 1 << 20

// heard counts a call of a rank that has been told to stop.
func (d *Device) heard() {
	if d.calls++; d.calls > callsAfterEnd {
		panic(deaf{})
	}
}
