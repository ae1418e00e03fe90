package pipeline

// admit launches what may be launched: tasks in place order as long as nothing
// holds them up, and behind the first that something does a few that leave room
// for it.
func (m *Machine) admit(to []Action) []Action {
	for m.first < len(m.tasks) {
		if m.phases[m.first] != waiting {
			m.first++
			continue
		}
		if m.stall = m.obstacle(m.first); m.stall != NoStall {
			return m.skipAhead(to)
		}
		to = m.launch(m.first, to)
	}
	m.stall = NoStall
	return to
}

// obstacle is why a task cannot be admitted, which is the first of its channel.
// What would go away if buckets that have arrived were written is their turn's
// doing.
func (m *Machine) obstacle(i int) Stall {
	switch why := m.lack(i, &m.held, m.channels[m.channel[i]].buckets, len(m.free)); {
	case why == NoStall:
		return m.absence(i)
	case m.idle.buckets == 0:
		return why
	default:
		left := usage{m.held.buckets - m.idle.buckets, m.held.bytes - m.idle.bytes}
		if m.lack(i, &left, m.channels[m.channel[i]].buckets-int(m.idling[m.channel[i]]), len(m.free)+m.idle.buckets) == NoStall {
			return StallOrder
		}
		return why
	}
}

// lack is which limit of this rank keeps a task from being admitted beside what
// is held in all, in its channel, and of streams.
func (m *Machine) lack(i int, held *usage, channel, free int) Stall {
	l := &m.limits
	switch {
	case !m.allowed(i) || l.Policy == Serialized && held.buckets > 0:
		return StallPolicy
	case l.MaxBytes > 0 && held.buckets > 0 && max(held.bytes, m.staging[i]) > l.MaxBytes: // either alone
		return StallOversize
	case channel >= l.MaxInFlight:
		return StallChannel
	case l.MaxBuckets > 0 && held.buckets >= l.MaxBuckets:
		return StallBuckets
	case l.MaxBytes > 0 && held.buckets > 0 && held.bytes > l.MaxBytes-m.staging[i]:
		return StallBytes
	case free == 0:
		return StallStreams
	}
	return NoStall
}

// allowed reports whether the window or the script lets a task be admitted.
func (m *Machine) allowed(i int) bool {
	switch m.limits.Policy {
	case Windowed:
		return i < m.window
	case Scripted:
		return int(m.tasks[i].Place) < m.limit
	}
	return true
}

// absence is what keeps a task from being admitted that others must see to: a
// wire that an earlier bucket is on, or a receiver that has not admitted it.
func (m *Machine) absence(i int) Stall {
	switch {
	case m.wires[i] > 0:
		return StallStreams
	case m.owed[i] > 0:
		return StallCredit
	}
	return NoStall
}

// skipAhead launches tasks behind the first one, which is held up. None passes
// another of its channel, and beside each there is room, at once, for the
// largest of those that it passes, in bytes, buckets and streams: whatever the
// later ones wait for, the earlier ones never wait for them.
func (m *Machine) skipAhead(to []Action) []Action {
	m.scan++
	if m.scan == 0 { // it has come round
		clear(m.passed)
		m.scan = 1
	}
	m.passed[m.channel[m.first]] = m.scan
	reserve := m.staging[m.first]
	for i := m.first + 1; i < min(len(m.tasks), m.first+ahead) && m.spare(reserve, 0); i++ {
		if m.phases[i] != waiting {
			continue
		}
		if c := m.channel[i]; m.passed[c] != m.scan {
			if m.mayPass(i, reserve) {
				to = m.launch(i, to)
				m.meter.skipped++
				continue
			}
			m.passed[c] = m.scan
		}
		reserve = max(reserve, m.staging[i])
	}
	return to
}

// mayPass reports whether a task, which is the first of its channel, may be
// admitted before others, the largest of which needs the reserve. What is most
// often the case is asked first.
func (m *Machine) mayPass(i int, reserve int64) bool {
	channel := m.channels[m.channel[i]].buckets
	return channel < m.limits.MaxInFlight && m.absence(i) == NoStall && m.spare(reserve, m.staging[i]) && m.lack(i, &m.held, channel, len(m.free)) == NoStall
}

// spare reports whether a bucket of so many bytes leaves room for one that needs
// the reserve.
func (m *Machine) spare(reserve, bytes int64) bool {
	l := &m.limits
	if len(m.free) < 2 || l.MaxBuckets > 0 && m.held.buckets+2 > l.MaxBuckets {
		return false
	}
	return l.MaxBytes == 0 || bytes <= l.MaxBytes-reserve && m.held.bytes <= l.MaxBytes-reserve-bytes
}

// launch admits a task and tells those who send to it.
func (m *Machine) launch(i int, to []Action) []Action {
	m.phases[i] = flying
	m.admitted++
	m.stream[i] = m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	m.held.add(m.staging[i])
	m.channels[m.channel[i]].add(m.staging[i])
	m.meter.descriptors += len(m.plan.Buckets[m.tasks[i].Bucket].Entries)
	to = append(to, m.action(Launch, i))
	return m.ways.grant(i, m.phases, m.limits.Policy, to)
}
