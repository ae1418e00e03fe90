package coll

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// Plan makes the program of one rank. Its errors wrap [ErrShape],
// [ErrAlgorithm] or [ErrFit].
func Plan(s Shape, rank int) (*op.Program, error) {
	v, err := s.check()
	if err != nil {
		return nil, err
	}
	if rank < 0 || rank >= s.Ranks {
		return nil, fmt.Errorf("rank %d of %d: %w", rank, s.Ranks, ErrShape)
	}
	p := &planner{Shape: s, rank: rank, size: int64(s.Type.Size())}
	p.program.Name = v.Algorithm.String()
	switch {
	case s.Ranks == 1:
		p.alone()
	case s.Count == 0 && Of(s.Collective).counts():
		p.meetAll()
	default:
		p.planWays(v)
	}
	if p.full() {
		return nil, fmt.Errorf("%s by %s of %d elements takes more than %d steps (make several calls): %w", s.Collective, s.Algorithm, s.Count, StepsMax, ErrFit)
	}
	return &p.program, nil
}

// planWays writes the steps, and those that go back if they differ.
func (p *planner) planWays(v *Variant) {
	v.plan(p)
	if !p.turns {
		return
	}
	steps := p.program.Steps
	p.program.Steps, p.back = nil, true
	v.plan(p)
	p.program.Steps, p.program.Back = steps, p.program.Steps
}

// planner writes the program of one rank.
type planner struct {
	Shape
	rank    int
	turns   bool  // the steps that go back differ
	back    bool  // they are written
	size    int64 // bytes of an element
	program op.Program
	places  []op.Place // free places, to cut Sources and Dests from
}

// full reports whether the program has become too long. Loops over pieces end
// then.
func (p *planner) full() bool { return len(p.program.Steps) > StepsMax }

func (p *planner) add(s op.Step) { p.program.Steps = append(p.program.Steps, s) }

// alone plans for a communicator of one rank.
func (p *planner) alone() {
	p.program.Met = true
	if p.Collective == op.AllToAllV {
		p.take(0)
		return
	}
	p.ownPart(0, 0)
}

func (p *planner) enter() { p.add(op.Step{Kind: op.StepEnter, Peer: -1}) }
func (p *planner) leave() { p.add(op.Step{Kind: op.StepLeave, Peer: -1}) }

// meet waits for one rank.
func (p *planner) meet(peer int) { p.add(op.Step{Kind: op.StepMeet, Peer: int32(peer)}) }

// part waits until one rank needs this one's memory no more.
func (p *planner) part(peer int) { p.add(op.Step{Kind: op.StepPart, Peer: int32(peer)}) }

// meetAll enters and waits for everyone.
func (p *planner) meetAll() {
	p.enter()
	p.awaitAll()
}

func (p *planner) awaitAll() {
	p.meet(-1)
	p.program.Met = true
}

// partAll leaves and waits until everyone has.
func (p *planner) partAll() {
	p.leave()
	p.part(-1)
}

func (p *planner) signal(peer int, flag uint8, value int64) {
	p.add(op.Step{Kind: op.StepSignal, Peer: int32(peer), Flag: flag, Value: uint32(value)})
}

func (p *planner) wait(peer int, flag uint8, value int64) {
	p.add(op.Step{Kind: op.StepWait, Peer: int32(peer), Flag: flag, Value: uint32(value)})
}

func (p *planner) take(peer int) {
	p.add(op.Step{Kind: op.StepTake, Peer: int32(peer), Term: op.Term{Chunk: p.pairChunk(peer, p.rank)}})
}

// right and left are the neighbours on the ring.
func (p *planner) right() int { return p.around(p.rank + 1) }
func (p *planner) left() int  { return p.around(p.rank - 1) }

// around brings a rank that may be too small or too large by less than twice
// the number of ranks back into the ring.
func (p *planner) around(rank int) int { return (rank + 2*p.Ranks) % p.Ranks }

// pairChunk numbers what one rank has for another.
func (p *planner) pairChunk(from, to int) uint32 { return uint32(from*p.Ranks + to) }
