package coll

// reduceRing hands slices around the ring from the rank after the root to the
// root, through slots; each rank adds its own.
func reduceRing(p *planner) {
	b := p.belt(p.Count, 1)
	p.meetAll()
	step := p.around(p.rank - p.Root - 1)
	for k := int64(0); k < b.slices && step > 0 && !p.full(); k++ {
		b.pass(passing{
			piece: span{k * b.length, min((k+1)*b.length, p.Count)}, k: k,
			step: step, steps: p.Ranks - 1, number: k, from: k,
		})
	}
	p.leave()
	if step == 0 {
		p.part(p.right())
	}
}
