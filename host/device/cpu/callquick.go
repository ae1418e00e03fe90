package cpu

import (
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// A quick program is what a small collective mostly is: post, enter, meet
// everyone, combine what they have posted. A single call of one on an idle
// stream is carried out by Submit itself, which waits a moment for peers that
// are about to come: queueing a call and taking it up again would cost more
// than all of it. Where a peer is later than that, or calls something else,
// the call goes on as any other, from its meeting on.

// submitPauses is how long Submit waits for a peer that runs on a processor of
// its own, submitYields how often it lets others run where ranks outnumber
// processors.
const (
	submitPauses = 20
	submitYields = 2
)

// pauseBriefly is the i-th pause of a brief wait; false says that it is over.
func (d *Device) pauseBriefly(i int) bool {
	switch {
	case d.spins == spinPausesCrowded:
		if i >= submitYields {
			return false
		}
		schedYield()
	case i >= submitPauses:
		return false
	default:
		pause()
	}
	return true
}

// awaitBriefly reports whether a bell shows a value within a moment.
func (d *Device) awaitBriefly(bell *counter, value uint64) bool {
	for i := 0; d.pauseBriefly(i); i++ {
		if bell.value.Load() >= value {
			return true
		}
	}
	return false
}

// quickMeeting is the step at which a quick program meets everyone, 0 if it is
// not quick. Before it, nothing but own areas and the own slot is touched, after
// it nothing but slots is read of others and nothing but own areas written.
func quickMeeting(p *op.Program, rank, size int) (meeting int) {
	if p.Back != nil {
		return 0
	}
	entered := false
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.Kind == op.StepEnter && !entered:
			entered = true
		case s.Kind == op.StepMeet && s.Peer < 0 && entered && meeting == 0:
			meeting = i
		case s.Kind != op.StepMove || !quickMove(s, rank, size, entered, meeting != 0):
			return 0
		}
	}
	return meeting
}

func quickMove(s *op.Step, rank, size int, entered, met bool) bool {
	if len(s.Dests) != 1 || len(s.Sources) < 1 || len(s.Sources) > op.MaxSources {
		return false
	}
	for _, p := range s.Sources {
		if !quickPlace(p, s.Bytes, rank, size) || !met && int(p.Rank) != rank {
			return false
		}
	}
	to := s.Dests[0]
	return quickPlace(to, s.Bytes, rank, size) && int(to.Rank) == rank && (to.Area != op.AreaSlot || !entered)
}

func quickPlace(p op.Place, bytes int64, rank, size int) bool {
	if p.Area == op.AreaSlot {
		return p.Rank >= 0 && int(p.Rank) < size && p.Off >= 0 && bytes >= 0 && p.Off <= op.SlotBytesMax-bytes
	}
	return int(p.Rank) == rank && p.Off >= 0 && bytes >= 0
}

// quick carries out the call of o, number last+1 of its communicator, which
// acceptCalls has just accepted. It reports whether the call has begun, and
// whether it is complete.
func (c *comm) quick(o *op.Op, last uint64, s *stream) (begun, complete bool) {
	meeting, number, g := c.extent.meeting, last+1, &c.run
	if meeting == 0 || o.Call.Next != nil || c.device.ending != nil || g.settled+callsAtOnce < number {
		return false, false
	}
	by := caller{stream: s}
	g.begin(o, last)
	r, steps := &g.calls[0], o.Call.Program.Steps
	c.start(r, o.Call, number, &by)
	g.rest, g.index, g.live, g.turn, g.parting = nil, 1, 1, 0, false
	for i := range steps[:meeting] {
		if steps[i].Kind == op.StepEnter {
			c.enter(r)
			continue
		}
		c.moveNear(r, &steps[i])
	}
	r.pc, r.mark = meeting, 0
	for i := range len(c.peers) - 1 {
		if !c.meetSoon(r, c.other(i)) {
			return true, false
		}
	}
	for i := meeting + 1; i < len(steps); i++ {
		c.moveNear(r, &steps[i])
	}
	c.finishChunk(&by)
	c.done.set(number)
	return true, true
}

// meetSoon reports whether a peer has entered the same call, or does so within
// a moment.
func (c *comm) meetSoon(r *callRun, peer int) bool {
	h := c.peers[peer].block.places[r.place].header
	for i := 0; h.entered.value.Load() < r.number; i++ {
		if !c.device.pauseBriefly(i) {
			return false
		}
	}
	return h.read() == r.words && r.call.Collective != op.AllToAllV
}

// moveNear is move for a step of a quick program.
func (c *comm) moveNear(r *callRun, s *op.Step) {
	to := c.near(r, s.Dests[0], s.Bytes)
	if len(s.Sources) == 1 && !(s.Last && r.call.Red == op.Avg) {
		copy(to, c.near(r, s.Sources[0], s.Bytes))
		return
	}
	for i, p := range s.Sources {
		c.sources[i] = c.near(r, p, s.Bytes)
	}
	c.dests[0] = to
	t := kernels.Task{Type: r.call.Type, Red: r.call.Red, TrafficBytes: r.traffic}
	if s.Last {
		t.Divisor = len(c.peers)
	}
	c.device.kernels.Combine(c.dests[:], c.sources[:len(s.Sources)], t)
}

// near is memory of a quick program. What little a peer has posted lies beside
// the word that said so.
func (c *comm) near(r *callRun, p op.Place, bytes int64) []byte {
	if p.Area != op.AreaSlot {
		return r.own(p.Area)[p.Off:][:bytes]
	}
	place := &c.peers[p.Rank].block.places[r.place]
	if p.Off+bytes <= postedBytes && int(p.Rank) != c.rank {
		return place.header.posted[p.Off:][:bytes]
	}
	return place.slot[p.Off:][:bytes]
}
