package sim

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// publishWaits writes what every rank and every stream waits for into the lanes
// of the ranks' recorders, and gives the ranks whose bodies have not ended. What
// is under way counts as a wait only if it can never end.
func (c *Cluster) publishWaits(deadlocked bool) (live []int) {
	for rank, d := range c.devices {
		if rank < len(c.coroutines) && !c.coroutines[rank].ended {
			live = append(live, rank)
		}
		if d == nil || d.recorder == nil {
			continue
		}
		if d.waiting && d.wait.kind != op.None && d.wait.key == "" { // who waits for a key has told more
			d.recorder.BeginWait(0, d.guestWaits())
		}
		for _, s := range d.streams {
			if s != nil && s.head < s.tail && s.failed == nil {
				if w, ok := s.waits(deadlocked); ok {
					d.recorder.BeginWait(s.number, w)
				}
			}
		}
	}
	return live
}

// guestWaits is what the rank's own thread waits for.
func (d *Device) guestWaits() flight.Wait {
	c, w := d.cluster, &d.wait
	out := flight.Wait{Kind: uint8(w.kind), Peer: w.peer, Since: d.time() / picosPerNano, Value: w.target, Limited: d.limited}
	switch {
	case w.stream != nil:
		out.Peer, out.Slot = -1, uint32(w.stream.number)
	case w.kind == op.Barrier:
		out.Peer, out.Seen = c.laggard(w.target)
	case w.kind == op.SyncAny:
		if p, alone := device.FirstSignal(w.points); p != nil {
			out.Peer, out.Slot, out.Value, out.Seen = p.Peer, p.Slot, p.Value, d.slot(p.Peer, p.Slot).value
			if !alone {
				out.Name = flight.OrOthers
			}
		}
	case w.joined != nil:
		out.Peer, out.Name = w.joined.missing(), "communicator "+w.joined.name
	}
	return out
}

// waits is what the head of a stream waits for, if for anybody.
func (s *stream) waits(deadlocked bool) (flight.Wait, bool) {
	t := s.at(s.head)
	if s.talking {
		t = s.unfinishedMessage()
	}
	w := flight.Wait{Kind: uint8(t.kind), Peer: int(t.peer), Slot: t.slot, Value: t.value, Since: t.start / picosPerNano}
	switch t.kind {
	case op.Wait:
		w.Seen = s.device.slot(int(t.peer), t.slot).value
	case op.Send, op.Recv:
	case op.EventWait:
		w.Peer = -1
	case op.CollectiveCall:
		s.callWaits(t, &w)
	default:
		if !deadlocked {
			return w, false
		}
		w.Peer = t.otherEnd() // it hangs
	}
	return w, true
}

// callWaits says whom a call waits for.
func (s *stream) callWaits(t *task, w *flight.Wait) {
	c := t.extra.comm
	w.Peer, w.Value, w.Slot = -1, uint64(t.extra.call.Collective), t.term.Collective
	for _, state := range c.group.calls {
		switch {
		case state.runs != nil && state.runs[c.rank] != nil && !state.runs[c.rank].ended:
			if r := state.runs[c.rank]; r.blocker() >= 0 {
				w.Peer, w.Value = c.group.ranks[r.blocker()], uint64(r.call.Collective)
				w.Name = op.Algorithm(r.call.Algorithm).String()
				return
			}
		case state.in[c.rank] && state.entered < len(state.in) && w.Peer < 0:
			w.Peer = c.group.ranks[state.missing()]
		}
	}
}
