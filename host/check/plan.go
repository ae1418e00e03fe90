package check

import (
	"cmp"
	"slices"
)

// step is an action with what it refers to looked up.
type step struct {
	*Action
	rank  int
	index int // in the record of its rank

	stream int      // index of the stream that it is submitted to, or that it waits for; -1 if none
	at     int      // its place in that stream; of SyncStream how many operations it waits for
	object int      // index of the slot, channel, communicator, key or barrier; of waits for events the stream of the record
	after  progress // of operations that may compete: what is done before it, see [plan.orderRank]
	number int      // of a barrier, or of the first call; of waits for events the place of the record, -1 if there is none
}

// slotKey is a slot that one rank raises at another, or a channel.
type slotKey struct {
	from, to int
	slot     uint32
}

// streamKey is a stream, or an event, of a rank.
type streamKey struct{ rank, number int }

// shareKey is a key that a rank publishes.
type shareKey struct {
	rank int
	key  string
}

// plan is a schedule made ready to be run many times.
type plan struct {
	*Schedule
	guests   [][]*step // by rank: all that it did
	streams  []streamPlan
	slots    []slotPlan
	channels []channelPlan
	comms    []commPlan
	keys     int
}

type streamPlan struct {
	rank, number int
	local        int // counts the streams of the rank
	steps        []*step
}

// slotPlan is a slot with all that anybody does to it.
type slotPlan struct {
	slotKey
	signals    []*step
	waits      []*step
	thresholds []uint64 // that are waited for, in order
}

// channelPlan is a channel with its messages, stream by stream.
type channelPlan struct {
	slotKey
	sends, recvs []*step
}

type commPlan struct {
	name     string
	members  []int
	memberOf map[int]int // by rank
	calls    [][]*step   // by member, by number of the call
}

// member is a rank's number in the communicator.
func (c *commPlan) member(rank int) int { return c.memberOf[rank] }

// planner looks things up while the plan is made.
type planner struct {
	plan
	streamOf  map[streamKey]int
	slotOf    map[slotKey]int
	channelOf map[slotKey]int
	commOf    map[string]int
	keyOf     map[shareKey]int
	barriers  []int // by rank
	// streamCount is how many streams a rank has so far.
	streamCount []int
	recorded    map[streamKey]*step
}

func newPlan(s *Schedule) *plan {
	p := &planner{
		plan: plan{Schedule: s}, streamOf: map[streamKey]int{}, slotOf: map[slotKey]int{}, channelOf: map[slotKey]int{},
		commOf: map[string]int{}, keyOf: map[shareKey]int{}, barriers: make([]int, len(s.Ranks)), streamCount: make([]int, len(s.Ranks)), recorded: map[streamKey]*step{},
	}
	for rank := range s.Ranks {
		actions := s.Ranks[rank].Actions
		steps := make([]*step, len(actions))
		for i := range actions {
			steps[i] = &step{Action: &actions[i], rank: rank, index: i, stream: -1}
			p.add(steps[i])
		}
		p.guests = append(p.guests, steps)
		p.orderRank(steps)
	}
	for i := range p.slots {
		slot := &p.slots[i]
		for _, wait := range slot.waits {
			slot.thresholds = append(slot.thresholds, wait.Value)
		}
		slices.Sort(slot.thresholds)
		slot.thresholds = slices.Compact(slot.thresholds)
	}
	return &p.plan
}

func (p *planner) add(s *step) {
	if s.onStream() {
		s.stream = p.stream(s.rank, s.Stream)
		stream := &p.streams[s.stream]
		s.at = len(stream.steps)
		stream.steps = append(stream.steps, s)
	}
	switch s.Kind {
	case Signal:
		s.object = p.slot(slotKey{s.rank, s.Peer, s.Slot})
		p.slots[s.object].signals = append(p.slots[s.object].signals, s)
	case Wait, Seen:
		s.object = p.slot(slotKey{s.Peer, s.rank, s.Slot})
		p.slots[s.object].waits = append(p.slots[s.object].waits, s)
	case Send:
		s.object = p.channel(slotKey{s.rank, s.Peer, s.Slot})
		p.channels[s.object].sends = append(p.channels[s.object].sends, s)
	case Recv:
		s.object = p.channel(slotKey{s.Peer, s.rank, s.Slot})
		p.channels[s.object].recvs = append(p.channels[s.object].recvs, s)
	case Record:
		p.recorded[streamKey{s.rank, s.Event}] = s
	case WaitEvent, SyncEvent:
		s.number = -1
		if record := p.recorded[streamKey{s.rank, s.Event}]; record != nil {
			s.object, s.number = record.stream, record.at
		}
	case SyncStream:
		s.stream = p.stream(s.rank, s.Stream)
		s.at = len(p.streams[s.stream].steps)
	case Barrier, LateBarrier:
		s.number = p.barriers[s.rank]
		p.barriers[s.rank]++
	case Collective, Join:
		p.addCalls(s)
	case Publish:
		s.object = p.key(s.rank, s.Key)
	case Lookup:
		s.object = p.key(s.Peer, s.Key)
	}
}

func (p *planner) addCalls(s *step) {
	s.object = p.comm(s.Comm)
	comm := &p.comms[s.object]
	member := comm.member(s.rank)
	calls := len(s.Calls)
	if s.Kind == Join { // as good as a call that all must have entered
		calls = 1
	}
	s.number = len(comm.calls[member])
	for range calls {
		comm.calls[member] = append(comm.calls[member], s)
	}
}

func (p *planner) stream(rank, number int) int {
	key := streamKey{rank, number}
	if _, ok := p.streamOf[key]; !ok {
		p.streamOf[key] = len(p.streams)
		p.streams = append(p.streams, streamPlan{rank: rank, number: number, local: p.streamCount[rank]})
		p.streamCount[rank]++
	}
	return p.streamOf[key]
}

func (p *planner) slot(key slotKey) int {
	if _, ok := p.slotOf[key]; !ok {
		p.slotOf[key] = len(p.slots)
		p.slots = append(p.slots, slotPlan{slotKey: key})
	}
	return p.slotOf[key]
}

func (p *planner) channel(key slotKey) int {
	if _, ok := p.channelOf[key]; !ok {
		p.channelOf[key] = len(p.channels)
		p.channels = append(p.channels, channelPlan{slotKey: key})
	}
	return p.channelOf[key]
}

func (p *planner) comm(name string) int {
	if _, ok := p.commOf[name]; !ok {
		members, ok := p.Comms[name]
		if !ok {
			for rank := range p.Ranks {
				members = append(members, rank)
			}
		}
		memberOf := make(map[int]int, len(members))
		for member, rank := range members {
			memberOf[rank] = member
		}
		p.commOf[name] = len(p.comms)
		p.comms = append(p.comms, commPlan{name: name, members: members, memberOf: memberOf, calls: make([][]*step, len(members))})
	}
	return p.commOf[name]
}

func (p *planner) key(rank int, key string) int {
	owned := shareKey{rank, key}
	if _, ok := p.keyOf[owned]; !ok {
		p.keyOf[owned] = p.keys
		p.keys++
	}
	return p.keyOf[owned]
}

// firstAbove is the first of sorted values that is more than low.
func firstAbove(sorted []uint64, low uint64) (uint64, bool) {
	i, exact := slices.BinarySearchFunc(sorted, low, cmp.Compare)
	if exact {
		i++
	}
	if i == len(sorted) {
		return 0, false
	}
	return sorted[i], true
}
