package coll

import "github.com/ccrun/ccrun/host/op"

// at is a place in elements of the call's type.
func (p *planner) at(rank int, area op.Area, element int64) op.Place {
	return op.Place{Rank: int32(rank), Area: area, Off: element * p.size}
}

func (p *planner) in(rank int, element int64) op.Place  { return p.at(rank, op.AreaIn, element) }
func (p *planner) out(rank int, element int64) op.Place { return p.at(rank, op.AreaOut, element) }

// slot is a place in a rank's slot, in bytes. It notes what is used.
func (p *planner) slot(rank int, off, bytes int64) op.Place {
	p.program.SlotBytes = max(p.program.SlotBytes, off+bytes)
	return op.Place{Rank: int32(rank), Area: op.AreaSlot, Off: off}
}

// everyRank gives the same place of all ranks, in rank order.
func (p *planner) everyRank(place op.Place) []op.Place {
	all := make([]op.Place, p.Ranks)
	for rank := range all {
		all[rank] = place
		all[rank].Rank = int32(rank)
	}
	return all
}

// cut copies places to where the program keeps them.
func (p *planner) cut(places []op.Place) []op.Place {
	const allotment = 256
	if len(places) > cap(p.places)-len(p.places) {
		p.places = make([]op.Place, 0, max(allotment, len(places)))
	}
	from := len(p.places)
	p.places = append(p.places, places...)
	return p.places[from:len(p.places):len(p.places)]
}

// after is the place some bytes further on.
func after(place op.Place, bytes int64) op.Place {
	place.Off += bytes
	return place
}

// allAfter are the places some bytes further on.
func allAfter(places []op.Place, bytes int64) []op.Place {
	moved := make([]op.Place, len(places))
	for i := range places {
		moved[i] = after(places[i], bytes)
	}
	return moved
}

// span is a range of elements.
type span struct{ from, to int64 }

func (s span) count() int64 { return s.to - s.from }

// shardLineBytes is what boundaries between large shards are multiples of, so
// that two ranks do not write to one cache line, nor to a pair of them.
const (
	shardLineBytes = 128
	shardBytesMin  = 4096 // shards below this are cut as evenly as possible
)

// shard is the share of a rank in count elements.
func (p *planner) shard(rank int, count int64) span {
	n, unit := int64(p.Ranks), int64(1)
	if count*p.size/n >= shardBytesMin {
		unit = shardLineBytes / p.size
	}
	units := (count + unit - 1) / unit
	whole, rest := units/n, units%n // the first rest shards have one unit more
	from := whole*int64(rank) + min(int64(rank), rest)
	to := from + whole
	if int64(rank) < rest {
		to++
	}
	return span{min(from*unit, count), min(to*unit, count)}
}
