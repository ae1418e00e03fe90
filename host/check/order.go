package check

// What a rank orders by itself, whatever the others do, is known beforehand: its
// guest waits for streams before it submits more, and streams wait for each
// other's events. Operations that are so ordered do not compete, which spares
// the search most of its branches.

// progress is how far each of a rank's streams has come, at least.
type progress []int

func (p progress) learn(other progress) progress {
	for len(p) < len(other) {
		p = append(p, 0)
	}
	for i, n := range other {
		p[i] = max(p[i], n)
	}
	return p
}

// orderer goes through what a rank did.
type orderer struct {
	streams []progress // by number within the rank: known to the stream
	records map[*step]progress
}

// orderRank finds how far the streams of a rank have come, at least, when each
// operation that may compete begins.
func (p *plan) orderRank(steps []*step) {
	o := &orderer{records: map[*step]progress{}}
	var guest progress
	for _, s := range steps {
		switch {
		case s.onStream():
			o.submit(p, guest, s)
		case s.Kind == SyncStream:
			guest = guest.learn(o.at(p.streams[s.stream].local))
			guest = guest.learn(o.upTo(p.streams[s.stream].local, s.at))
		case s.Kind == SyncEvent && s.number >= 0:
			guest = guest.learn(o.records[p.streams[s.object].steps[s.number]])
		}
	}
}

// at is what a stream knows.
func (o *orderer) at(local int) progress {
	for len(o.streams) <= local {
		o.streams = append(o.streams, nil)
	}
	return o.streams[local]
}

// upTo says that a stream has done its first operations.
func (o *orderer) upTo(local, done int) progress {
	p := make(progress, local+1)
	p[local] = done
	return p
}

func (o *orderer) submit(p *plan, guest progress, s *step) {
	local := p.streams[s.stream].local
	known := o.at(local).learn(guest)
	if s.Kind == WaitEvent && s.number >= 0 {
		known = known.learn(o.records[p.streams[s.object].steps[s.number]])
	}
	o.streams[local] = known
	switch s.Kind {
	case Record:
		o.records[s] = progress(nil).learn(known).learn(o.upTo(local, s.at+1))
	case Signal, Send, Recv:
		s.after = progress(nil).learn(known)
	}
}

// precedes reports whether an operation is certainly done before another of
// the same rank begins.
func (p *plan) precedes(s, other *step) bool {
	local := p.streams[s.stream].local
	return local < len(other.after) && other.after[local] > s.at
}
