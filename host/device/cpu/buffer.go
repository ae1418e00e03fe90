package cpu

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// buffer is a range of an arena, this rank's or an imported peer's.
type buffer struct {
	device     *Device
	arena      *arena
	peer       int // -1 for an own buffer
	allocation uint32
	generation uint32
	offset     int64 // in the arena
	mem        []byte
	freed      bool // given back by the guest
	taken      block
}

// Size is the length in bytes.
func (b *buffer) Size() int64 { return int64(len(b.mem)) }

// Peer is the rank whose memory this is, or -1.
func (b *buffer) Peer() int { return b.peer }

// alive reports whether the owner has not freed the allocation.
func (b *buffer) alive() bool { return b.arena.generation(b.allocation).Load() == b.generation }

// remote reports whether the memory is another rank's.
func (b *buffer) remote() bool { return b.peer >= 0 && b.peer != b.device.rank }

// enter pins an imported buffer for one operation and reports whether it is
// alive; an own buffer needs no pin, because Free sees the queues that use it.
// The pin is written before the generation is read, and Free bumps the
// generation before it reads the pins: so either the operation sees that the
// buffer is gone, or Free sees that it is in use.
func (b *buffer) enter(lane, word int) bool {
	if b.peer < 0 {
		return true
	}
	pin := b.arena.pin(b.device.rank, lane, word)
	pin.Store(uint64(b.allocation) + 1)
	if b.alive() {
		return true
	}
	pin.Store(0)
	return false
}

// leave takes the pin back.
func (b *buffer) leave(lane, word int) {
	if b.peer >= 0 {
		b.arena.pin(b.device.rank, lane, word).Store(0)
	}
}

// memory is the bookkeeping of what this rank has allocated. Generations are
// kept here too, out of reach of peers.
type memory struct {
	heap        heap
	limit       int64
	used        int64    // blocks, those that wait for their last user included
	generations []uint32 // by allocation slot
	unused      []uint32 // slots given back
	leaving     []leaving
}

// leaving is a freed buffer that operations may still use.
type leaving struct {
	b     *buffer
	until []position
}

// position is a place in a stream.
type position struct {
	stream *stream
	done   uint64
}

func newMemory(heapBytes, limit int64) memory { return memory{heap: newHeap(heapBytes), limit: limit} }

// slot gives an allocation slot, whose generation is one that it never had.
func (m *memory) slot() (uint32, bool) {
	if n := len(m.unused); n > 0 {
		slot := m.unused[n-1]
		m.unused = m.unused[:n-1]
		return slot, true
	}
	if len(m.generations) == maxAllocations {
		return 0, false
	}
	m.generations = append(m.generations, 1)
	return uint32(len(m.generations) - 1), true
}

// Alloc gives a zeroed buffer.
func (d *Device) Alloc(bytes int64) (op.Buffer, error) {
	if d.closed {
		return nil, device.ErrClosed
	}
	if bytes < 0 {
		return nil, op.ErrRange
	}
	d.reclaim()
	m := &d.memory
	var taken block
	if bytes > 0 {
		var err error
		if taken, err = d.takeBlock(bytes); err != nil {
			return nil, err
		}
	}
	slot, ok := m.slot()
	if !ok {
		d.giveBlock(taken)
		return nil, fmt.Errorf("%d buffers: %w", maxAllocations, device.ErrTooMany)
	}
	offset := d.own.heap + taken.offset
	b := &buffer{
		device: d, arena: d.own, peer: -1, allocation: slot, generation: m.generations[slot],
		offset: offset, mem: d.own.mem[offset:][:bytes:bytes], taken: taken,
	}
	d.own.generation(slot).Store(b.generation)
	if d.recorder != nil {
		d.recorder.CountBuffer(bytes)
	}
	return b, nil
}

// takeBlock finds zeroed memory within the limit. If only buffers that are
// just leaving stand in the way, it waits for them a little.
func (d *Device) takeBlock(bytes int64) (block, error) {
	m, used := &d.memory, d.memory.used
	if bytes > m.limit {
		return block{}, m.refuse(bytes, used)
	}
	const patienceNanos = int64(parkNanos * 2)
	for deadline := d.Now() + patienceNanos; ; runtime.Gosched() {
		if need := blockBytes(bytes); m.used+need <= m.limit || need > m.limit && m.used == 0 {
			taken, ok := m.heap.take(bytes)
			if ok {
				m.used += taken.bytes
				return d.clean(taken)
			}
		}
		if len(m.leaving) == 0 || d.Now() >= deadline {
			return block{}, m.refuse(bytes, used)
		}
		schedYield()
		d.reclaim()
	}
}

func (m *memory) refuse(bytes, used int64) error {
	return fmt.Errorf("%d bytes (%d of %d in use): %w", bytes, used, m.limit, device.ErrNoMemory)
}

// clean makes a block zero and, if it is large, present.
func (d *Device) clean(b block) (block, error) {
	offset := d.own.heap + b.offset
	if b.bytes < largeBytes {
		clear(d.own.mem[offset:][:b.bytes])
		return b, nil
	}
	if b.dirty {
		if err := d.own.punch(offset, b.bytes); err != nil {
			clear(d.own.mem[offset:][:b.bytes])
		}
	}
	if err := d.own.populate(offset, b.bytes, populateWrite); err != nil {
		_ = d.own.punch(offset, b.bytes)
		d.giveBlock(b)
		return block{}, fmt.Errorf("%w: %w", device.ErrNoMemory, err)
	}
	return b, nil
}

func (d *Device) giveBlock(b block) {
	if b.bytes == 0 {
		return
	}
	b.dirty = true
	if b.bytes >= largeBytes && d.own.punch(d.own.heap+b.offset, b.bytes) == nil {
		b.dirty = false
	}
	d.memory.used -= b.bytes
	d.memory.heap.give(b)
}

// Free gives a buffer back, own or imported.
func (d *Device) Free(buf op.Buffer) error {
	if d.closed {
		return device.ErrClosed
	}
	b, ok := buf.(*buffer)
	if !ok || b == nil || b.device != d {
		return device.ErrForeign
	}
	if b.freed {
		return device.ErrStale
	}
	b.freed = true
	if b.peer >= 0 {
		return nil
	}
	m := &d.memory
	m.generations[b.allocation]++
	d.own.generation(b.allocation).Store(m.generations[b.allocation])
	if d.recorder != nil {
		d.recorder.CountBuffer(-b.Size())
	}
	m.leaving = append(m.leaving, leaving{b, d.usersOf(b)})
	d.reclaim()
	return nil
}

// usersOf finds the last queued operation of each stream that uses b.
func (d *Device) usersOf(b *buffer) []position {
	var until []position
	for i := range d.streams {
		s := d.streams[i].Load()
		if s == nil {
			continue
		}
		if at, ok := s.lastUse(b); ok {
			until = append(until, position{s, at})
		}
	}
	return until
}

// reclaim gives the memory of freed buffers back that nobody uses any more.
func (d *Device) reclaim() {
	d.comms.reclaim(d)
	m := &d.memory
	m.leaving = slices.DeleteFunc(m.leaving, func(l leaving) bool {
		for _, p := range l.until {
			if p.stream.done.value.Load() < p.done {
				return false
			}
		}
		if d.own.pinned(l.b.allocation) {
			return false
		}
		d.giveBlock(l.b.taken)
		if m.generations[l.b.allocation] != 0 { // a slot whose generations are used up is not used again
			m.unused = append(m.unused, l.b.allocation)
		}
		return true
	})
}

// pinned reports whether an operation of any rank uses the allocation.
func (a *arena) pinned(allocation uint32) bool {
	for peer := range a.ranks {
		lanes := int(min(a.presence(peer).Load(), laneCount))
		for lane := range lanes {
			for word := range pinWords {
				if a.pin(peer, lane, word).Load() == uint64(allocation)+1 {
					return true
				}
			}
		}
	}
	return false
}

// use checks that a buffer is this device's and alive.
func (d *Device) use(buf op.Buffer) (*buffer, error) {
	b, ok := buf.(*buffer)
	if !ok || b == nil || b.device != d {
		return nil, device.ErrForeign
	}
	if b.freed || !b.alive() {
		return nil, device.ErrStale
	}
	return b, nil
}

// Read copies len(dst) bytes from src to the guest.
func (d *Device) Read(dst []byte, src op.View) error {
	b, part, err := d.reach(src, len(dst))
	if err != nil {
		return err
	}
	copy(dst, part)
	b.leave(0, 0)
	return nil
}

// Write copies len(src) bytes from the guest to dst.
func (d *Device) Write(dst op.View, src []byte) error {
	b, part, err := d.reach(dst, len(src))
	if err != nil {
		return err
	}
	copy(part, src)
	b.leave(0, 0)
	return nil
}

// reach pins n bytes of a buffer for the guest's own thread.
func (d *Device) reach(v op.View, n int) (*buffer, []byte, error) {
	if d.closed {
		return nil, nil, device.ErrClosed
	}
	b, err := d.use(v.Buf)
	if err != nil {
		return nil, nil, err
	}
	if v.Off < 0 || int64(n) > b.Size() || v.Off > b.Size()-int64(n) {
		return nil, nil, op.ErrRange
	}
	if !b.enter(0, 0) {
		return nil, nil, device.ErrStale
	}
	return b, b.mem[v.Off:][:n], nil
}
