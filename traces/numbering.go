package traces

import (
	"cmp"
	"slices"

	"github.com/ccrun/ccrun/host/flight"
)

// collectiveKey is what all ranks of a communicator agree on: the k-th
// collective that it begins, from 1.
type collectiveKey struct {
	group    uint16
	sequence uint32
}

// numbering turns the sequence numbers of ranks into keys. A rank numbers its
// collectives in the order in which it begins them, whatever their group, so
// ranks that are in different groups give the same collective different
// numbers.
type numbering struct {
	group  uint16 // the only group of the run
	groups bool   // the run has several
}

// newNumbering looks at what all ranks recorded of their collectives.
func newNumbering(marks [][]flight.Record) numbering {
	var n numbering
	first := true
	for _, list := range marks {
		for i := range list {
			if first {
				n.group, first = list[i].Group, false
			}
			n.groups = n.groups || list[i].Group != n.group
		}
	}
	return n
}

// keys gives the keys of a rank's marks, in order of begin. With one group the
// rank's own number is the key. With several, what follows a number without a
// mark has none, since nobody can say in which group that number counts.
func (n numbering) keys(marks []flight.Record) []collectiveKey {
	keys := make([]collectiveKey, 0, len(marks))
	counts := make(map[uint16]uint32)
	for i := range marks {
		m := &marks[i]
		if !n.groups {
			keys = append(keys, collectiveKey{n.group, m.Collective})
			continue
		}
		if m.Collective != uint32(i)+1 {
			break
		}
		counts[m.Group]++
		keys = append(keys, collectiveKey{m.Group, counts[m.Group]})
	}
	return keys
}

// unmarked is the key of a collective that the rank did not live to record.
func (n numbering) unmarked(sequence uint32) (key collectiveKey, ok bool) {
	return collectiveKey{n.group, sequence}, !n.groups
}

// marksOf gives a rank's records of its collectives, in order of begin, each
// once.
func marksOf(log *flight.Log) []flight.Record {
	var marks []flight.Record
	for rec := range log.Records() {
		if isCollective(&rec) && rec.Collective != 0 && believable(&rec) {
			marks = append(marks, rec)
		}
	}
	slices.SortStableFunc(marks, func(a, b flight.Record) int { return cmp.Compare(a.Collective, b.Collective) })
	return slices.CompactFunc(marks, func(a, b flight.Record) bool { return a.Collective == b.Collective })
}
