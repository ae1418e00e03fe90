package coll

// reduceScatterRing hands each part around the ring, from the rank after its
// owner to its owner, through slots. It goes slice by slice, each slice of all
// parts in turn: a rank that went part by part would wait for room in slots
// that its neighbours only empty after it has gone on.
func reduceScatterRing(p *planner) {
	b := p.belt(p.Count, p.Ranks-2)
	p.meetAll()
	for k := int64(0); k < b.slices && !p.full(); k++ {
		piece := span{k * b.length, min((k+1)*b.length, p.Count)}
		for s := 1; s < p.Ranks; s++ {
			owner := p.around(p.rank - 1 - s)
			number := k*int64(p.Ranks-2) + int64(s-1)
			b.pass(passing{
				piece: piece, at: int64(owner) * p.Count, k: k, chunk: owner,
				step: s, steps: p.Ranks - 1, number: number, from: number - 1,
			})
		}
	}
	p.leave()
	p.part(p.right())
}
