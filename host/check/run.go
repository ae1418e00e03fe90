package check

// run is one order in which a plan is carried out: whatever can be done is
// done, up to where the order matters (see [run.rivals]); there somebody else
// picks.
type run struct {
	*plan
	guests   []guestState
	streams  []streamState
	slots    []slotState
	channels []channelState
	comms    []commState
	keys     []moment
	barriers []meeting
	chains   int
	memory   memory
	held     int // the stream that does nothing, -1 for none

	steps      int // that were carried out
	stepsMax   int
	clockBytes int64         // what clocks take
	bytesMax   int64         // of that
	differ     *disagreement // the first one
}

// guestState is how far a guest has come.
type guestState struct {
	moment
	next    int
	entered bool // the meeting that its next action is
}

// streamState is how far a stream has come. Operations before head are
// complete; those from head to next are messages that are open.
type streamState struct {
	moment
	head, next int
	entered    bool     // the collective at its head
	submitted  []moment // of the guest, by operation
	done       []moment // of records and messages, by operation
	arrived    []moment // messages that are complete, and not yet waited for
	lanes      []moment // of messages that were open at the same time
}

// slotState is how a slot has grown.
type slotState struct{ raises []raise }

type raise struct {
	value uint64
	by    *step
	when  moment
}

func (s *slotState) value() uint64 {
	if len(s.raises) == 0 {
		return 0
	}
	return s.raises[len(s.raises)-1].value
}

// channelState is the messages of a channel that both sides have come to, in
// the order in which they did.
type channelState struct{ sends, recvs []message }

type message struct {
	*step
	when moment
}

// commState is who has entered the calls of a communicator.
type commState struct {
	calls []meeting
	last  []moment // by member: the end of its last call that is complete
}

// meeting is something that several must enter.
type meeting struct {
	entered []moment // by member
	count   int
	first   *step    // that has entered a call
	differ  bool     // they cannot end
	known   []uint32 // to all of them together, once all have entered
}

// together is what is known to all members.
func (m *meeting) together() []uint32 {
	if m.known == nil {
		var known []uint32
		for i := range m.entered {
			known = absorb(known, &m.entered[i])
		}
		m.known = known
	}
	return m.known
}

// disagreement is two sides of what should be one thing.
type disagreement struct {
	one, other *step
	oneCall    string // of collectives
	otherCall  string
	parts      bool // of an exchange: one sends to other what follows, in elements
	sent       int64
	received   int64
}

func newRun(p *plan, stepsMax int) *run {
	r := &run{
		plan: p, guests: make([]guestState, len(p.guests)), streams: make([]streamState, len(p.streams)),
		slots: make([]slotState, len(p.slots)), channels: make([]channelState, len(p.channels)),
		comms: make([]commState, len(p.comms)), keys: make([]moment, p.keys), stepsMax: stepsMax, bytesMax: clockBytesMax, held: -1,
	}
	for i := range r.guests {
		r.guests[i].moment = r.newChain()
	}
	for i := range r.streams {
		r.streams[i].moment = r.newChain()
		r.streams[i].done = make([]moment, len(p.streams[i].steps))
	}
	return r
}

func (r *run) newChain() moment {
	r.chains++
	return moment{chain: r.chains - 1, count: 1}
}

// clockBytesMax bounds the memory of a run.
const clockBytesMax = 2 << 30

// exhausted reports whether the run has come to its bound.
func (r *run) exhausted() bool { return r.steps >= r.stepsMax || r.full() }

// full reports whether the bound is that of memory.
func (r *run) full() bool { return r.clockBytes >= r.bytesMax }

// weigh counts what a clock takes, if it is not the one from before.
func (r *run) weigh(before, after []uint32) {
	if len(after) > 0 && (len(before) == 0 || &before[0] != &after[0]) {
		r.clockBytes += int64(len(after)) * countBytes
	}
}

// settle does whatever can be done in any order.
func (r *run) settle() {
	for moved := true; moved; {
		moved = false
		for rank := range r.guests {
			for !r.exhausted() && r.stepGuest(rank) {
				moved = true
			}
		}
		for i := range r.streams {
			for !r.exhausted() && r.stepStream(i, false) {
				moved = true
			}
		}
	}
}

// stepGuest does a guest's next action, if it can be done.
func (r *run) stepGuest(rank int) bool {
	g := &r.guests[rank]
	if g.next == len(r.plan.guests[rank]) {
		return false
	}
	s, known := r.plan.guests[rank][g.next], g.known
	if s.onStream() {
		stream := &r.streams[s.stream]
		stream.submitted = append(stream.submitted, g.moment)
	} else if !r.act(g, s) {
		return false
	}
	r.weigh(known, g.known)
	g.next++
	r.steps++
	return true
}

// act does what a guest does by itself, if it can be done.
func (r *run) act(g *guestState, s *step) bool {
	switch s.Kind {
	case Work:
		r.touch(&g.moment, s, s.Reads, s.Writes)
	case SyncStream:
		return r.syncStream(g, s)
	case SyncEvent:
		return r.afterRecord(&g.moment, s)
	case Barrier, LateBarrier:
		return r.barrier(g, s)
	case Join:
		return r.meet(&g.moment, &g.entered, s)
	case Seen:
		return r.afterRaise(&g.moment, s)
	case Publish:
		if !r.keys[s.object].exists() { // who looks it up need not wait for a second time
			r.keys[s.object] = g.moment
		}
	case Lookup:
		if !r.keys[s.object].exists() {
			return false
		}
		g.learn(&r.keys[s.object])
	}
	return true
}

// barrier enters a barrier, and waits for the others.
func (r *run) barrier(g *guestState, s *step) bool {
	for s.number >= len(r.barriers) {
		r.barriers = append(r.barriers, meeting{entered: make([]moment, len(r.guests))})
	}
	m := &r.barriers[s.number]
	r.enter(m, &g.entered, s.rank, &g.moment)
	if s.Kind == Barrier {
		if m.count < len(m.entered) {
			return false
		}
		g.adopt(m.together())
	}
	g.entered = false
	return true
}

// syncStream waits for the first operations of a stream.
func (r *run) syncStream(g *guestState, s *step) bool {
	stream := &r.streams[s.stream]
	r.advance(s.stream)
	if stream.head < s.at {
		return false
	}
	g.learn(&stream.moment)
	for i := range stream.arrived {
		g.learn(&stream.arrived[i])
	}
	return true
}

func (r *run) afterRecord(m *moment, s *step) bool {
	if s.number < 0 {
		return true
	}
	done := &r.streams[s.object].done[s.number]
	m.learn(done)
	return done.exists()
}

// afterRaise waits for the first raise of a slot to at least the value.
func (r *run) afterRaise(m *moment, s *step) bool {
	slot := &r.slots[s.object]
	if s.Value == 0 {
		return true
	}
	if slot.value() < s.Value {
		return false
	}
	low, high := 0, len(slot.raises)-1
	for low < high { // values only grow
		if middle := (low + high) / 2; slot.raises[middle].value < s.Value {
			low = middle + 1
		} else {
			high = middle
		}
	}
	m.learn(&slot.raises[low].when)
	return true
}

func (r *run) enter(m *meeting, entered *bool, member int, when *moment) {
	if *entered {
		return
	}
	*entered = true
	m.entered[member] = *when
	m.count++
}

// touch does work, at a time of its own on its chain.
func (r *run) touch(m *moment, s *step, reads, writes []Range) {
	if len(reads)+len(writes) == 0 {
		return
	}
	m.count++
	r.memory.access(access{step: s, when: *m}, reads, writes)
}
