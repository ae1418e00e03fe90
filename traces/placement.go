package traces

// placements give, for each rank, the collective that the rank's own number
// means: operations carry that number, and ranks of different groups number
// the same collective differently. A number that nobody can place is not there.
func (r *Run) placements() []map[uint32]*Collective {
	byRank := make([]map[uint32]*Collective, r.size)
	for _, log := range r.logs {
		byRank[log.Rank] = make(map[uint32]*Collective)
	}
	for _, c := range r.Collectives() {
		for i := range c.Parts {
			byRank[c.Parts[i].Rank][c.Parts[i].number] = c
		}
	}
	return byRank
}
