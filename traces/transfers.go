package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/host/op"
)

// byPair orders messages so that the k-th send and the k-th receive of the
// same piece stand at the same place. The step is left out: two ends may count
// their steps differently.
func byPair(a, b *Message) int {
	return cmp.Or(
		cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest), cmp.Compare(a.Chunk, b.Chunk),
		cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.ID, b.ID))
}

// byTransfer orders messages by transfer, flow, who moves them and time.
func byTransfer(a, b *Message) int {
	return cmp.Or(
		cmp.Compare(a.Chunk, b.Chunk), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Dest, b.Dest),
		cmp.Compare(a.Flow, b.Flow), byMover(a.pulled(), b.pulled()),
		cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
}

// pulled reports whether the destination moves the message.
func (m *Message) pulled() bool { return m.Kind != op.Put && m.Kind != op.Send }

// byMover orders what the source moves before what the destination does.
func byMover(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sameTransfer reports whether two messages carry the same rank-chunk between
// the same ranks in the same step.
func sameTransfer(a, b *Message) bool {
	return a.Chunk == b.Chunk && a.Step == b.Step && a.Source == b.Source && a.Dest == b.Dest
}

// pairSends matches sends with receives, so that bytes which both ends record
// count once. A receive counts from when its send was posted too; a send whose
// receive is missing, since the receiver was killed, counts itself. The
// receiver's step is the one of both.
func (d *draft) pairSends() {
	if len(d.sends) == 0 {
		return
	}
	inOrder := func(a, b *Message) int { return cmp.Or(byPair(a, b), cmp.Compare(a.Start, b.Start)) }
	receives := make([]*Message, 0, len(d.messages))
	for i := range d.messages {
		if d.messages[i].Kind == op.Recv {
			receives = append(receives, &d.messages[i])
		}
	}
	slices.SortStableFunc(receives, inOrder)
	slices.SortStableFunc(d.sends, func(a, b Message) int { return inOrder(&a, &b) })
	var unmatched []Message
	for i := range d.sends {
		s := &d.sends[i]
		for len(receives) > 0 && byPair(receives[0], s) < 0 {
			receives = receives[1:]
		}
		if len(receives) == 0 || byPair(receives[0], s) > 0 {
			unmatched = append(unmatched, *s)
			continue
		}
		d.join(s, receives[0])
		receives = receives[1:]
	}
	d.messages = append(d.messages, unmatched...)
}

// join makes a send and its receive one message. What either end waited for
// the other to begin is waiting, not moving.
func (d *draft) join(send, receive *Message) {
	send.Step = receive.Step
	posted := min(max(receive.Start, send.Start), receive.End)
	d.waits = append(d.waits,
		interval{int(receive.Dest), receive.Start, posted}, interval{int(receive.Source), send.Start, posted})
	receive.Start = posted
}

// group sorts messages into transfers, flows and slices. It keeps the slice
// that it is given as the flows' memory.
func group(messages, sends []Message) []Transfer {
	slices.SortFunc(messages, func(a, b Message) int { return byTransfer(&a, &b) })
	slices.SortFunc(sends, func(a, b Message) int { return byTransfer(&a, &b) })
	var transfers []Transfer
	for len(messages) > 0 {
		n := 1
		for n < len(messages) && sameTransfer(&messages[0], &messages[n]) {
			n++
		}
		t := newTransfer(messages[:n:n])
		sends = t.takeSends(sends)
		transfers = append(transfers, t)
		messages = messages[n:]
	}
	return transfers
}

// newTransfer makes a transfer of its messages, which are in order of flows.
// What both ends move at the same time, each a part, is two flows even if they
// have one number: nothing puts the one after the other.
func newTransfer(messages []Message) Transfer {
	first := &messages[0]
	t := Transfer{Chunk: first.Chunk, Step: first.Step, Source: first.Source, Dest: first.Dest, Start: maxTime}
	for rest := messages; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Flow == rest[0].Flow && rest[n].pulled() == rest[0].pulled() {
			n++
		}
		f := newFlow(rest[:n:n])
		t.Start, t.End, t.Bytes = min(t.Start, f.Start), max(t.End, f.End), t.Bytes+f.Bytes
		t.Status = max(t.Status, f.Status)
		t.Flows = append(t.Flows, f)
		rest = rest[n:]
	}
	t.Slices = slicesOf(messages)
	for i := range messages {
		pulled := messages[i].pulled()
		t.Pushed, t.Pulled = t.Pushed || !pulled, t.Pulled || pulled
	}
	return t
}

// newFlow makes a flow of its messages, which are in order of time. Receives
// are posted together and carried out one after the other, so each counts from
// the end of the one before it.
func newFlow(messages []Message) Flow {
	f := Flow{ID: messages[0].Flow, Pulled: messages[0].pulled(), Messages: messages}
	for i := range messages {
		m := &messages[i]
		if m.Kind == op.Recv && i > 0 && messages[i-1].Kind == op.Recv {
			m.Start = min(max(m.Start, messages[i-1].End), m.End)
		}
		f.Bytes += m.Bytes
		f.End = max(f.End, m.End)
		f.Status = max(f.Status, m.Status)
	}
	f.Start = messages[0].Start
	return f
}

// takeSends cuts the sends of t off the front of the list, which is in the
// same order as transfers are.
func (t *Transfer) takeSends(sends []Message) []Message {
	self := Message{Chunk: t.Chunk, Step: t.Step, Source: t.Source, Dest: t.Dest}
	before := func(m *Message) bool {
		return cmp.Or(cmp.Compare(m.Chunk, t.Chunk), cmp.Compare(m.Step, t.Step),
			cmp.Compare(m.Source, t.Source), cmp.Compare(m.Dest, t.Dest)) < 0
	}
	for len(sends) > 0 && before(&sends[0]) {
		sends = sends[1:]
	}
	n := 0
	for n < len(sends) && sameTransfer(&self, &sends[n]) {
		n++
	}
	t.Sends = slicesOf(sends[:n])
	return sends[n:]
}

// slicesOf adds messages up by slice and by who moves them.
func slicesOf(messages []Message) []Slice {
	if len(messages) == 0 {
		return nil
	}
	var out []Slice
	var at map[sliceKey]int // of out, made when messages are not in the order of slices
	last := -1
	for i := range messages {
		m := &messages[i]
		is := sliceKey{m.Slice, m.pulled()}
		if last < 0 || out[last].key() != is {
			j, known := len(out), false
			if at == nil && last >= 0 && is.compare(out[last].key()) < 0 {
				at = indexOf(out)
			}
			if at != nil {
				if j, known = at[is]; !known {
					j = len(out)
					at[is] = j
				}
			}
			if !known {
				out = append(out, Slice{ID: m.Slice, Pulled: is.pulled, Start: m.Start, Kind: m.Kind})
			}
			last = j
		}
		s := &out[last]
		s.Start, s.End, s.Bytes = min(s.Start, m.Start), max(s.End, m.End), s.Bytes+m.Bytes
		s.Messages++
		s.Status = max(s.Status, m.Status)
	}
	if at != nil {
		slices.SortFunc(out, func(a, b Slice) int { return a.key().compare(b.key()) })
	}
	return out
}

// sliceKey is what messages of one slice have in common.
type sliceKey struct {
	id     uint32
	pulled bool
}

func (s *Slice) key() sliceKey { return sliceKey{s.ID, s.Pulled} }

// compare orders slices by number.
func (k sliceKey) compare(other sliceKey) int {
	return cmp.Or(cmp.Compare(k.id, other.id), byMover(k.pulled, other.pulled))
}

func indexOf(list []Slice) map[sliceKey]int {
	at := make(map[sliceKey]int, 2*len(list))
	for i := range list {
		at[list[i].key()] = i
	}
	return at
}
