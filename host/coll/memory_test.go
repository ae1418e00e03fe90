package coll

import (
	"fmt"

	"github.com/ccrun/ccrun/host/op"
)

// locate gives the cells of a place, if the actor may touch them now.
func (m *machine) locate(a *actor, r *round, p op.Place, bytes int64) ([]cell, error) {
	rank, size := int(p.Rank), int64(r.shape.Type.Size())
	if rank < 0 || rank >= m.ranks || p.Off%size != 0 || bytes%size != 0 || bytes <= 0 || p.Off < 0 {
		return nil, fmt.Errorf("place %+v of %d bytes is malformed", p, bytes)
	}
	if rank != a.rank && (!a.met[rank] || a.left) {
		return nil, fmt.Errorf("touches rank %d before meeting it or after leaving", rank)
	}
	limit, from := int64(0), p.Off/size
	memory := r.memory[rank]
	switch p.Area {
	case op.AreaIn:
		limit, from = r.shape.InBytes(rank), from+r.in[rank]
	case op.AreaOut:
		limit, from = r.shape.OutBytes(rank), from+r.out[rank]
	case op.AreaSlot:
		limit, memory = m.slotBytes, m.slot(rank, a.call)
		if p.Off+bytes > r.programs[a.rank].SlotBytes {
			return nil, fmt.Errorf("the program does not say that it uses the slot that far")
		}
	default:
		return nil, fmt.Errorf("unknown area")
	}
	if p.Off+bytes > limit {
		return nil, fmt.Errorf("place %+v of %d bytes lies outside %d", p, bytes, limit)
	}
	return memory[from : from+bytes/size], nil
}

func (m *machine) slot(rank, call int) []cell {
	slot := &m.slots[rank][call%places]
	if *slot == nil {
		*slot = make([]cell, m.slotBytes)
	}
	return *slot
}

// read checks that the cell's last write happened before.
func (m *machine) read(a *actor, c *cell) (uint64, error) {
	if c.call > 0 && m.clocks[a.rank][c.writer] < c.written {
		return 0, fmt.Errorf("race: reads what rank %d writes", c.writer)
	}
	if c.read == nil {
		c.read = make([]int32, m.ranks)
	}
	c.read[a.rank] = m.clocks[a.rank][a.rank]
	return c.value, nil
}

// write checks that all earlier accesses happened before.
func (m *machine) write(a *actor, c *cell, value uint64) error {
	if c.call > 0 && m.clocks[a.rank][c.writer] < c.written {
		return fmt.Errorf("race: writes what rank %d writes", c.writer)
	}
	for rank, tick := range c.read {
		if m.clocks[a.rank][rank] < tick {
			return fmt.Errorf("race: writes what rank %d reads", rank)
		}
	}
	c.value, c.call, c.writer, c.written = value, a.call, a.rank, m.clocks[a.rank][a.rank]
	return nil
}

func (m *machine) move(a *actor, r *round, s *op.Step) error {
	row := Of(r.shape.Collective)
	if n := len(s.Sources); n < 1 || n > op.MaxSources || n > 1 && !row.Reduces {
		return fmt.Errorf("%d sources", n)
	}
	if n := len(s.Dests); n < 1 || n > op.MaxSources {
		return fmt.Errorf("%d destinations", n)
	}
	values, err := m.gather(a, r, s)
	if err != nil {
		return err
	}
	for _, place := range s.Dests {
		if place.Area == op.AreaIn {
			return fmt.Errorf("writes an input")
		}
		cells, err := m.locate(a, r, place, s.Bytes)
		if err != nil {
			return err
		}
		for i := range cells {
			if err := m.write(a, &cells[i], values[i]); err != nil {
				return fmt.Errorf("destination %+v, element %d: %w", place, i, err)
			}
		}
	}
	return nil
}

// gather combines the sources of a step.
func (m *machine) gather(a *actor, r *round, s *op.Step) ([]uint64, error) {
	values := make([]uint64, s.Bytes/int64(r.shape.Type.Size()))
	for k, place := range s.Sources {
		cells, err := m.locate(a, r, place, s.Bytes)
		if err != nil {
			return nil, err
		}
		if err := m.apart(a, r, s, place); err != nil {
			return nil, err
		}
		for i := range cells {
			v, err := m.read(a, &cells[i])
			if err != nil {
				return nil, fmt.Errorf("source %+v, element %d: %w", place, i, err)
			}
			if place.Area == op.AreaSlot && cells[i].call != a.call {
				return nil, fmt.Errorf("source %+v: what call %d has left there", place, cells[i].call)
			}
			if k > 0 {
				v = m.combine(values[i], v)
			}
			values[i] = v
		}
	}
	for i := range values {
		if s.Last {
			values[i] = m.divide(values[i])
		}
	}
	return values, nil
}

// apart checks that a source is a destination or overlaps none.
func (m *machine) apart(a *actor, r *round, s *op.Step, source op.Place) error {
	from, err := m.locate(a, r, source, s.Bytes)
	if err != nil {
		return err
	}
	for _, dest := range s.Dests {
		to, err := m.locate(a, r, dest, s.Bytes)
		if err != nil {
			return err
		}
		for i := range to {
			if &to[i] == &from[0] && i > 0 || &from[i] == &to[0] && i > 0 {
				return fmt.Errorf("source %+v overlaps destination %+v", source, dest)
			}
		}
	}
	return nil
}

// take moves what a peer sends to this rank.
func (m *machine) take(a *actor, r *round, peer int) error {
	if peer != a.rank && (!a.met[peer] || a.left) {
		return fmt.Errorf("takes before meeting the rank or after leaving")
	}
	from, to := r.in[peer], r.out[a.rank]
	for rank := range a.rank {
		from += r.counts[peer][rank]
	}
	for rank := range peer {
		to += r.counts[rank][a.rank]
	}
	for i := range r.counts[peer][a.rank] {
		v, err := m.read(a, &r.memory[peer][from+i])
		if err != nil {
			return err
		}
		if err := m.write(a, &r.memory[a.rank][to+i], v); err != nil {
			return err
		}
	}
	return nil
}

// finish ends a rank's call: its output is the result, and its memory is its
// own again, to be overwritten.
func (m *machine) finish(a *actor, r *round) error {
	size := int64(r.shape.Type.Size())
	outs := r.shape.OutBytes(a.rank) / size
	if r.counts != nil {
		outs = int64(len(r.memory[a.rank])) - r.out[a.rank]
	}
	for i := range outs {
		v, err := m.read(a, &r.memory[a.rank][r.out[a.rank]+i])
		if err != nil {
			return fmt.Errorf("call %d: rank %d reads its result: %w", a.call, a.rank, err)
		}
		r.results[a.rank] = append(r.results[a.rank], v)
	}
	for i := range r.memory[a.rank] {
		if err := m.write(a, &r.memory[a.rank][i], 0xdead); err != nil {
			return fmt.Errorf("call %d: rank %d uses its memory again: %w", a.call, a.rank, err)
		}
	}
	if r.programs[a.rank].Met && a.settled == a.call-1 {
		a.settled = a.call
	}
	a.call, a.step, a.left = a.call+1, 0, false
	clear(a.met)
	return nil
}
