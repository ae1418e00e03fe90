package coll

import "github.com/ccrun/ccrun/host/op"

// allReduceRing hands each shard around the ring twice: first every rank adds
// its own, then every rank copies the whole. A rank reads its left neighbour's
// output, where slices stay until the end, so nobody waits for readers.
//
// Shard c begins at rank c+1 and is complete at rank c. Step s of both rounds
// together reads what the left neighbour made in its step s-1.
func allReduceRing(p *planner) {
	l := p.lane(p.shard(0, p.Count).count())
	p.meetAll()
	for s := range p.Ranks - 1 {
		shard := p.around(p.rank - 2 - s)
		l.each(p.shard(shard, p.Count), func(k int64, piece span) {
			source := p.out(p.left(), piece.from)
			if s == 0 {
				source = p.in(p.left(), piece.from)
			} else {
				l.await(s-1, k)
			}
			sources := []op.Place{source, p.in(p.rank, piece.from)}
			p.move(sources, []op.Place{p.out(p.rank, piece.from)}, piece.count()*p.size, s == p.Ranks-2, l.term(shard, s, k))
			l.tell(s, k)
		})
	}
	for s := p.Ranks - 1; s < 2*p.Ranks-2; s++ {
		shard := p.around(p.rank - s + p.Ranks - 2)
		l.each(p.shard(shard, p.Count), func(k int64, piece span) {
			l.await(s-1, k)
			p.copy(p.out(p.left(), piece.from), p.out(p.rank, piece.from), piece.count()*p.size, l.term(shard, s, k))
			if s < 2*p.Ranks-3 {
				l.tell(s, k)
			}
		})
	}
	p.leave()
	p.part(p.right())
}
