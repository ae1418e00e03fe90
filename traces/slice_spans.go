package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/host/op"
)

// flowLinks gives, for each slice that one end moves, links to the flows that
// move it: a slice and a flow both divide the chunk, so neither is the other's
// parent.
func (s *scene) flowLinks(e *end, pulled bool) map[uint32][]Link {
	links := make(map[uint32][]Link, len(e.Slices))
	for i := range e.Flows {
		f := &e.Flows[i]
		if f.Pulled != pulled {
			continue
		}
		link := Link{s.id.trace, s.flowID(e, f)}
		for j := range f.Messages {
			slice := f.Messages[j].Slice
			if to := links[slice]; len(to) == 0 || to[len(to)-1] != link {
				links[slice] = append(to, link)
			}
		}
	}
	return links
}

// slices emits the slices of a transfer: at the end that moves them, and if
// both ends recorded theirs, at both, the receiver's linked to the sender's.
// All are linked to their flows.
func (s *scene) slices(source, dest *end) {
	pushed, pulled := s.flowLinks(source, false), s.flowLinks(dest, true)
	for i := range source.Sends {
		piece := &source.Sends[i]
		s.sliceSpan(source, piece, slices.Concat(pushed[piece.ID], pulled[piece.ID]))
	}
	for i := range source.Slices {
		piece := &source.Slices[i]
		switch sent := source.sent(piece.ID); {
		case piece.Pulled && sent:
			s.sliceSpan(dest, piece, append([]Link{{s.id.trace, s.sliceID(source, piece)}}, pulled[piece.ID]...))
		case piece.Pulled:
			s.sliceSpan(dest, piece, pulled[piece.ID])
		case !sent:
			s.sliceSpan(source, piece, pushed[piece.ID])
		}
	}
}

// sent reports whether the source recorded sends of a slice.
func (t *Transfer) sent(slice uint32) bool {
	_, ok := slices.BinarySearchFunc(t.Sends, slice, func(s Slice, slice uint32) int { return cmp.Compare(s.ID, slice) })
	return ok
}

// sliceSpans is how many spans the slices of a transfer have.
func (t *Transfer) sliceSpans() int {
	n := len(t.Sends)
	for i := range t.Slices {
		if t.Slices[i].Pulled || !t.sent(t.Slices[i].ID) {
			n++
		}
	}
	return n
}

func (s *scene) sliceSpan(e *end, piece *Slice, links []Link) {
	t := e.slice
	if piece.Kind == op.Reduce {
		t = termSliceReduce
	}
	attributes := []Attribute{
		intAttr("ccl.slice.id", piece.ID), intAttr("ccl.chunk.id", e.Chunk), intAttr("ccl.step", e.Step), intAttr("ccl.peer.rank", e.peer),
		intAttr("ccl.bytes", piece.Bytes), intAttr("ccl.message.count", piece.Messages),
	}
	if peer := s.resources.byRank[e.peer]; t == termSliceSend && peer != nil {
		attributes = append(attributes, textAttr("peer.service", peer.Service))
	}
	s.emit(t, stretch{piece.Start, piece.End}.within(e.at), &Span{
		Trace: s.id.trace, ID: s.sliceID(e, piece), Parent: s.id.span(e.place(e.chunk)),
		Attributes: attributes, Links: links, Failure: failure(piece.Status), Resource: s.resources.byRank[e.rank],
	})
}

// sliceID is the same for a slice that is reduced and one that is received.
func (s *scene) sliceID(e *end, piece *Slice) SpanID {
	p := e.place(e.slice)
	p.slice = piece.ID
	return s.id.span(p)
}

// messages emits the transport messages of a flow below the end that moves it.
// A number that the guest gave twice must not make two spans one, so the
// position in the flow identifies them.
func (s *scene) messages(e *end, f *Flow) {
	parent, whole := s.flowID(e, f), e.flow(f)
	for j := range f.Messages {
		m := &f.Messages[j]
		at := e.place(termMessage)
		at.flow, at.slice, at.message = f.ID, direction(f.Pulled), uint32(j)
		s.emit(termMessage, stretch{m.Start, m.End}.within(whole), &Span{
			Trace: s.id.trace, ID: s.id.span(at), Parent: parent,
			Attributes: []Attribute{
				intAttr("ccl.message.id", m.ID), intAttr("ccl.flow.id", m.Flow), intAttr("ccl.slice.id", m.Slice), intAttr("ccl.bytes", m.Bytes),
			},
			Links:   []Link{{s.id.trace, s.sliceID(e, &Slice{ID: m.Slice})}},
			Failure: failure(m.Status), Resource: s.resources.byRank[e.rank],
		})
	}
}

// localWork emits the copies and reductions inside one rank.
func (s *scene) localWork() {
	for i := range s.c.Local {
		m := &s.c.Local[i]
		t := termSliceCopy
		if m.Kind == op.Reduce {
			t = termSliceReduce
		}
		part, _ := s.rank(m.Source) // who worked has a part
		s.emit(t, stretch{m.Start, m.End}.within(part), &Span{
			Trace: s.id.trace, Parent: s.rankID(m.Source),
			ID: s.id.span(place{term: t, rank: m.Source, peer: m.Source, step: m.Step, chunk: m.Chunk, slice: m.Slice, message: uint32(i)}),
			Attributes: []Attribute{
				intAttr("ccl.slice.id", m.Slice), intAttr("ccl.chunk.id", m.Chunk), intAttr("ccl.step", m.Step), intAttr("ccl.peer.rank", m.Source),
				intAttr("ccl.bytes", m.Bytes), intAttr("ccl.message.count", 1),
			},
			Failure: failure(m.Status), Resource: s.resources.byRank[m.Source],
		})
	}
}
