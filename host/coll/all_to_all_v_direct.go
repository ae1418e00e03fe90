package coll

// allToAllVDirect has every rank take its parts of all inputs. The program
// serves all counts.
func allToAllVDirect(p *planner) {
	p.enter()
	p.take(p.rank)
	p.awaitAll()
	for d := 1; d < p.Ranks; d++ {
		p.take(p.around(p.rank + d))
	}
	p.partAll()
}
