package cpu

import (
	"sync/atomic"
	"time"
)

// work is a stream's worker: it sleeps until there is something to execute
// that the guest's thread does not execute itself.
func (s *stream) work() {
	defer s.device.workers.Done()
	for range s.wakeup {
		if s.stopping.Load() {
			return
		}
		for !s.empty() && s.owner.CompareAndSwap(unowned, ownedByWorker) {
			err := s.drain(never64, guestWait{}) // failures are kept by the stream
			s.release()
			if err != nil {
				s.offer()
			}
		}
	}
}

// offerYields is how often a worker lets the guest's thread run that wants the
// stream. If it does not take the stream, it has gone to sleep meanwhile.
const offerYields = 64

// offer waits until the guest's thread has taken the stream or wants it no
// more, but not for long: the worker takes it back then.
func (s *stream) offer() {
	for i := 0; i < offerYields && s.owner.Load() == unowned && s.wanted.Load(); i++ {
		s.device.yield(i)
	}
}

// never64 is a queue position that is never reached.
const never64 = ^uint64(0)

// wake tells the worker to look, without waiting for it.
func (s *stream) wake() {
	select {
	case s.wakeup <- struct{}{}:
	default:
	}
}

// stop ends the worker once it has nothing to do.
func (s *stream) stop() {
	s.stopping.Store(true)
	s.wake()
}

// kick wakes the workers of all streams with work that nobody does: the
// guest's thread has begun to wait and will not get to them.
func (d *Device) kick() {
	for i := 1; i < int(d.lanes); i++ {
		if s := d.streams[i].Load(); s != nil && !s.empty() && s.owner.Load() == unowned {
			s.wake()
		}
	}
}

// progress looks after a single stream, whose worker is not woken for each
// operation because the guest will most likely wait for it and then executes
// it itself. If the guest does something else for a while, progress wakes the
// worker. It waits in Go's timers and channels, never in a system call: the Go
// scheduler watches for those every 20 us as long as there are any, on the
// processor that the guest's thread is pinned to.
type progress struct {
	started bool // the guest's thread only
	asleep  atomic.Bool
	rouse   chan struct{} // something to look after
	stopped chan struct{} // closed by stop
}

// Periods between looks, and looks without work before progress goes to sleep
// and needs to be woken.
const (
	lookMin   = 60 * time.Microsecond
	lookMax   = time.Millisecond
	idleLooks = 16
)

func newProgress() progress {
	return progress{rouse: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// expect makes sure that progress is looking.
func (p *progress) expect(d *Device) {
	if !p.started {
		p.started = true
		d.workers.Add(1)
		go p.run(d)
		return
	}
	if p.asleep.Load() && p.asleep.CompareAndSwap(true, false) {
		p.rouse <- struct{}{} // asleep is set after the one before was taken
	}
}

func (p *progress) stop() { close(p.stopped) }

// run looks at the streams as long as they are used. Looks become rarer while
// the guest keeps up with its own work.
func (p *progress) run(d *Device) {
	defer d.workers.Done()
	timer := time.NewTimer(d.pace.lookMin)
	defer timer.Stop()
	var last [laneCount]look
	period, idle := d.pace.lookMin, 0
	for {
		select {
		case <-p.stopped:
			return
		case <-timer.C:
		}
		stalled, used := d.look(&last)
		period = min(period*2, d.pace.lookMax)
		if stalled {
			period = d.pace.lookMin
		}
		idle++
		if used {
			idle = 0
		}
		if idle > idleLooks {
			p.sleep(d)
			idle = 0
		}
		timer.Reset(period)
	}
}

// sleep waits until expect is called. Announcing sleep comes before the last
// look: work that was appended before it is seen here, work appended after it
// finds progress asleep.
func (p *progress) sleep(d *Device) {
	p.asleep.Store(true)
	if d.pending() && p.asleep.CompareAndSwap(true, false) {
		return
	}
	select {
	case <-p.rouse:
	case <-p.stopped:
	}
}

// look is what progress saw of a stream.
type look struct {
	tail, done uint64
	pending    bool
}

// look wakes the worker of each stream that has work which nobody has touched
// since the last look.
func (d *Device) look(last *[laneCount]look) (stalled, used bool) {
	for i := range d.streams {
		s := d.streams[i].Load()
		if s == nil {
			continue
		}
		done := s.done.value.Load()
		now := look{tail: s.tail.Load(), done: done}
		now.pending = now.tail != done && s.owner.Load() == unowned
		if now.pending && last[i].pending && last[i].done == done {
			s.wake()
			stalled = true
		}
		used = used || now.tail != last[i].tail
		last[i] = now
	}
	return stalled, used
}

// pending reports whether a stream has work that nobody has taken up.
func (d *Device) pending() bool {
	for i := range d.streams {
		if s := d.streams[i].Load(); s != nil && !s.empty() && s.owner.Load() == unowned {
			return true
		}
	}
	return false
}
