package sim

import (
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// slot is a signal slot of a rank: a number that one peer raises.
type slot struct {
	value   uint64
	waiters []slotWaiter
}

type slotWaiter struct {
	stream *stream
	value  uint64
}

// letter is a signal on its way, or a message.
type letter struct {
	to    int32
	from  int32
	slot  uint32
	value uint64
	mail  *message
}

func (d *Device) slot(peer int, number uint32) *slot {
	key := uint64(peer)<<32 | uint64(number)
	if d.near != nil && d.nearKey == key {
		return d.near
	}
	s := d.slots[key]
	if s == nil {
		s = new(slot)
		d.slots[key] = s
	}
	d.near, d.nearKey = s, key
	return s
}

// drop forgets a stream that waits.
func (s *slot) drop(who *stream) {
	for i := range s.waiters {
		if s.waiters[i].stream == who {
			s.waiters = append(s.waiters[:i], s.waiters[i+1:]...)
			return
		}
	}
}

// raise carries a signal out. If another operation follows, the time that the
// flag's write takes is no event: that operation begins when it is over.
func (s *stream) raise(t *task) (done bool) {
	c := s.cluster
	takes := c.machine.raisePicos()
	if !s.early(t) && (takes > 0 || s.device.ending != nil) {
		s.work(t)
		return false
	}
	s.free = t.start + takes
	c.send(s.device, t, s.free)
	s.finish(t, flight.StatusOK)
	return true
}

// send puts a signal on its way that leaves at the given time.
func (c *Cluster) send(d *Device, t *task, leaves int64) {
	id := c.letters.take()
	*c.letters.at(id) = letter{to: t.peer, from: int32(d.rank), slot: t.slot, value: t.value}
	c.plan(leaves+c.machine.signalPicos(d.rank, int(t.peer)), evSignal, uint32(id))
}

// deliver raises the slot that a signal is for.
func (c *Cluster) deliver(id int32) {
	l := *c.letters.at(id)
	c.letters.give(id)
	d := c.devices[l.to]
	s := d.slot(int(l.from), l.slot)
	if l.value <= s.value {
		return
	}
	s.value = l.value
	if d.waiting && d.wait.kind == op.SyncAny {
		d.lookAtSignal(int(l.from), l.slot, s.value)
	}
	for i := 0; i < len(s.waiters); {
		w := s.waiters[i]
		if w.value > s.value {
			i++
			continue
		}
		s.waiters = append(s.waiters[:i], s.waiters[i+1:]...)
		w.stream.raised()
	}
}

// awaitSlot begins a wait for a signal.
func (s *stream) awaitSlot(t *task) (done bool) {
	slot := s.device.slot(int(t.peer), t.slot)
	s.free = max(s.free, t.start)
	if slot.value >= t.value {
		s.finish(t, flight.StatusOK)
		return true
	}
	s.block()
	slot.waiters = append(slot.waiters, slotWaiter{s, t.value})
	return false
}

// raised ends a wait for a signal.
func (s *stream) raised() {
	s.blocked = false
	s.finish(s.at(s.head), flight.StatusOK)
	s.cluster.makeReady(s)
}

// SignalValue is the value of the slot that peer raises here.
func (d *Device) SignalValue(peer int, number uint32) (uint64, error) {
	defer d.leave(d.enter())
	if d.closed {
		return 0, device.ErrClosed
	}
	if err := d.checkSlot(peer, number); err != nil {
		return 0, err
	}
	d.charge()
	if c := d.cluster; c.preset.Machine == preset.Cores {
		// What a rank has raised can be seen at once there, and to look takes as long
		// as a flag is on its way: so nothing that follows from it is seen before it.
		d.host += c.machine.signalPicos(peer, d.rank)
	}
	d.catchUp()
	d.looked()
	return d.slot(peer, number).value, nil
}

func (d *Device) checkSlot(peer int, number uint32) error {
	if peer < 0 || peer >= d.cluster.ranks {
		return fmt.Errorf("rank %d of %d: %w", peer, d.cluster.ranks, device.ErrPeer)
	}
	if number >= signalSlots {
		return fmt.Errorf("signal slot %d of %d: %w", number, signalSlots, device.ErrSlot)
	}
	return nil
}
