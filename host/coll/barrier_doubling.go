package coll

// barrierDoubling hears of twice as many ranks each round.
func barrierDoubling(p *planner) {
	p.enter()
	value := int64(1)
	for distance := 1; distance < p.Ranks; distance *= 2 {
		from := p.around(p.rank - distance)
		p.signal(p.around(p.rank+distance), flagMade, value)
		p.meet(from)
		p.wait(from, flagMade, value)
		value++
	}
	p.program.Met = true
}
