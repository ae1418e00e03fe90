package traces

import (
	"slices"

	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// arrows gives numbers to what goes from one rank to another, by which its two
// ends find each other: a signal and the waits that it ends, and a send and its
// receive.
type arrows struct {
	signals map[slotOf][]uint64 // values that a slot was raised to, in order
	waits   map[slotOf][]uint64 // values that were waited for, in order, each once
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

// newArrows looks at all signals and waits of a run.
func newArrows(r *Run) *arrows {
	a := &arrows{make(map[slotOf][]uint64), make(map[slotOf][]uint64), make(map[channelEnd]uint64)}
	for _, log := range r.logs {
		for rec := range log.Records() {
			if rec.Status != flight.StatusOK || !believable(&rec) {
				continue
			}
			switch op.Kind(rec.Kind) {
			case op.Signal:
				key := slotTo(log.Rank, &rec)
				a.signals[key] = append(a.signals[key], rec.Bytes)
			case op.Wait:
				key := slotFrom(log.Rank, &rec)
				a.waits[key] = append(a.waits[key], rec.Bytes)
			}
		}
	}
	for key, values := range a.signals {
		slices.Sort(values)
		a.signals[key] = slices.Compact(values)
	}
	for key, values := range a.waits {
		slices.Sort(values)
		a.waits[key] = slices.Compact(values)
	}
	return a
}

// slotTo and slotFrom are the slot, or the channel, that a record of a rank
// names: towards its peer, or from it.
func slotTo(rank int, rec *flight.Record) slotOf   { return slotOf{int32(rank), rec.Peer, rec.Aux} }
func slotFrom(rank int, rec *flight.Record) slotOf { return slotOf{rec.Peer, int32(rank), rec.Aux} }

// endedBy gives the values waited for that are reached with this signal, and
// with none that raised the slot less. Nobody needs a signal to see 0.
func (a *arrows) endedBy(slot slotOf, value uint64) []uint64 {
	reached, before := a.signals[slot], uint64(0)
	if i, _ := slices.BinarySearch(reached, value); i > 0 {
		before = reached[i-1]
	}
	waits := a.waits[slot]
	from, found := slices.BinarySearch(waits, before)
	if found {
		from++
	}
	to, found := slices.BinarySearch(waits, value)
	if found {
		to++
	}
	return waits[from:max(from, to)]
}

// ends: a signal reached the value waited for.
func (a *arrows) ends(slot slotOf, value uint64) bool {
	reached := a.signals[slot]
	return value > 0 && len(reached) > 0 && reached[len(reached)-1] >= value
}

// position is the place of a send or a receive among those of its channel, 0
// for other records. The records of a rank must come in the order of its file.
func (a *arrows) position(rank int, rec *flight.Record) uint64 {
	switch op.Kind(rec.Kind) {
	case op.Send:
		return a.count(channelEnd{slotTo(rank, rec), false})
	case op.Recv:
		return a.count(channelEnd{slotFrom(rank, rec), true})
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
