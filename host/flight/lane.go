package flight

// LaneState says what a thread of control of a rank does at this moment.
type LaneState uint32

// Lane states. A busy lane makes progress by itself; an idle one has nothing
// to do; a waiting one needs another rank, a stream or an event.
const (
	LaneIdle LaneState = iota
	LaneBusy
	LaneWaiting
)

// Wait is what a lane waits for.
type Wait struct {
	Kind    uint8  // op.Kind
	Peer    int    // rank that must act, -1 if not one
	Slot    uint32 // signal slot, channel, stream number for a wait for a stream, or sequence number of a call
	Value   uint64 // the value waited for; of a call its op.CollectiveOp
	Seen    uint64 // the value when the waiter last looked
	Since   int64  // when the wait began
	Name    string // share name or a call's algorithm, at most 63 bytes kept; OrOthers
	Limited bool   // the wait has a deadline of the guest's own and ends by itself
}

// OrOthers is the name of a wait that other things may end than Peer, which then
// need not act.
const OrOthers = "or others"

// State is the phase of a rank's life.
type State uint32

// States of a rank, in order.
const (
	StateStarting State = iota
	StateRunning
	StateDone    // the guest returned or exited
	StateAborted // unwound because the run was given up
)

var states = [...]string{"starting", "running", "done", "aborted"}

// String is the state in one word.
func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return "unknown"
}

// SetLane says that lane i is idle or busy.
func (w *Writer) SetLane(i int, s LaneState) { w.lane(i).state.Store(uint32(s)) }

// Submitted says that n operations in all have been handed to lane i. Until
// [Writer.Finished] says that as many are done, the lane counts as busy even
// if nobody has taken them up: so whoever executes them need not know of those
// that are being added, nor who adds them when the others are done.
func (w *Writer) Submitted(i int, n uint64) { w.lane(i).submitted.Store(uint32(n)) }

// Finished says that n operations of lane i are done, and that nobody executes
// any at this moment.
func (w *Writer) Finished(i int, n uint64) {
	l := w.lane(i)
	l.finished.Store(uint32(n))
	if l.state.Load() != uint32(LaneIdle) {
		l.state.Store(uint32(LaneIdle))
	}
}

// BeginWait publishes what lane i waits for. The caller looks again from time
// to time, calling [Writer.CheckWait] each time, and then calls
// [Writer.EndWait]: so a reader can tell a wait that cannot end from a waiter
// that has not been scheduled.
func (w *Writer) BeginWait(i int, wait Wait) {
	l := w.lane(i)
	l.seq.Add(1)
	l.kind.Store(uint32(wait.Kind))
	l.peer.Store(int32(wait.Peer))
	l.slot.Store(wait.Slot)
	l.value.Store(wait.Value)
	l.seen.Store(wait.Seen)
	l.since.Store(wait.Since)
	l.limited.Store(boolWord(wait.Limited))
	l.setName(wait.Name)
	l.seq.Add(1)
	l.state.Store(uint32(LaneWaiting))
}

// CheckWait says that lane i looked and saw the given value.
func (w *Writer) CheckWait(i int, seen uint64) {
	l := w.lane(i)
	l.seen.Store(seen)
	l.checks.Add(1)
}

// EndWait says that lane i is busy again.
func (w *Writer) EndWait(i int) {
	l := w.lane(i)
	l.seq.Add(2)
	l.state.Store(uint32(LaneBusy))
}

func (w *Writer) lane(i int) *lane { return &w.header.lanes[min(max(i, 0), MaxLanes-1)] }

// Lane is a snapshot of one lane. Two snapshots with the same Epoch are of
// the same wait; Checks says how often its waiter has looked.
type Lane struct {
	State  LaneState
	Epoch  uint32
	Checks uint64
	Wait   Wait // if State is LaneWaiting
}

// Lanes is the state of every lane that is not idle, by lane number, and of
// lane 0 in any case.
func (l *Log) Lanes() map[int]Lane {
	out := make(map[int]Lane)
	for i := range l.header.lanes {
		s := l.header.lanes[i].snapshot()
		if i == 0 || s.State != LaneIdle {
			out[i] = s
		}
	}
	return out
}

// Pending is how many operations have been handed to lanes and are not known
// to be done: what is done of a lane is told whenever nobody executes any.
func (l *Log) Pending() int64 {
	pending := int64(0)
	for i := range l.header.lanes {
		lane := &l.header.lanes[i]
		finished := lane.finished.Load()
		pending += max(0, int64(int32(lane.submitted.Load()-finished)))
	}
	return pending
}

// snapshot reads a lane while its owner may write: a torn reading is told by
// seq and shown as busy, which is what a lane that changes is.
func (l *lane) snapshot() Lane {
	before := l.seq.Load()
	s := Lane{State: LaneState(l.state.Load()), Epoch: before, Checks: l.checks.Load()}
	if s.State == LaneIdle && l.submitted.Load() != l.finished.Load() {
		s.State = LaneBusy
	}
	if s.State != LaneWaiting {
		return s
	}
	s.Wait = Wait{
		Kind: uint8(l.kind.Load()), Peer: int(l.peer.Load()), Slot: l.slot.Load(), Value: l.value.Load(),
		Seen: l.seen.Load(), Since: l.since.Load(), Limited: l.limited.Load() != 0, Name: l.getName(),
	}
	if before%2 == 1 || l.seq.Load() != before {
		return Lane{State: LaneBusy, Epoch: before, Checks: s.Checks}
	}
	return s
}

func (l *lane) setName(name string) {
	var b [nameBytes]byte
	copy(b[:nameBytes-1], name)
	for i := range l.name {
		l.name[i].Store(wordAt(b[:], i))
	}
}

func (l *lane) getName() string {
	var b [nameBytes]byte
	for i := range l.name {
		putWordAt(b[:], i, l.name[i].Load())
	}
	return cString(b[:])
}
