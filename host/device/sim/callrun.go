package sim

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

func isMismatch(err error) bool { return errors.Is(err, device.ErrMismatch) }

// advance carries out steps of a call until one takes time or has to wait.
func (r *callRun) advance() {
	r.awaited = nobody
	for r.pc < len(r.steps) && !r.ended && !r.moving {
		done, err := r.step(&r.steps[r.pc])
		if err != nil {
			r.fail(err)
			return
		}
		if !done {
			return
		}
		r.pc, r.peer = r.pc+1, 0
	}
	if r.pc == len(r.steps) && !r.ended && !r.moving {
		r.enter() // a communicator of one rank enters nothing
		r.moving = true
		if r.model > 0 {
			r.after(r.model)
			return
		}
		r.complete()
	}
}

// moved is the end of what a step has waited for, in time.
func (r *callRun) moved() {
	if r.ended {
		return
	}
	if r.moving {
		r.moving = false
		r.endMove()
	}
	if !r.moving {
		r.advance()
	}
}

// step carries out one step, and reports whether it is done.
func (r *callRun) step(s *op.Step) (done bool, err error) {
	state, me := r.state, r.comm.rank
	switch s.Kind {
	case op.StepMove:
		return r.move(s)
	case op.StepTake:
		return r.take(s)
	case op.StepEnter:
		r.enter()
	case op.StepMeet:
		return r.meet(s)
	case op.StepLeave:
		r.leave()
	case op.StepPart:
		switch {
		case s.Peer < 0 && state.gone == len(state.in):
			return true, nil
		case s.Peer < 0 && !r.timed:
			r.waitForAll()
			return false, nil
		}
		return r.awaitRanks(s, func(peer int) (bool, error) { return state.left[peer], nil })
	case op.StepSignal:
		if state.flags == nil {
			state.flags = make(map[flagKey]uint32)
		}
		k := flagKey{s.Peer, int32(me), s.Flag}
		state.flags[k] = max(state.flags[k], s.Value)
		state.changed(me)
	case op.StepWait:
		if state.flags[flagKey{int32(me), s.Peer, s.Flag}] < s.Value {
			r.waitFor(int(s.Peer))
			return false, nil
		}
	}
	return true, nil
}

// meet waits until a rank has entered, or all have. Who waits for all is woken
// once; where steps take time it sees one rank enter after the other.
func (r *callRun) meet(s *op.Step) (done bool, err error) {
	state := r.state
	if s.Peer < 0 && !r.timed && state.different == nil {
		if state.entered < len(state.in) {
			r.waitForAll()
			return false, nil
		}
		if r.call.Collective != op.AllToAllV {
			return true, nil
		}
	}
	return r.awaitRanks(s, func(peer int) (bool, error) {
		if !state.in[peer] {
			return false, nil
		}
		return true, state.match(r, peer)
	})
}

// awaitRanks waits until something holds of a rank, or of all one after another.
func (r *callRun) awaitRanks(s *op.Step, holds func(peer int) (bool, error)) (bool, error) {
	from, to := int(s.Peer), int(s.Peer)+1
	if s.Peer < 0 {
		from, to = r.peer, len(r.state.in)
	}
	for peer := from; peer < to; peer++ {
		if peer == r.comm.rank {
			continue
		}
		ok, err := holds(peer)
		if err != nil {
			return false, err
		}
		if !ok {
			r.peer = peer
			r.waitFor(peer)
			return false, nil
		}
	}
	return true, nil
}

// move combines bytes at once, or begins to where steps take time.
func (r *callRun) move(s *op.Step) (done bool, err error) {
	if s.Bytes == 0 {
		return true, nil
	}
	if !r.timed {
		return true, r.combine(s)
	}
	c, ranks := r.comm.device.cluster, r.comm.group.ranks
	w := stepWork{bytes: s.Bytes, sourceCount: len(s.Sources), destCount: len(s.Dests)}
	for i, p := range s.Sources {
		w.sources[i], w.from[i] = ranks[p.Rank], r.placeOf(p)
	}
	for i, p := range s.Dests {
		w.dests[i], w.to[i] = ranks[p.Rank], r.placeOf(p)
	}
	r.moving, r.mark, r.engaged = true, c.now, false
	id := c.jobs.take()
	*c.jobs.at(id) = job{run: r, letter: -1}
	c.machineDemand.reset()
	c.machine.step(&c.machineDemand, r.comm.device.rank, &w)
	c.begin(id, &c.machineDemand)
	return false, nil
}

// endMove is the end of a step that has taken time.
func (r *callRun) endMove() {
	s := r.taken(&r.steps[r.pc])
	if !r.engaged {
		r.engaged = true
		if err := r.combine(s); err != nil {
			r.fail(err)
			return
		}
		if r.injectMove(s) {
			return
		}
	}
	r.recordMove(s)
	r.pc, r.peer = r.pc+1, 0
}

func moveKind(s *op.Step) op.Kind {
	if len(s.Sources) > 1 {
		return op.Reduce
	}
	return op.Get
}

// recordMove writes a record for each peer at the other end of a move.
func (r *callRun) recordMove(s *op.Step) {
	d := r.comm.device
	w, t := d.recorder, r.stream.at(r.task)
	if w == nil || w.Level < flight.LevelFlow || t.term.Collective == 0 {
		return
	}
	sequence := t.term.Collective + uint32(r.index)
	record := func(kind op.Kind, p op.Place) {
		if int(p.Rank) != r.comm.rank && p.Area != op.AreaSlot {
			device.RecordMove(w, kind, r.call, s, sequence, r.stream.number, r.comm.group.ranks[p.Rank], r.mark/picosPerNano, d.cluster.now/picosPerNano)
		}
	}
	for _, p := range s.Sources {
		record(moveKind(s), p)
	}
	for _, p := range s.Dests {
		record(op.Put, p)
	}
}

// take is a move from where the peer says to where this rank wants it.
func (r *callRun) take(s *op.Step) (done bool, err error) { return r.move(r.taken(s)) }

// taken is a StepTake as the move that it stands for.
func (r *callRun) taken(s *op.Step) *op.Step {
	if s.Kind != op.StepTake {
		return s
	}
	size, me := int64(r.call.Type.Size()), r.comm.rank
	from := r.state.runs[s.Peer].call.SendOffsets[me]
	return &op.Step{
		Kind: op.StepMove, Peer: s.Peer, Bytes: r.call.RecvCounts[s.Peer] * size, Term: s.Term,
		Sources: []op.Place{{Rank: s.Peer, Area: op.AreaIn, Off: from * size}},
		Dests:   []op.Place{{Rank: int32(me), Area: op.AreaOut, Off: r.call.RecvOffsets[s.Peer] * size}},
	}
}

// combine has the effect of a move on bytes. A phantom source makes phantoms
// of the destinations.
func (r *callRun) combine(s *op.Step) error {
	var from, to [op.MaxSources][]byte
	haunts := false
	for i, p := range s.Sources {
		mem, known, err := r.memory(p, s.Bytes)
		if err != nil {
			return err
		}
		from[i], haunts = mem, haunts || !known
	}
	count := 0
	for _, p := range s.Dests {
		mem, known, err := r.memory(p, s.Bytes)
		switch {
		case err != nil:
			return err
		case haunts:
			r.haunt(p)
		case known:
			to[count] = mem
			count++
		}
	}
	if haunts || count == 0 {
		return nil
	}
	t := kernels.Task{Type: r.call.Type, Red: r.call.Red}
	if s.Last {
		t.Divisor = len(r.state.in)
	}
	kernels.New().Combine(to[:count], from[:len(s.Sources)], t)
	return nil
}

// memory gives bytes of an area of a rank; known is false for a phantom's.
func (r *callRun) memory(p op.Place, bytes int64) (mem []byte, known bool, err error) {
	s := r.state
	if p.Area == op.AreaSlot {
		return s.slot(int(p.Rank), p.Off, bytes)
	}
	v := r.area(p)
	b, ok := v.Buf.(*buffer)
	if !ok || p.Off < 0 || bytes > b.bytes-v.Off || p.Off > b.bytes-v.Off-bytes {
		return nil, false, fmt.Errorf("%v: %d bytes at %d of rank %d: %w", r.words, bytes, p.Off, s.group.ranks[p.Rank], op.ErrRange)
	}
	if b.owner.phantom() {
		return nil, false, nil
	}
	return b.region(v.Off+p.Off, bytes), true, nil
}

// area is the input or the output of a rank.
func (r *callRun) area(p op.Place) op.View {
	call := r.state.runs[p.Rank].call
	if p.Area == op.AreaOut {
		return call.Out
	}
	return call.In
}

// placeOf is where an area lies, nowhere for a slot.
func (r *callRun) placeOf(p op.Place) place {
	if p.Area == op.AreaSlot {
		return place{}
	}
	v := r.area(p)
	b, _ := v.Buf.(*buffer)
	return place{b, v.Off + p.Off}
}

// slot gives bytes of a rank's slot in this call.
func (s *callState) slot(rank int, off, bytes int64) (mem []byte, known bool, err error) {
	if off < 0 || bytes > op.SlotBytesMax || off > op.SlotBytesMax-bytes {
		return nil, false, op.ErrRange
	}
	if s.slots == nil {
		s.slots, s.haunted = make([][]byte, len(s.in)), make([]bool, len(s.in))
	}
	if need := off + bytes; int64(len(s.slots[rank])) < need {
		grown := make([]byte, need)
		copy(grown, s.slots[rank])
		s.slots[rank] = grown
	}
	return s.slots[rank][off:][:bytes], !s.haunted[rank], nil
}

// haunt makes phantoms of what a place lies in.
func (r *callRun) haunt(p op.Place) {
	s := r.state
	if p.Area == op.AreaSlot {
		s.haunted[p.Rank] = true
		return
	}
	v := s.runs[p.Rank].call.In
	if p.Area == op.AreaOut {
		v = s.runs[p.Rank].call.Out
	}
	v.Buf.(*buffer).owner.haunt()
}
