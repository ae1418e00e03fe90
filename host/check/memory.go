package check

import (
	"cmp"
	"slices"
)

// access is an operation that touches memory, when it does.
type access struct {
	*step
	when moment
	with *step // of a message the other side, which moves the bytes at the same time
}

// after reports whether an access certainly comes after an earlier one.
func (a *access) after(earlier *access) bool {
	return a.step == earlier.step || a.when.knows(earlier.when.chain, earlier.when.count)
}

// touched is a range that an access reads or writes.
type touched struct {
	access int
	Range
	writes bool
}

// race is two accesses that nothing orders, in the order of the run.
type race struct {
	first, second touched
	Range         // that both touch
}

// memory is what was done to the memory of all ranks.
type memory struct {
	accesses []access
	touches  []touched
	byOwner  map[allocation][]piece
	race     *race // the first
}

type allocation struct{ owner, number int }

// piece is bytes of an allocation that have been touched together: the access
// that wrote them last, and those that have read them since.
type piece struct {
	low, high int64
	write     int // index in touches, -1 if nobody has written them
	reads     []int
}

// access notes what an access does, and looks for a race.
func (m *memory) access(a access, reads, writes []Range) {
	m.accesses = append(m.accesses, a)
	number := len(m.accesses) - 1
	for _, r := range reads {
		m.touch(touched{number, r, false})
	}
	for _, r := range writes {
		m.touch(touched{number, r, true})
	}
}

func (m *memory) touch(t touched) {
	if t.Bytes == 0 {
		return
	}
	m.touches = append(m.touches, t)
	number := len(m.touches) - 1
	if m.race != nil {
		return // later ones may follow from it
	}
	if m.byOwner == nil {
		m.byOwner = map[allocation][]piece{}
	}
	key := allocation{t.Owner, t.Allocation}
	pieces := split(m.byOwner[key], t.Off, t.Off+t.Bytes)
	m.byOwner[key] = pieces
	first, _ := slices.BinarySearchFunc(pieces, t.Off, func(p piece, low int64) int { return cmp.Compare(p.low, low) })
	for i := first; i < len(pieces) && pieces[i].low < t.Off+t.Bytes; i++ {
		m.look(&pieces[i], number)
	}
}

// look compares a touch with those of a piece before it, and adds it.
func (m *memory) look(p *piece, number int) {
	if p.write >= 0 {
		m.compare(p.write, number)
	}
	if !m.touches[number].writes {
		chain := m.when(number).chain
		p.reads = slices.DeleteFunc(p.reads, func(read int) bool { return m.when(read).chain == chain })
		p.reads = append(p.reads, number)
		return
	}
	for _, read := range p.reads {
		m.compare(read, number)
	}
	p.write, p.reads = number, nil
}

func (m *memory) when(touch int) *moment { return &m.accesses[m.touches[touch].access].when }

// compare finds a race of two touches of the same bytes.
func (m *memory) compare(earlier, later int) {
	one, other := m.touches[earlier], m.touches[later]
	if m.race != nil || m.accesses[other.access].after(&m.accesses[one.access]) {
		return
	}
	shared, _ := one.overlap(other.Range)
	m.race = &race{one, other, shared}
}

// split cuts the pieces of an allocation so that some of them make up the
// range from low to high, with new ones where there were none.
func split(pieces []piece, low, high int64) []piece {
	pieces = cut(cut(pieces, low), high)
	i, _ := slices.BinarySearchFunc(pieces, low, func(p piece, low int64) int { return cmp.Compare(p.low, low) })
	for ; low < high; i++ {
		if i == len(pieces) || pieces[i].low > low {
			end := high
			if i < len(pieces) {
				end = min(high, pieces[i].low)
			}
			pieces = slices.Insert(pieces, i, piece{low: low, high: end, write: -1})
		}
		low = pieces[i].high
	}
	return pieces
}

// cut makes a piece that goes across a place two.
func cut(pieces []piece, at int64) []piece {
	i, found := slices.BinarySearchFunc(pieces, at, func(p piece, low int64) int { return cmp.Compare(p.low, low) })
	if found || i == 0 || pieces[i-1].high <= at {
		return pieces
	}
	left := &pieces[i-1]
	right := *left
	right.low = at
	right.reads = slices.Clone(left.reads)
	left.high = at
	return slices.Insert(pieces, i, right)
}
