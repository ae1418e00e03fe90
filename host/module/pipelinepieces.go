package module

import "github.com/ccrun/ccrun/host/op"

// piece is what one message of a bucket carries.
type piece struct {
	op.View
	bytes int64
}

// staging is a place in the bucket's staging memory.
func (m *movement) staging(at int64) op.View { return op.View{Buf: m.lane.buffer, Off: at} }

// own is where the rank's own part of a bucket lies that travels as one piece.
func (m *movement) own() op.View {
	if m.layout.Own >= 0 {
		return m.staging(m.layout.Own)
	}
	return m.pipe.places[m.bucket.Entries[0]].src
}

// result is where such a bucket comes to.
func (m *movement) result() op.View {
	if m.layout.Result >= 0 {
		return m.staging(m.layout.Result)
	}
	return m.pipe.places[m.bucket.Entries[0]].dst
}

// one is a bucket as one piece.
func (m *movement) one(v op.View) []piece {
	m.pieces = append(m.pieces[:0], piece{v, m.task.Bytes})
	return m.pieces
}

// each is a bucket whose entries are pieces, which lie there.
func (m *movement) each(entries []op.View) []piece {
	m.pieces = m.pieces[:0]
	for n, v := range entries {
		m.pieces = append(m.pieces, piece{v, m.pipe.entries[m.bucket.Entries[n]].Bytes()})
	}
	return m.pieces
}

// ownEntries is where the rank's own entries are sent from.
func (m *movement) ownEntries() []op.View { return m.entriesAt(m.layout.Own, false) }

// resultEntries is where entries come to that travel one by one.
func (m *movement) resultEntries() []op.View { return m.entriesAt(m.layout.Result, true) }

// entriesAt is where the entries of a bucket are read, or written if dst: where
// they belong, those that are in place, the others one behind the other in
// staging memory. It holds until the next call.
func (m *movement) entriesAt(staged int64, dst bool) []op.View {
	m.views = m.views[:0]
	for _, entry := range m.bucket.Entries {
		if !m.inPlace(entry, dst) {
			m.views = append(m.views, m.staging(staged))
			staged += m.pipe.entries[entry].Bytes()
			continue
		}
		v := m.pipe.places[entry].src
		if dst {
			v = m.pipe.places[entry].dst
		}
		m.views = append(m.views, v)
	}
	return m.views
}

// inPlace reports whether an entry of a bucket that travels entry by entry needs
// no staging memory.
func (m *movement) inPlace(entry int32, dst bool) bool {
	if !m.pipe.plan.Scattered(m.task) || dst && m.pipe.staged() {
		return false
	}
	return m.pipe.contiguous(entry, dst)
}

// packed is where entries lie that came as one piece.
func (m *movement) packed(at int64) []op.View {
	m.views = m.views[:0]
	for _, entry := range m.bucket.Entries {
		m.views = append(m.views, m.staging(at))
		at += m.pipe.entries[entry].Bytes()
	}
	return m.views
}

// sources is where entries lie that never left.
func (m *movement) sources() []op.View {
	m.views = m.views[:0]
	for _, entry := range m.bucket.Entries {
		m.views = append(m.views, m.pipe.places[entry].src)
	}
	return m.views
}

// arrivals is where the entries are when the bucket has come; one without a
// buffer is where it belongs already.
func (m *movement) arrivals() []op.View {
	t := m.task
	switch {
	case !t.Wired(), t.Source && t.AddFrom.Rank < 0 && m.layout.Own < 0:
		return m.sources()
	case t.Source && t.AddFrom.Rank >= 0:
		return m.packed(m.layout.Sum)
	case t.Source:
		return m.ownEntries()
	case m.layout.Result < 0:
		return nil
	case !m.pipe.plan.Scattered(t):
		return m.packed(m.layout.Result)
	}
	views := m.resultEntries()
	for n := range views {
		if views[n].Buf != m.lane.buffer {
			views[n] = op.View{}
		}
	}
	return views
}
