package coll

import "github.com/ccrun/ccrun/host/op"

// treeSlotBytes has room for a rank's input and for the sum of its subtree.
func treeSlotBytes(s *Shape) int64 { return 2 * lineUp(s.partBytes()) }

// reduceTree combines the subtrees of a binomial tree, from slot to slot. A
// rank waits for its children only, and for nobody once its sum is there.
func reduceTree(p *planner) {
	v, bytes := p.fromRoot(), p.partBytes()
	sum := p.slot(p.rank, lineUp(bytes), bytes)
	p.post(bytes)
	p.enter()
	children := p.childrenUp(v)
	sources := []op.Place{p.slot(p.rank, 0, bytes)}
	for _, child := range children {
		sources = append(sources, p.subtree(child))
	}
	if v == 0 {
		p.combine(sources, []op.Place{p.out(p.rank, 0)}, bytes, sum, bytes, op.Term{})
		p.program.Met = true // a sum of all inputs has come from all ranks
		return
	}
	if len(children) > 0 {
		p.move(p.narrow(sources, bytes, sum, op.Term{}), []op.Place{sum}, bytes, false, op.Term{})
		p.signal(p.nth(parentUp(v)), flagMade, 1)
	}
}

// subtree waits for the sum of a child's subtree and gives its place: the
// child's input if it has no children itself.
func (p *planner) subtree(v int) op.Place {
	rank, bytes := p.nth(v), p.partBytes()
	p.meet(rank)
	if len(p.childrenUp(v)) == 0 {
		return p.slot(rank, 0, bytes)
	}
	p.wait(rank, flagMade, 1)
	return p.slot(rank, lineUp(bytes), bytes)
}
