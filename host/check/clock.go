package check

// A moment is a point in a chain of steps of which each waits for the one
// before, and all that it knows of: what has certainly happened by then. Chains
// are the guests, the streams, and the messages that a stream has open at a
// time. Nobody changes known once it is there.
type moment struct {
	known []uint32 // by chain: how far it is known to have come
	chain int
	count uint32 // how far its own chain has come, from 1
}

// exists reports whether the moment has come.
func (m *moment) exists() bool { return m.count > 0 }

// knows reports whether the other moment has certainly happened before.
func (m *moment) knows(chain int, count uint32) bool {
	if chain == m.chain {
		return count <= m.count
	}
	return chain < len(m.known) && m.known[chain] >= count
}

// learn adds what another moment knows. The count goes up whenever something
// is new, so that knowing a count means knowing all that was known by then.
func (m *moment) learn(other *moment) {
	if !other.exists() || m.knows(other.chain, other.count) {
		return
	}
	m.known = merge(m.known, other)
	m.count++
}

// merge gives a copy of known with what a moment knows.
func merge(known []uint32, m *moment) []uint32 {
	merged := make([]uint32, max(len(known), len(m.known), m.chain+1))
	copy(merged, known)
	for i, count := range m.known {
		merged[i] = max(merged[i], count)
	}
	merged[m.chain] = max(merged[m.chain], m.count)
	return merged
}

// absorb is merge into what nobody else has yet, without a copy.
func absorb(known []uint32, m *moment) []uint32 {
	if m.chain < len(known) && known[m.chain] >= m.count {
		return known
	}
	if more := max(len(m.known), m.chain+1) - len(known); more > 0 {
		known = append(known, make([]uint32, more)...)
	}
	for i, count := range m.known {
		known[i] = max(known[i], count)
	}
	known[m.chain] = max(known[m.chain], m.count)
	return known
}

// adopt adds what is known to somebody, without a copy of it if that is all.
func (m *moment) adopt(known []uint32) {
	more, less := false, len(known) < len(m.known)
	for i, count := range known {
		switch mine := m.at(i); {
		case count > mine:
			more = true
		case count < mine && i != m.chain:
			less = true
		}
	}
	if !more {
		return
	}
	if less {
		known = merge(known, m)
	}
	m.known = known
	m.count++
}

// at is how far a chain is known to have come.
func (m *moment) at(chain int) uint32 {
	switch {
	case chain == m.chain:
		return m.count
	case chain < len(m.known):
		return m.known[chain]
	}
	return 0
}

// countBytes is the size of one chain's part of what is known.
const countBytes = 4
