package cpu

import (
	"math"
	"runtime"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Waiting goes through three phases: pauses, while the other side is probably
// running on another processor; yields, so that it can run on this one; sleep,
// in rounds short enough to notice an abort and to prove to the launcher that
// the waiter still looks.
const (
	spinPauses        = 100
	spinPausesCrowded = 8 // when ranks outnumber processors
	yieldNanos        = int64(150 * time.Microsecond)
	parkNanos         = int64(50 * time.Millisecond)
	never             = int64(math.MaxInt64)
)

// pace is how often a rank looks at what nobody has told it of. Whatever it
// waits for is told: looking is for aborts, deadlines and peers that were
// killed, and for a guest that computes. A device whose pace is slow does the
// same as any other.
type pace struct {
	yieldNanos       int64         // how long a waiter yields before it sleeps
	parkNanos        int64         // a sleep of a waiter
	lookMin, lookMax time.Duration // between looks of progress
}

func usualPace() pace {
	return pace{yieldNanos: yieldNanos, parkNanos: parkNanos, lookMin: lookMin, lookMax: lookMax}
}

// waiting is one wait of one thread. Its user looks at a condition, calls once
// if it does not hold, and looks again; and calls end in any case.
type waiting struct {
	device *Device
	bell   *counter // changes when the condition may have
	stream *stream  // whose operation waits, nil if none
	op     *op.Op   // that operation
	guest  guestWait

	shows *counter // whose value a reader of the guest's lane is told, nil for the bell's

	limit  int64 // when the operation fails with device.ErrTimeout
	rounds int
	since  int64 // when yields began
	parked bool
}

// guestWait is what the guest's own thread waits for; the zero value stands
// for a thread that is not the guest's.
type guestWait struct {
	kind     op.Kind // SyncStream, SyncEvent, SyncAny, Barrier
	peer     int
	slot     uint32
	value    uint64
	deadline int64
	limited  bool  // the deadline is the guest's own
	brief    bool  // a few pauses only: the guest has more to do
	others   bool  // than the peer may end it
	glance   bool  // no pause at all: the guest waits for other streams too
	now      int64 // of a glance, 0 if nobody has looked at the clock
}

// guestWaitFor begins a wait of the guest with a timeout.
func (d *Device) guestWaitFor(kind op.Kind, timeout time.Duration) guestWait {
	return guestWait{kind: kind, peer: -1, deadline: d.deadlineAfter(timeout), limited: timeout >= 0}
}

// deadlineAfter is when a timeout has passed; a negative one never does.
func (d *Device) deadlineAfter(timeout time.Duration) int64 {
	if timeout < 0 {
		return never
	}
	if now := d.Now(); int64(timeout) < never-now {
		return now + int64(timeout)
	}
	return never
}

// waitError is the type of errDeadline.
type waitError string

// errDeadline says that the guest's own deadline has passed, or that a worker
// gives its stream to the guest's thread: the wait is over, the operation that
// it waited for is not. It never leaves the package.
const errDeadline = waitError("deadline")

// Error is device.ErrTimeout's text.
func (e waitError) Error() string { return device.ErrTimeout.Error() }

// Unwrap makes it a device.ErrTimeout.
func (e waitError) Unwrap() error { return device.ErrTimeout }

// unwrapTimeout turns errDeadline into what the guest gets.
func unwrapTimeout(err error) error {
	if err == errDeadline {
		return device.ErrTimeout
	}
	return err
}

// once waits a little. seen is what the bell showed before the caller looked
// at its condition.
func (w *waiting) once(seen uint64) error {
	if w.guest.glance {
		return w.pass()
	}
	w.rounds++
	if w.rounds <= w.device.spins {
		if w.rounds == 1 && w.guest.limited && w.device.Now() >= w.guest.deadline {
			return errDeadline // the guest only wanted to look
		}
		pause()
		return nil
	}
	if err := w.device.abortError(); err != nil {
		return err
	}
	now := w.device.Now()
	switch {
	case w.guest.kind != op.None && now >= w.guest.deadline:
		return errDeadline
	case now >= w.limit:
		return device.ErrTimeout
	case w.guest.kind == op.None && w.stream != nil && !w.parked && w.stream.wanted.Load():
		return errDeadline // the guest's thread waits better than this one
	case w.since == 0:
		w.since = now
		if w.guest.kind != op.None {
			w.device.kick()
		}
	case now-w.since > w.device.pace.yieldNanos:
		w.park(seen, now)
		return nil
	}
	w.device.yield(w.rounds)
	return nil
}

// pass is once for a glance: it says why the operation has failed, or goes on to
// other streams.
func (w *waiting) pass() error {
	switch err := w.device.abortError(); {
	case err != nil:
		return err
	case w.guest.now >= w.limit:
		return device.ErrTimeout
	}
	return errDeadline
}

// goYieldRounds is how often a waiter lets other goroutines run. Yielding in
// Go wakes another thread of the process to look for work, which then competes
// for the processor: dear, and needless unless goroutines outnumber
// GOMAXPROCS, as ranks that share a process may.
const goYieldRounds = 32

func (d *Device) yield(round int) {
	if d.crowdedProcess.Load() || round%goYieldRounds == 0 {
		runtime.Gosched()
	}
	schedYield()
}

// park sleeps until the bell rings, for one round at most. The first call only
// announces the sleeper: who changes the condition without ringing has not
// seen it yet, so the caller must look once more.
func (w *waiting) park(seen uint64, now int64) {
	if !w.parked {
		w.parked = true
		w.bell.waiters.Add(1)
		w.publish(seen, now)
		return
	}
	nanos := min(w.device.pace.parkNanos, w.limit-now)
	if w.guest.kind != op.None {
		nanos = min(nanos, w.guest.deadline-now)
	}
	futexWait(&w.bell.value, seen, nanos)
	w.check()
}

// publish tells the flight recorder what the thread, the stream's and the
// guest's, waits for.
func (w *waiting) publish(seen uint64, now int64) {
	r := w.device.recorder
	if r == nil {
		return
	}
	if w.stream != nil {
		r.BeginWait(w.stream.number, flight.Wait{
			Kind: uint8(w.op.Kind), Peer: int(w.op.Peer), Slot: w.op.Slot, Value: w.op.Value, Seen: seen, Since: now,
			Name: algorithmOf(w.op),
		})
	}
	if g := &w.guest; g.kind != op.None {
		if w.shows != nil {
			seen = w.shows.value.Load()
		}
		name := ""
		if g.others {
			name = flight.OrOthers
		}
		r.BeginWait(0, flight.Wait{
			Kind: uint8(g.kind), Peer: g.peer, Slot: g.slot, Value: g.value, Seen: seen, Since: now, Name: name, Limited: g.limited,
		})
	}
}

func (w *waiting) check() {
	r := w.device.recorder
	if r == nil {
		return
	}
	seen := w.bell.value.Load()
	if w.stream != nil {
		r.CheckWait(w.stream.number, seen)
	}
	if w.guest.kind != op.None {
		if w.shows != nil {
			seen = w.shows.value.Load()
		}
		r.CheckWait(0, seen)
	}
}

// end takes back what once announced.
func (w *waiting) end() {
	if !w.parked {
		return
	}
	w.parked = false
	w.bell.waiters.Add(^uint32(0))
	if r := w.device.recorder; r != nil {
		if w.stream != nil {
			r.EndWait(w.stream.number)
		}
		if w.guest.kind != op.None {
			r.EndWait(0)
		}
	}
}

// atLeast waits until the bell itself shows the value.
func (w *waiting) atLeast(value uint64) error {
	defer w.end()
	for {
		seen := w.bell.value.Load()
		if seen >= value {
			return nil
		}
		if err := w.once(seen); err != nil {
			return err
		}
	}
}
