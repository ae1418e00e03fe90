package reshard

import "errors"

// New plans moves.
func New(moves []Move, options Options) (*Plan, error) {
	return nil, errors.New("reshard: being written")
}

// Kind is how the entry moves.
func (e *Entry) Kind() Kind {
	switch {
	case e.Parts != nil:
		return Reduce
	case len(e.Destinations) > 1:
		return Broadcast
	case e.Destinations[0] == e.Source:
		return Local
	}
	return Send
}

// Bytes is how many bytes the entry has.
func (e *Entry) Bytes() int64 { return e.Planes * e.Rows * e.RowBytes }

// Takes reports what a rank does for an entry: whether it reads its part of the
// source tensor, and whether it writes its part of the target tensor.
func (e *Entry) Takes(rank int) (reads, writes bool) {
	for _, part := range e.Parts {
		reads = reads || part == rank
	}
	for _, destination := range e.Destinations {
		writes = writes || destination == rank
	}
	return reads || e.Source == rank, writes
}

// SourceOffsets places a rank's parts of all tensors in one buffer, in the
// order of the moves, each at a multiple of align bytes: where each starts, and
// how long the buffer is. A tensor that the rank has no part of takes no room.
func (p *Plan) SourceOffsets(rank int, align int64) (offsets []int64, bytes int64) {
	return p.offsets(rank, align, func(m *Move) Layout { return m.Source })
}

// TargetOffsets is the same for where tensors go to.
func (p *Plan) TargetOffsets(rank int, align int64) (offsets []int64, bytes int64) {
	return p.offsets(rank, align, func(m *Move) Layout { return m.Target })
}

func (p *Plan) offsets(rank int, align int64, side func(m *Move) Layout) (offsets []int64, bytes int64) {
	offsets = make([]int64, len(p.Moves))
	for i := range p.Moves {
		m := &p.Moves[i]
		offsets[i] = bytes
		n := m.Tensor.Bytes(side(m), rank)
		bytes += (n + align - 1) / align * align
	}
	return offsets, bytes
}

// Hash is a number over the names, types and shapes of all tensors and over all
// entries: equal on ranks that have the same plan, and else not but by chance.
func (p *Plan) Hash() uint64 { return 0 }

// EntryHash is a number over one entry.
func (p *Plan) EntryHash(i int) uint64 { return 0 }

// Describe is the i-th entry in a line.
func (p *Plan) Describe(i int) string { return "" }

// Difference is the first entry in which two plans differ, -1 if there is none,
// and a line that shows it in both.
func Difference(a, b *Plan) (int, string) { return -1, "" }

// Summary counts what a plan moves, by kind.
type Summary struct {
	Entries [4]int   // of each kind
	Bytes   [4]int64 // of each kind, an entry counted once
	Wire    int64    // bytes that destinations get from others, and parts from one another
}

// Summary counts what the plan moves.
func (p *Plan) Summary() Summary { return Summary{} }
