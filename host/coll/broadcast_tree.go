package coll

import "github.com/ccrun/ccrun/host/op"

// broadcastTree hands the root's input down a binomial tree, from slot to
// slot. Nobody waits for anyone but its parent.
func broadcastTree(p *planner) {
	v, bytes := p.fromRoot(), p.partBytes()
	children := p.childrenDown(v)
	if v == 0 {
		p.post(bytes)
		p.enter()
		p.ownPart(0, 0)
		return
	}
	parent := p.nth(parentDown(v))
	p.enter()
	p.meet(parent)
	if parent != p.Root {
		p.wait(parent, flagMade, 1)
	}
	to := []op.Place{p.out(p.rank, 0)}
	if len(children) > 0 {
		to = append(to, p.slot(p.rank, 0, bytes))
	}
	p.move([]op.Place{p.slot(parent, 0, bytes)}, to, bytes, false, op.Term{})
	for _, child := range children {
		p.signal(p.nth(child), flagMade, 1)
	}
}
