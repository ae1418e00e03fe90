package coll

// broadcastRing hands slices on from the root to the right.
func broadcastRing(p *planner) {
	l := p.lane(p.Count)
	p.enter()
	if p.rank == p.Root {
		p.ownPart(0, 0)
	}
	p.awaitAll()
	last := p.right() == p.Root
	if p.rank != p.Root {
		l.each(span{0, p.Count}, func(k int64, piece span) {
			source := p.in(p.Root, piece.from)
			if p.left() != p.Root {
				l.await(0, k)
				source = p.out(p.left(), piece.from)
			}
			p.copy(source, p.out(p.rank, piece.from), piece.count()*p.size, l.term(0, p.around(p.left()-p.Root), k))
			if !last {
				l.tell(0, k)
			}
		})
	}
	p.leave()
	if !last {
		p.part(p.right())
	}
}
