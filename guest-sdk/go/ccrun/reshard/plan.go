package reshard

import (
	"cmp"
	"fmt"
	"slices"
)

// entriesMax is how many entries a plan may have, twice what a host takes in
// pipelines at a time. So many take 434 MiB of a guest's memory, of which it has
// 1 GiB by default; three times as many do not fit.
const entriesMax = 1 << 21

// bytesMax is how many bytes the tensors of a plan may have, counted on each rank
// that may have or get one: sums of sizes stay below it whatever is planned.
const bytesMax = int64(1) << 62

// bytesMost bounds what a move adds to such sums, or is more than room.
func (m *Move) bytesMost(room int64) int64 {
	ranks := int64(m.Source.Mesh.Size() + m.Target.Mesh.Size())
	if size := m.Tensor.Size(); size <= room/ranks {
		return size * ranks
	}
	return room + 1
}

// New plans moves. All ranks call it with the same arguments and get the same
// plan.
func New(moves []Move, options Options) (*Plan, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	b := builder{options: options, patterns: make(map[string]*pattern)}
	patterns, total, ranks, room := make([]*pattern, len(moves)), 0, 0, bytesMax
	for i := range moves {
		p, err := b.pattern(&moves[i])
		if err != nil {
			return nil, fmt.Errorf("tensor %d (%s): %w", i, moves[i].Tensor, err)
		}
		if room -= moves[i].bytesMost(room); room < 0 {
			return nil, fmt.Errorf("more than 2^62 bytes up to tensor %d (%s), on all ranks that have it or get it; plan smaller tensors, or fewer at a time", i, moves[i].Tensor)
		}
		patterns[i], total, ranks = p, total+p.entries, max(ranks, p.ranks)
		if total > entriesMax {
			return nil, fmt.Errorf("more than %d entries up to tensor %d (%s); raise MaxEntryBytes, or plan fewer tensors at a time", entriesMax, i, moves[i].Tensor)
		}
	}
	plan := &Plan{Moves: moves, Options: options, Entries: make([]Entry, 0, total)}
	b.sent = make([]int64, ranks)
	for i, p := range patterns {
		plan.Entries = b.appendEntries(plan.Entries, uint32(i), &moves[i], p)
	}
	return plan, nil
}

func (o *Options) check() error {
	switch {
	case o.MaxEntryBytes < 0:
		return fmt.Errorf("MaxEntryBytes is %d; give 0 for no limit", o.MaxEntryBytes)
	case o.RanksPerNode < 0:
		return fmt.Errorf("RanksPerNode is %d; give 0 if all are on one node", o.RanksPerNode)
	case o.Split > PerRank:
		return fmt.Errorf("unknown split %d", o.Split)
	}
	return nil
}

// builder makes the entries of all tensors, one after the other.
type builder struct {
	options  Options
	patterns map[string]*pattern
	sent     []int64 // bytes that each rank is the source of so far
}

// appendEntries appends those of one tensor.
func (b *builder) appendEntries(entries []Entry, tensor uint32, m *Move, p *pattern) []Entry {
	number := uint32(0)
	for i := range p.cells {
		c := &p.cells[i]
		for j := range c.pieces {
			piece := &c.pieces[j]
			first := len(entries)
			for k := range c.transfers {
				t := &c.transfers[k]
				source := b.pick(t, piece.bytes())
				entries = append(entries, Entry{
					Tensor: tensor, Cell: number, Source: source.rank, Destinations: t.destinations, Parts: source.parts,
					Dtype:  m.Tensor.Dtype,
					Planes: piece.planes, Rows: piece.rows, RowBytes: piece.rowBytes, From: piece.from, To: piece.to,
				})
				if source.parts != nil {
					entries[len(entries)-1].Red = p.red
				}
			}
			if cell := entries[first:]; len(cell) > 1 {
				slices.SortFunc(cell, func(x, y Entry) int {
					return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Destinations[0], y.Destinations[0]))
				})
			}
			number++
		}
	}
	return entries
}

// pick chooses the candidate with the fewest bytes to send so far, of several
// the first, and counts the transfer. Copies in own memory do not count, but
// adding up what stays does: it is work, and is to be spread as well.
func (b *builder) pick(t *transfer, bytes int64) candidate {
	best := t.candidates[0]
	for _, c := range t.candidates[1:] {
		if b.sent[c.rank] < b.sent[best.rank] {
			best = c
		}
	}
	receivers := int64(len(t.destinations))
	if slices.Contains(t.destinations, best.rank) {
		receivers--
	}
	if best.parts != nil {
		receivers = max(receivers, 1)
	}
	b.sent[best.rank] += bytes * receivers
	return best
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
