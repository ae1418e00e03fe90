package reshard

import "slices"

// side is who holds what in one layout.
type side struct {
	layout Layout
	// copies and parts are what to add to the first place in the mesh of a
	// shard's holders for all that have the same, and for the parts of one sum.
	copies, parts []int
	known         map[int]*holders // by place
}

// holders are the ranks that hold a shard: for each copy of it those who hold
// its parts, ascending, sorted by the first of them; and the first ones alone,
// which are all if there are no parts.
type holders struct {
	groups [][]int
	firsts []int
}

func newSide(l Layout) *side {
	s := &side{layout: l, copies: []int{0}, parts: []int{0}, known: make(map[int]*holders)}
	stride := l.Mesh.Size()
	for i, p := range l.Placements {
		stride /= l.Mesh.Dims[i]
		switch p.Kind {
		case Replicate:
			s.copies = product(s.copies, l.Mesh.Dims[i], stride)
		case Partial:
			s.parts = product(s.parts, l.Mesh.Dims[i], stride)
		}
	}
	return s
}

// product is all sums of one of the offsets and a multiple of stride.
func product(offsets []int, ways, stride int) []int {
	sums := make([]int, 0, len(offsets)*ways)
	for _, o := range offsets {
		for c := range ways {
			sums = append(sums, o+c*stride)
		}
	}
	return sums
}

// holders are those of the shard whose first holder is at a place of the mesh.
func (s *side) holders(place int) *holders {
	if known, ok := s.known[place]; ok {
		return known
	}
	h := &holders{groups: make([][]int, len(s.copies)), firsts: make([]int, len(s.copies))}
	for i, copied := range s.copies {
		for _, part := range s.parts {
			h.groups[i] = append(h.groups[i], s.layout.Mesh.Ranks[place+copied+part])
		}
		slices.Sort(h.groups[i])
	}
	slices.SortFunc(h.groups, func(a, b []int) int { return a[0] - b[0] })
	for i, g := range h.groups {
		h.firsts[i] = g[0]
	}
	s.known[place] = h
	return h
}

// candidate is a rank that could be an entry's source, and the parts that it
// would add up, nil if it has all.
type candidate struct {
	rank  int
	parts []int
}

// transfer is what is the same for all entries of a cell's pieces but their
// source, which is one of the candidates.
type transfer struct {
	destinations []int
	candidates   []candidate
}

// router finds the transfers of cells.
type router struct {
	ranksPerNode int
	split        Split
}

func (r *router) node(rank int) int {
	if r.ranksPerNode == 0 {
		return 0
	}
	return rank / r.ranksPerNode
}

// transfers are the ways of a cell from those who hold it to its destinations,
// which are ascending: copies in own memory, and one transfer for all others or
// one for each lot.
func (r *router) transfers(from *holders, destinations []int) []transfer {
	if len(from.groups[0]) > 1 {
		return []transfer{{destinations, r.adders(from.groups, destinations)}}
	}
	sources := from.firsts
	var transfers []transfer
	var others []int
	for i, d := range destinations {
		if _, holds := slices.BinarySearch(sources, d); holds {
			transfers = append(transfers, transfer{destinations[i : i+1 : i+1], []candidate{{rank: d}}})
		} else {
			others = append(others, d)
		}
	}
	return r.lots(transfers, sources, others)
}

// lots appends the transfers of those who do not have the cell. They are
// ascending, so that those of a node follow one another.
func (r *router) lots(transfers []transfer, sources, others []int) []transfer {
	var far []int // destinations on nodes without a source
	for len(others) > 0 {
		node, n := r.node(others[0]), 1
		for n < len(others) && r.node(others[n]) == node {
			n++
		}
		near := candidates(sources, func(rank int) bool { return r.node(rank) == node })
		switch lot := others[:n:n]; {
		case r.split == PerRank && len(near) > 0:
			transfers = appendEach(transfers, lot, near)
		case r.split == PerRank:
			transfers = appendEach(transfers, lot, candidates(sources, anyRank))
		case len(near) > 0:
			transfers = append(transfers, transfer{lot, near})
		case r.split == PerNode:
			transfers = append(transfers, transfer{lot, candidates(sources, anyRank)})
		default:
			far = append(far, lot...)
		}
		others = others[n:]
	}
	if len(far) > 0 {
		transfers = append(transfers, transfer{far, candidates(sources, anyRank)})
	}
	return transfers
}

func appendEach(transfers []transfer, destinations []int, from []candidate) []transfer {
	for i := range destinations {
		transfers = append(transfers, transfer{destinations[i : i+1 : i+1], from})
	}
	return transfers
}

func anyRank(int) bool { return true }

func candidates(sources []int, accept func(rank int) bool) []candidate {
	var list []candidate
	for _, rank := range sources {
		if accept(rank) {
			list = append(list, candidate{rank: rank})
		}
	}
	return list
}

// adders are the candidates to add parts up: destinations if any hold parts,
// else who is on a destination's node, else all.
func (r *router) adders(groups [][]int, destinations []int) []candidate {
	among := func(accept func(rank int) bool) []candidate {
		var list []candidate
		for _, parts := range groups {
			for _, rank := range parts {
				if accept(rank) {
					list = append(list, candidate{rank, parts})
				}
			}
		}
		return list
	}
	own := among(func(rank int) bool {
		_, found := slices.BinarySearch(destinations, rank)
		return found
	})
	if len(own) > 0 {
		return own
	}
	nodes := make([]int, len(destinations)) // ascending, as destinations are
	for i, d := range destinations {
		nodes[i] = r.node(d)
	}
	near := among(func(rank int) bool {
		_, found := slices.BinarySearch(nodes, r.node(rank))
		return found
	})
	if len(near) > 0 {
		return near
	}
	return among(anyRank)
}
