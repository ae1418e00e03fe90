package coll

// allGatherRing hands each part around the ring. Step s brings the part of the
// rank s+1 places to the left.
func allGatherRing(p *planner) {
	l := p.lane(p.Count)
	p.enter()
	p.ownPart(0, int64(p.rank)*p.Count)
	p.awaitAll()
	for s := range p.Ranks - 1 {
		owner := p.around(p.rank - 1 - s)
		start := int64(owner) * p.Count
		l.each(span{start, start + p.Count}, func(k int64, piece span) {
			source := p.in(p.left(), piece.from-start)
			if s > 0 {
				l.await(s-1, k)
				source = p.out(p.left(), piece.from)
			}
			p.copy(source, p.out(p.rank, piece.from), piece.count()*p.size, l.term(owner, s, k))
			if s < p.Ranks-2 {
				l.tell(s, k)
			}
		})
	}
	p.leave()
	p.part(p.right())
}
