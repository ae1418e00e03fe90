package sim

import "slices"

// Whom a call waits for, if not for one rank.
const (
	nobody   = -1
	everyone = -2
)

// enter tells the others what this rank calls.
func (r *callRun) enter() {
	s, rank := r.state, r.comm.rank
	if s.in[rank] {
		return
	}
	s.in[rank] = true
	s.entered++
	if s.firstIn < 0 {
		s.firstIn, s.words = rank, r.words
	} else if r.words != s.words {
		s.different = append(s.different, disagreed{rank, r.words})
		s.wakeCrowd(rank)
	}
	if s.entered == len(s.in) {
		for _, w := range s.settlers {
			w.yourTurn()
		}
		s.settlers = nil
		s.wakeCrowd(rank)
	}
	s.changed(rank)
}

// leave tells the others that this rank needs their areas no more.
func (r *callRun) leave() {
	s, rank := r.state, r.comm.rank
	s.left[rank] = true
	if s.gone++; s.gone == len(s.in) {
		s.wakeCrowd(rank)
	}
	s.changed(rank)
}

// changed lets those look again who wait for a rank.
func (s *callState) changed(by int) {
	if s.waiting == nil {
		return
	}
	c, list := s.group.members[by].device.cluster, s.waiting[by]
	s.waiting[by] = nil
	for _, r := range list {
		c.goOn(r, by)
	}
}

// wakeCrowd lets those look again who wait for all ranks.
func (s *callState) wakeCrowd(by int) {
	c, crowd := s.group.members[by].device.cluster, s.crowd
	s.crowd = nil
	for _, r := range crowd {
		c.goOn(r, by)
	}
}

// goOn lets a call look again: at once, or when what the other rank has done
// can be seen here.
func (c *Cluster) goOn(r *callRun, by int) {
	if !r.timed {
		if !r.listed {
			r.listed = true
			c.readyRuns = append(c.readyRuns, r)
		}
		return
	}
	id := c.jobs.take()
	*c.jobs.at(id) = job{run: r, letter: -1}
	r.moving = false
	c.plan(c.now+c.machine.signalPicos(r.comm.group.ranks[by], r.comm.device.rank), evJob, uint32(id))
}

// waitFor puts a call on the list of those that wait for a rank.
func (r *callRun) waitFor(rank int) {
	s := r.state
	if s.waiting == nil {
		s.waiting = make([][]*callRun, len(s.in))
	}
	r.awaited = rank
	s.waiting[rank] = append(s.waiting[rank], r)
}

// waitForAll puts it on the list of those that wait for all ranks.
func (r *callRun) waitForAll() {
	r.awaited = everyone
	r.state.crowd = append(r.state.crowd, r)
}

// blocker is the rank that a call waits for, the first one if it waits for all,
// -1 if it waits for nobody.
func (r *callRun) blocker() int {
	if r.awaited != everyone {
		return r.awaited
	}
	s := r.state
	if s.entered < len(s.in) {
		return s.missing()
	}
	return slices.Index(s.left, false)
}

// missing is the first rank that has not entered, -1 if all have.
func (s *callState) missing() int {
	for ; s.absent < len(s.in); s.absent++ {
		if !s.in[s.absent] {
			return s.absent
		}
	}
	return -1
}
