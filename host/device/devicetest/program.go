package devicetest

import "github.com/ccrun/ccrun/host/op"

// planned is what a hand-written program is made for.
type planned struct {
	rank, size int
	bytes      int64
	elem       int64
}

func placed(rank int, area op.Area, off int64) op.Place {
	return op.Place{Rank: int32(rank), Area: area, Off: off}
}

// everywhere is one place of all ranks.
func (p planned) everywhere(area op.Area, off int64) (places []op.Place) {
	for rank := range p.size {
		places = append(places, placed(rank, area, off))
	}
	return places
}

func all(kind op.StepKind) op.Step { return op.Step{Kind: kind, Peer: -1} }

func step(bytes int64, last bool, sources []op.Place, dests ...op.Place) op.Step {
	return op.Step{Kind: op.StepMove, Peer: -1, Bytes: bytes, Sources: sources, Dests: dests, Last: last}
}

// oneshot is an all-reduce through slots.
func (p planned) oneshot() *op.Program {
	return &op.Program{Name: "oneshot", SlotBytes: p.bytes, Met: true, Steps: []op.Step{
		step(p.bytes, false, []op.Place{placed(p.rank, op.AreaIn, 0)}, placed(p.rank, op.AreaSlot, 0)),
		all(op.StepEnter),
		all(op.StepMeet),
		step(p.bytes, true, p.everywhere(op.AreaSlot, 0), placed(p.rank, op.AreaOut, 0)),
	}}
}

// share is the part of the vector that a rank is in charge of.
func (p planned) share(rank int) (from, bytes int64) {
	each := (p.bytes/p.elem + int64(p.size) - 1) / int64(p.size) * p.elem
	from = min(each*int64(rank), p.bytes)
	return from, min(each, p.bytes-from)
}

// direct is an all-reduce in which each rank writes its share to all.
func (p planned) direct() *op.Program {
	from, bytes := p.share(p.rank)
	return &op.Program{Name: "direct", Met: true, Steps: []op.Step{
		all(op.StepEnter),
		all(op.StepMeet),
		step(bytes, true, p.everywhere(op.AreaIn, from), p.everywhere(op.AreaOut, from)...),
		all(op.StepLeave),
		all(op.StepPart),
	}}
}

// ring is an all-reduce by put: shares travel around through the outputs, and
// flag 0 counts what has come.
func (p planned) ring() *op.Program {
	own := step(p.bytes, false, []op.Place{placed(p.rank, op.AreaIn, 0)}, placed(p.rank, op.AreaOut, 0))
	prog := &op.Program{Name: "ring", Met: true, Steps: []op.Step{own, all(op.StepEnter), all(op.StepMeet)}}
	right, left := (p.rank+1)%p.size, (p.rank+p.size-1)%p.size
	for n := range 2 * (p.size - 1) {
		reduce := n < p.size-1
		chunk := (p.rank - n + 2*p.size) % p.size
		if !reduce {
			chunk = (p.rank + 1 - (n - p.size + 1) + 2*p.size) % p.size
		}
		from, bytes := p.share(chunk)
		sources := []op.Place{placed(p.rank, op.AreaOut, from)}
		if reduce {
			sources = append(sources, placed(right, op.AreaIn, from))
		}
		if n > 0 {
			prog.Steps = append(prog.Steps, op.Step{Kind: op.StepWait, Peer: int32(left), Value: uint32(n)})
		}
		move := step(bytes, n == p.size-2, sources, placed(right, op.AreaOut, from))
		move.Term = op.Term{Chunk: uint32(chunk), Step: uint16(n)}
		prog.Steps = append(prog.Steps, move, op.Step{Kind: op.StepSignal, Peer: int32(right), Value: uint32(n + 1)})
	}
	prog.Steps = append(prog.Steps, all(op.StepLeave), all(op.StepPart))
	return prog
}

// alone is the program of a communicator of one rank.
func (p planned) alone() *op.Program {
	return &op.Program{Name: "alone", Met: true, Steps: []op.Step{
		step(p.bytes, true, []op.Place{placed(0, op.AreaIn, 0)}, placed(0, op.AreaOut, 0)),
	}}
}

// rooted is a broadcast through slots that the root does not wait in.
func (p planned) rooted(root int) *op.Program {
	prog := &op.Program{Name: "rooted", SlotBytes: p.bytes}
	if p.rank == root {
		prog.Steps = []op.Step{
			step(p.bytes, false, []op.Place{placed(root, op.AreaIn, 0)}, placed(root, op.AreaSlot, 0)),
			all(op.StepEnter),
		}
		return prog
	}
	prog.Steps = []op.Step{
		all(op.StepEnter),
		{Kind: op.StepMeet, Peer: int32(root)},
		step(p.bytes, false, []op.Place{placed(root, op.AreaSlot, 0)}, placed(p.rank, op.AreaOut, 0)),
	}
	return prog
}

// exchange is an all_to_all_v.
func (p planned) exchange() *op.Program {
	prog := &op.Program{Name: "exchange", Met: true, Steps: []op.Step{all(op.StepEnter), all(op.StepMeet)}}
	for peer := range p.size {
		prog.Steps = append(prog.Steps, op.Step{Kind: op.StepTake, Peer: int32(peer)})
	}
	prog.Steps = append(prog.Steps, all(op.StepLeave), all(op.StepPart))
	return prog
}
