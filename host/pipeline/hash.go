package pipeline

import (
	"fmt"
	"strings"
)

// Hash is of all that ranks must agree on: how many there are, their entries,
// which of these share a bucket, and the order of buckets.
func (p *Plan) Hash() uint64 {
	h := digest(0).add(uint64(p.Ranks)).add(uint64(len(p.Entries)))
	for i := range p.Entries {
		h = h.add(p.EntryHash(i))
	}
	return uint64(h)
}

// EntryHash is of one entry and its bucket's place, which no other bucket has:
// ranks whose plans differ find an entry by it that does.
func (p *Plan) EntryHash(i int) uint64 {
	return uint64(digest(p.AloneHash(i)).add(uint64(p.Buckets[p.bucketOf[i]].Place)))
}

// AloneHash is of one entry, whatever its bucket: an entry that differs in itself
// is the cause where others have got other places by it.
func (p *Plan) AloneHash(i int) uint64 {
	e := &p.Entries[i]
	h := digest(0).add(uint64(e.Source)).ranks(e.Destinations).ranks(e.Parts)
	h = h.add(uint64(e.Type)).add(uint64(e.Red)).add(uint64(e.Transport)).add(uint64(e.Tensor)).add(uint64(e.Cell))
	return uint64(h.add(uint64(e.Planes)).add(uint64(e.Rows)).add(uint64(e.RowBytes)))
}

// digest mixes numbers in one after the other.
type digest uint64

func (d digest) add(v uint64) digest {
	x := (uint64(d) ^ v) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return digest(x ^ x>>31)
}

func (d digest) ranks(list []int32) digest {
	d = d.add(uint64(len(list)))
	for _, rank := range list {
		d = d.add(uint64(rank))
	}
	return d
}

// Describe says in one line what an entry is and where it travels.
func (p *Plan) Describe(i int) string {
	e, bucket := &p.Entries[i], p.bucketOf[i]
	var s strings.Builder
	fmt.Fprintf(&s, "entry %d (tensor %d, cell %d): rank %d ->", i, e.Tensor, e.Cell, e.Source)
	listRanks(&s, e.Destinations)
	if len(e.Parts) > 0 {
		fmt.Fprintf(&s, ", %v of %v parts of", e.Red, e.Type)
		listRanks(&s, e.Parts)
	}
	fmt.Fprintf(&s, ", %d bytes (%dx%dx%d), %v, bucket %d at place %d",
		e.Bytes(), e.Planes, e.Rows, e.RowBytes, e.Transport, bucket, p.Buckets[bucket].Place)
	return s.String()
}

// listRanks writes a list of ranks, of a long one its beginning.
func listRanks(s *strings.Builder, list []int32) {
	const shown = 16
	for i, rank := range list {
		if i == shown {
			fmt.Fprintf(s, " and %d more", len(list)-shown)
			return
		}
		fmt.Fprintf(s, " %d", rank)
	}
}
