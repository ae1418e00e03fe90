package analysis

import (
	"cmp"
	"slices"
)

// Work is an operation that a rank carried out itself, waiting for nobody.
// Only those of one class are compared.
type Work struct {
	Rank  int
	Class uint64
	Bytes int64
	Nanos int64
}

// pace is nanoseconds a byte.
func (w *Work) pace() float64 { return float64(w.Nanos) / float64(w.Bytes) }

// Paces are how fast ranks worked in a number of like collectives.
type Paces struct {
	list        []rankPace
	collectives int
}

// rankPace is how fast a rank did its operations of one class in one
// collective.
type rankPace struct {
	rank, collective  int
	class             uint64
	fast, usual       float64 // lower quartile, and upper one of the two medians
	bytes, operations float64
}

// Add enters what all ranks did in one collective. It sorts the list.
func (p *Paces) Add(work []Work) {
	slices.SortFunc(work, func(a, b Work) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.pace(), b.pace()))
	})
	for rest := work; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Class == rest[0].Class && rest[n].Rank == rest[0].Rank {
			n++
		}
		r := rankPace{
			rank: rest[0].Rank, collective: p.collectives, class: rest[0].Class,
			fast: rest[(n-1)/4].pace(), usual: rest[n/2].pace(), operations: float64(n),
		}
		for i := range rest[:n] {
			r.bytes += float64(rest[i].Bytes)
		}
		p.list = append(p.list, r)
		rest = rest[n:]
	}
	p.collectives++
}

// classRank is a rank in a class.
type classRank struct {
	class uint64
	rank  int
}

// usual gives the usual pace of each rank in each class over all collectives,
// and these again by class, sorted.
func (p *Paces) usual() (byRank map[classRank]float64, byClass map[uint64][]float64) {
	lists := make(map[classRank][]float64)
	for i := range p.list {
		r := &p.list[i]
		key := classRank{r.class, r.rank}
		lists[key] = append(lists[key], r.usual)
	}
	byRank, byClass = make(map[classRank]float64, len(lists)), make(map[uint64][]float64)
	for key, list := range lists {
		slices.Sort(list)
		byRank[key] = list[len(list)/2]
		byClass[key.class] = append(byClass[key.class], byRank[key])
	}
	for _, list := range byClass {
		slices.Sort(list)
	}
	return byRank, byClass
}

// rankSums is one rank's time in one collective, and what the same bytes
// usually take the others.
type rankSums struct{ own, others, bytes, operations float64 }

// Scores compares each rank in each collective with what is usual of the
// others. A class that only one rank has tells nothing.
func (p *Paces) Scores() *Scores {
	byRank, byClass := p.usual()
	sums := make([]map[int]*rankSums, p.collectives)
	for i := range p.list {
		r := &p.list[i]
		usual := byClass[r.class]
		if len(usual) < 2 {
			continue
		}
		if sums[r.collective] == nil {
			sums[r.collective] = make(map[int]*rankSums)
		}
		sum := sums[r.collective][r.rank]
		if sum == nil {
			sum = new(rankSums)
			sums[r.collective][r.rank] = sum
		}
		sum.own += r.fast * r.bytes
		sum.others += medianWithout(usual, byRank[classRank{r.class, r.rank}]) * r.bytes
		sum.bytes += r.bytes
		sum.operations += r.operations
	}
	s := &Scores{byRank: make(map[int]*history)}
	for _, collective := range sums {
		s.add(collective)
	}
	s.compareToBest()
	return s
}

// medianWithout is the median of sorted values without one of them: of an even
// number the upper one of the two, since a rank is to be called slow with care.
func medianWithout(sorted []float64, one float64) float64 {
	middle := (len(sorted) - 1) / 2
	if at, _ := slices.BinarySearch(sorted, one); at <= middle {
		middle++
	}
	return sorted[middle]
}
