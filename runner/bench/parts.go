package bench

// partsOf is how many elements an alltoallv has a rank send to the one that is
// 0, 1, 2 and so on ranks on. As in nccl-tests, what a rank sends grows with the
// distance and is nothing for itself; less so the smaller the spread, which at 0
// leaves equal parts. Parts are whole in 16 bytes. All ranks send and receive as
// much in all, the same at each distance.
//
// shareCount is what would go to each rank in equal parts.
func partsOf(shareCount int64, ranks, elementBytes int, spread float64) []int64 {
	parts := make([]int64, ranks)
	whole := float64(shareCount * int64(ranks) * int64(elementBytes))
	distances := float64(max(ranks*(ranks-1)/2, 1))
	for distance := range parts {
		bytes := whole
		if ranks > 1 {
			bytes = (1-spread)*(whole/float64(ranks)) + spread*(float64(distance)*whole/distances)
		}
		parts[distance] = int64(bytes) &^ (wholeBytes - 1) / int64(elementBytes)
	}
	return parts
}

// wholeBytes is what nccl-tests keeps shares whole in.
const wholeBytes = 16

// tables gives the counts of all ranks' calls: of what goes to each rank, where
// it lies, of what comes from each, and where that goes. Parts lie in the order
// of their distance. Each table has two rounds of ranks, and that of rank r
// begins r before the second round.
func (r *Row) tables() (tables [countTables][]int64) {
	offsets := make([]int64, r.Ranks)
	for distance := 1; distance < r.Ranks; distance++ {
		offsets[distance] = offsets[distance-1] + r.Parts[distance-1]
	}
	for at := range 2 * r.Ranks {
		to := at % r.Ranks
		from := (2*r.Ranks - at) % r.Ranks
		for i, v := range [countTables]int64{r.Parts[to], offsets[to], r.Parts[from], offsets[from]} {
			tables[i] = append(tables[i], v)
		}
	}
	return tables
}

// countTables is how many lists of counts a call points to.
const countTables = 4
