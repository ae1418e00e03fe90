package check

// advance passes messages at the head of a stream that are complete.
func (r *run) advance(i int) {
	stream := &r.streams[i]
	for stream.head < stream.next && stream.done[stream.head].exists() {
		stream.arrived = append(stream.arrived, stream.done[stream.head])
		stream.head++
	}
}

// stepStream does the next operation of a stream, if it can be done: one whose
// order matters only if it was picked.
func (r *run) stepStream(i int, picked bool) bool {
	s := r.nextOf(i)
	if s == nil || !picked && r.rivals(i, s) {
		return false
	}
	stream := &r.streams[i]
	known := stream.known
	if s.isMessage() {
		r.number(stream, s)
	} else {
		for k := range stream.arrived {
			stream.learn(&stream.arrived[k])
		}
		stream.arrived = stream.arrived[:0]
		stream.learn(&stream.submitted[s.at])
		if !r.carryOut(stream, s) {
			return false
		}
		stream.head++
	}
	r.weigh(known, stream.known)
	stream.next++
	r.steps++
	return true
}

// nextOf is the operation that a stream has come to, nil if there is none or
// messages before it are not complete.
func (r *run) nextOf(i int) *step {
	r.advance(i)
	stream := &r.streams[i]
	if stream.next == len(stream.submitted) || i == r.held {
		return nil
	}
	s := r.plan.streams[i].steps[stream.next]
	if !s.isMessage() && stream.head < stream.next {
		return nil
	}
	return s
}

// carryOut does an operation that is no message.
func (r *run) carryOut(stream *streamState, s *step) bool {
	switch s.Kind {
	case Work:
		r.touch(&stream.moment, s, s.Reads, s.Writes)
	case Signal:
		if slot := &r.slots[s.object]; s.Value > slot.value() {
			slot.raises = append(slot.raises, raise{s.Value, s, stream.moment})
		}
	case Wait:
		return r.afterRaise(&stream.moment, s)
	case Record:
		stream.done[s.at] = stream.moment
	case WaitEvent:
		return r.afterRecord(&stream.moment, s)
	case Collective:
		return r.meet(&stream.moment, &stream.entered, s)
	}
	return true
}

// meet enters the calls of a collective once the communicator's earlier calls
// are complete on this rank, and ends them when all members have entered them.
func (r *run) meet(m *moment, entered *bool, s *step) bool {
	comm, state := &r.plan.comms[s.object], &r.comms[s.object]
	member := comm.member(s.rank)
	calls := max(1, len(s.Calls))
	if s.Kind == Collective {
		calls = len(s.Calls)
	}
	if state.last == nil {
		state.last = make([]moment, len(comm.members))
	}
	for len(state.calls) < s.number+calls {
		state.calls = append(state.calls, meeting{entered: make([]moment, len(comm.members))})
	}
	if !*entered {
		if !r.previousDone(s, member) {
			return false
		}
		m.learn(&state.last[member])
		for i := range calls {
			first := false
			r.enter(&state.calls[s.number+i], &first, member, m)
			r.compare(comm, &state.calls[s.number+i], s, i)
		}
		*entered = true
		r.touch(m, s, s.Reads, s.Writes)
	}
	for i := range calls {
		if c := &state.calls[s.number+i]; c.differ || c.count < len(comm.members) {
			return false
		}
	}
	for i := range calls {
		r.learnCall(m, &state.calls[s.number+i], s, i, member)
	}
	state.last[member] = *m
	*entered = false
	return true
}

// learnCall adds what a member gets to know by one of its calls.
func (r *run) learnCall(m *moment, c *meeting, s *step, call, member int) {
	if s.Kind == Join || !s.Calls[call].rooted() {
		m.adopt(c.together())
		return
	}
	for other := range c.entered {
		if other != member && s.Calls[call].waitsFor(member, other) {
			m.learn(&c.entered[other])
		}
	}
}

// previousDone reports whether the call before is complete on this rank.
func (r *run) previousDone(s *step, member int) bool {
	before := r.callBefore(s, member)
	if before == nil {
		return true
	}
	if before.Kind == Join {
		return r.guests[before.rank].next > before.index
	}
	return r.streams[before.stream].head > before.at
}

func (r *run) callBefore(s *step, member int) *step {
	if s.number == 0 {
		return nil
	}
	return r.plan.comms[s.object].calls[member][s.number-1]
}

// compare looks whether a member calls what the others have called. Those all
// called the same, or it is known already that they did not.
func (r *run) compare(comm *commPlan, c *meeting, s *step, call int) {
	if c.first == nil {
		c.first = s
	}
	number := s.number + call
	mine, theirs := callWords(s, number), callWords(c.first, number)
	if mine != theirs {
		c.differ = true
		r.disagree(disagreement{one: c.first, other: s, oneCall: theirs, otherCall: mine})
		return
	}
	counts := countsOf(s, number)
	if counts == nil {
		return
	}
	me := comm.member(s.rank)
	for member := range comm.members {
		if !c.entered[member].exists() {
			continue
		}
		other := comm.calls[member][number]
		if theirs := countsOf(other, number); theirs != nil {
			r.compareParts(c, s, other, counts.Sends[member], theirs.Recvs[me])
			r.compareParts(c, other, s, theirs.Sends[me], counts.Recvs[member])
		}
	}
}

// compareParts looks at what one member of an exchange sends to another.
func (r *run) compareParts(c *meeting, from, to *step, sent, received int64) {
	if sent == received {
		return
	}
	c.differ = true
	r.disagree(disagreement{one: from, other: to, parts: true, sent: sent, received: received})
}

// countsOf is the counts of what a step calls under a number, nil if it has none.
func countsOf(s *step, number int) *Counts {
	if s.Kind == Join {
		return nil
	}
	return s.Calls[number-s.number].Counts
}

// callWords is what a step calls under a number.
func callWords(s *step, number int) string {
	if s.Kind == Join {
		return "nothing, and joins"
	}
	return s.Calls[number-s.number].String()
}

func (r *run) disagree(d disagreement) {
	if r.differ == nil {
		r.differ = &d
	}
}

// number gives a message its place on the channel, and carries it out if the
// other side is there.
func (r *run) number(stream *streamState, s *step) {
	when := stream.moment
	when.learn(&stream.submitted[s.at])
	channel := &r.channels[s.object]
	end := &channel.sends
	if s.Kind == Recv {
		end = &channel.recvs
	}
	place := len(*end)
	if place > 0 { // it has this place because that one came first
		when.learn(&(*end)[place-1].when)
	}
	stream.moment = when
	*end = append(*end, message{s, when})
	if place < len(channel.sends) && place < len(channel.recvs) {
		r.deliver(channel.sends[place], channel.recvs[place])
	}
}

// deliver completes a message. It waits for what both sides have waited for,
// and not for the messages that are open beside it.
func (r *run) deliver(send, recv message) {
	if send.Bytes != recv.Bytes {
		r.disagree(disagreement{one: send.step, other: recv.step})
		return
	}
	known := merge(merge(recv.when.known, &recv.when), &send.when)
	lane := r.lane(&r.streams[recv.stream], known)
	r.weigh(lane.known, known)
	lane.known = known
	lane.count++
	r.memory.access(access{step: send.step, when: *lane, with: recv.step}, send.Reads, nil)
	r.memory.access(access{step: recv.step, when: *lane, with: send.step}, nil, recv.Writes)
	r.streams[send.stream].done[send.at] = *lane
	r.streams[recv.stream].done[recv.at] = *lane
}

// lane is a chain of messages of which each begins after the one before is
// known to be complete.
func (r *run) lane(stream *streamState, known []uint32) *moment {
	for i := range stream.lanes {
		if lane := &stream.lanes[i]; lane.chain < len(known) && known[lane.chain] >= lane.count {
			return lane
		}
	}
	stream.lanes = append(stream.lanes, r.newChain())
	return &stream.lanes[len(stream.lanes)-1]
}
