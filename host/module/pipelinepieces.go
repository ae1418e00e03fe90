package module

import (
	"iter"

	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

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

// each is a bucket whose entries are pieces.
func (m *movement) each(entries iter.Seq2[int, op.View]) []piece {
	m.pieces = m.pieces[:0]
	for n, v := range entries {
		m.pieces = append(m.pieces, piece{v, m.pipe.entries[m.bucket.Entries[n]].Bytes()})
	}
	return m.pieces
}

// ownEntries is where the rank's own entries are sent from.
func (m *movement) ownEntries() iter.Seq2[int, op.View] { return m.entriesAt(m.layout.Own, false) }

// resultEntries is where entries come to that travel one by one.
func (m *movement) resultEntries() iter.Seq2[int, op.View] {
	return m.entriesAt(m.layout.Result, true)
}

func (m *movement) entriesAt(staged int64, dst bool) iter.Seq2[int, op.View] {
	return func(yield func(int, op.View) bool) {
		for n, entry := range m.bucket.Entries {
			if m.inPlace(entry, dst) {
				v := m.pipe.places[entry].src
				if dst {
					v = m.pipe.places[entry].dst
				}
				if !yield(n, v) {
					return
				}
				continue
			}
			if !yield(n, m.staging(staged)) {
				return
			}
			staged += m.pipe.entries[entry].Bytes()
		}
	}
}

// entryAt is the n-th of them.
func (m *movement) entryAt(staged int64, n int, dst bool) op.View {
	for i, v := range m.entriesAt(staged, dst) {
		if i == n {
			return v
		}
	}
	return op.View{}
}

// inPlace reports whether an entry of a bucket that travels entry by entry needs
// no staging memory.
func (m *movement) inPlace(entry int32, dst bool) bool {
	if !m.pipe.plan.Scattered(m.task) || dst && m.pipe.staged() {
		return false
	}
	return m.pipe.contiguous(entry, dst)
}

// before is how many bytes of a bucket come before its n-th entry.
func (p *pipe) before(b *pipeline.Bucket, n int) int64 {
	bytes := int64(0)
	for _, entry := range b.Entries[:n] {
		bytes += p.entries[entry].Bytes()
	}
	return bytes
}
