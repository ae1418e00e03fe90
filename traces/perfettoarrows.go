package traces

import (
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// arrows gives numbers to what goes from one rank to another, by which its two
// ends find each other: a signal and the wait that it ends, and a send and its
// receive.
type arrows struct {
	signals map[slotOf][]uint64 // values that a slot was raised to, in order
	counts  map[channelEnd]uint64
}

// slotOf is a slot of one rank that another raises.
type slotOf struct {
	source, dest int32
	slot         uint32
}

// channelEnd is one end of a channel. Sends and receives of a channel are
// matched in order.
type channelEnd struct {
	slotOf
	receives bool
}

// newArrows looks at all signals of a run.
func newArrows(r *Run) *arrows {
	a := &arrows{signals: make(map[slotOf][]uint64), counts: make(map[channelEnd]uint64)}
	for _, log := range r.logs {
		for rec := range log.Records() {
			if op.Kind(rec.Kind) == op.Signal && rec.Status == flight.StatusOK && believable(&rec) {
				key := slotOf{int32(log.Rank), rec.Peer, rec.Aux}
				a.signals[key] = append(a.signals[key], rec.Bytes)
			}
		}
	}
	for _, values := range a.signals {
		slices.Sort(values)
	}
	return a
}

// of is the number of the arrow that begins or ends at a record, 0 for none.
// The records of a rank must come in the order of its file.
func (a *arrows) of(rank int, rec *flight.Record) uint64 {
	if rec.Peer < 0 {
		return 0
	}
	out, in := slotOf{int32(rank), rec.Peer, rec.Aux}, slotOf{rec.Peer, int32(rank), rec.Aux}
	switch op.Kind(rec.Kind) {
	case op.Signal:
		if rec.Status == flight.StatusOK {
			return out.number(op.Signal, rec.Bytes)
		}
	case op.Wait:
		values := a.signals[in]
		if i, _ := slices.BinarySearch(values, rec.Bytes); i < len(values) && rec.Status == flight.StatusOK {
			return in.number(op.Signal, values[i])
		}
	case op.Send:
		return out.number(op.Send, a.count(channelEnd{out, false}))
	case op.Recv:
		return in.number(op.Send, a.count(channelEnd{in, true}))
	}
	return 0
}

// count counts the sends or receives at one end of a channel.
func (a *arrows) count(end channelEnd) uint64 {
	a.counts[end]++
	return a.counts[end]
}

// number mixes what both ends of an arrow know.
func (s slotOf) number(kind op.Kind, value uint64) uint64 {
	h := mix(uint64(uint32(s.source))<<32 | uint64(uint32(s.dest)))
	h = mix(h ^ (uint64(kind)<<32 | uint64(s.slot)))
	return max(1, mix(h^value))
}
