package pipeline

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/ccrun/ccrun/host/op"
)

// Plan is how entries travel: a function of the entries alone, so that all
// ranks that have the same entries have the same plan.
type Plan struct {
	Ranks    int
	Entries  []Entry
	Buckets  []Bucket  // by number: in the order in which they were formed
	Channels []Channel // by number: in the order of their first entries
	Order    []int32   // the bucket at each place
	Bytes    int64     // of all entries

	bucketOf []int32 // by entry
}

// Bucket is entries that travel together.
type Bucket struct {
	Channel int32
	Place   int32   // in the order in which buckets are admitted
	Entries []int32 // ascending
	Bytes   int64
}

// Channel is buckets that go the same way. A rank has few of them in flight, in
// the order of their places.
type Channel struct {
	Source       int32
	Destinations []int32
	Parts        []int32
	Type         op.Dtype // of parts
	Red          op.RedOp // of parts
	Transport    Transport
	Cell         uint32  // if there are parts and they stay at the source
	Buckets      []int32 // as they were formed
}

// Build joins entries to buckets and channels and puts the buckets in an order
// that lets ranks work at the same time. Entries of a channel are joined until a bucket has
// bucketBytes; an entry that has as many is a bucket of its own, and if
// bucketBytes is 0 each one is. The plan keeps the entries, which must not
// change any more. Errors name the entry.
func Build(ranks int, entries []Entry, bucketBytes int64) (*Plan, error) {
	p := &Plan{Ranks: ranks, Entries: entries, bucketOf: make([]int32, len(entries))}
	if ranks < 1 || ranks > math.MaxInt32 || len(entries) > math.MaxInt32 || bucketBytes < 0 {
		return nil, fmt.Errorf("%d entries among %d ranks in buckets of %d bytes cannot be planned", len(entries), ranks, bucketBytes)
	}
	for i := range entries {
		err := entries[i].check(ranks)
		if err == nil && p.Bytes > math.MaxInt64-entries[i].Bytes() {
			err = fmt.Errorf("all entries up to it have more bytes than can be counted")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d (tensor %d, cell %d): %w", i, entries[i].Tensor, entries[i].Cell, err)
		}
		p.Bytes += entries[i].Bytes()
	}
	p.join(bucketBytes)
	p.fill()
	p.takeTurns()
	return p, nil
}

// join finds the channel and the bucket of each entry. Buckets are numbered as
// they are closed, the last ones of the channels at the end.
func (p *Plan) join(bucketBytes int64) {
	var key []byte
	known := make(map[string]int32)
	var open []int32           // by channel: the bucket that takes more entries, -1 for none
	var opened, closed []int32 // channels of buckets as opened; buckets as closed
	var bytes []int64
	for i := range p.Entries {
		e := &p.Entries[i]
		key = e.key(key[:0])
		channel, ok := known[string(key)]
		if !ok {
			channel = int32(len(p.Channels))
			known[string(key)] = channel
			p.Channels, open = append(p.Channels, e.channel()), append(open, -1)
		}
		size := e.Bytes()
		whole := bucketBytes == 0 || size >= bucketBytes
		b := open[channel]
		if whole || b < 0 {
			b = int32(len(opened))
			opened, bytes = append(opened, channel), append(bytes, 0)
		}
		p.bucketOf[i] = b
		bytes[b] += size
		switch {
		case whole:
			closed = append(closed, b)
		case bytes[b] >= bucketBytes:
			closed, open[channel] = append(closed, b), -1
		default:
			open[channel] = b
		}
	}
	for _, b := range open {
		if b >= 0 {
			closed = append(closed, b)
		}
	}
	p.Buckets = make([]Bucket, len(closed))
	number := make([]int32, len(closed))
	for n, b := range closed {
		number[b] = int32(n)
		p.Buckets[n] = Bucket{Channel: opened[b], Bytes: bytes[b]}
	}
	for i, b := range p.bucketOf {
		p.bucketOf[i] = number[b]
	}
}

// fill lists the entries of each bucket and the buckets of each channel.
func (p *Plan) fill() {
	entries := group(len(p.Buckets), len(p.Entries), func(i int) int32 { return p.bucketOf[i] })
	for b := range p.Buckets {
		p.Buckets[b].Entries = entries[b]
	}
	buckets := group(len(p.Channels), len(p.Buckets), func(b int) int32 { return p.Buckets[b].Channel })
	for c := range p.Channels {
		p.Channels[c].Buckets = buckets[c]
	}
}

// group lists, for each of so many groups, those of so many members that belong
// to it, ascending.
func group(groups, members int, of func(member int) int32) [][]int32 {
	count := make([]int32, groups)
	for i := range members {
		count[of(i)]++
	}
	all, lists := make([]int32, members), make([][]int32, groups)
	for g, n := range count {
		lists[g], all = all[:0:n], all[n:]
	}
	for i := range members {
		g := of(i)
		lists[g] = append(lists[g], int32(i))
	}
	return lists
}

// SetOrder sets the order in which buckets are admitted: the number of each
// bucket once. All ranks must set the same. Tasks and machines that were made
// before keep the order that they were made with.
func (p *Plan) SetOrder(order []uint32) error {
	if len(order) != len(p.Buckets) {
		return fmt.Errorf("an order of %d buckets does not fit a plan of %d: name each bucket once", len(order), len(p.Buckets))
	}
	at := make([]int32, len(order))
	for place, b := range order {
		if int(b) >= len(order) {
			return fmt.Errorf("place %d of the order names bucket %d, of %d: buckets are numbered from 0", place, b, len(order))
		}
		if at[b] > 0 {
			return fmt.Errorf("places %d and %d of the order both name bucket %d: name each bucket once", at[b]-1, place, b)
		}
		at[b] = int32(place) + 1
	}
	p.Order = make([]int32, len(order))
	for place, b := range order {
		p.Order[place] = int32(b)
	}
	p.place()
	return nil
}

func (p *Plan) place() {
	for place, b := range p.Order {
		p.Buckets[b].Place = int32(place)
	}
}

// Bytes is how many bytes the entry's box has, -1 if they are not countable.
func (e *Entry) Bytes() int64 {
	box := op.BoxShape{Planes: e.Planes, Rows: e.Rows, RowBytes: e.RowBytes}
	return box.Bytes()
}

// stays reports whether the entry goes nowhere.
func (e *Entry) stays() bool { return len(e.Destinations) == 1 && e.Destinations[0] == e.Source }

// check says what is wrong with an entry.
func (e *Entry) check(ranks int) error {
	if e.Source < 0 || int(e.Source) >= ranks {
		return fmt.Errorf("its source is rank %d, of %d", e.Source, ranks)
	}
	if len(e.Destinations) == 0 {
		return fmt.Errorf("it has no destination: one that stays has its source as such")
	}
	if err := checkRanks("destinations", e.Destinations, ranks); err != nil {
		return err
	}
	if e.Planes < 1 || e.Rows < 1 || e.RowBytes < 1 || e.Bytes() < 0 {
		return fmt.Errorf("its box of %dx%dx%d bytes is empty or too large: leave empty ones out", e.Planes, e.Rows, e.RowBytes)
	}
	if e.Transport > Direct {
		return fmt.Errorf("its transport %d is unknown", e.Transport)
	}
	if e.Transport == Direct && len(e.Parts) > 1 {
		return fmt.Errorf("its parts are added up before they can be copied: it cannot travel direct")
	}
	if len(e.Parts) == 0 {
		return nil
	}
	if err := checkRanks("parts", e.Parts, ranks); err != nil {
		return err
	}
	switch {
	case !slices.Contains(e.Parts, e.Source):
		return fmt.Errorf("its source, rank %d, has no part in it", e.Source)
	case !e.Type.Valid() || !e.Red.Valid():
		return fmt.Errorf("its parts are of the unknown type %d or reduction %d", e.Type, e.Red)
	case e.Red == op.Avg && len(e.Parts) > 1:
		return fmt.Errorf("its parts cannot be averaged, as they are added one after the other: use sum")
	case e.RowBytes%int64(e.Type.Size()) != 0:
		return fmt.Errorf("its rows of %d bytes are no whole number of elements of %v", e.RowBytes, e.Type)
	}
	return nil
}

func checkRanks(what string, list []int32, ranks int) error {
	for i, rank := range list {
		if rank < 0 || int(rank) >= ranks {
			return fmt.Errorf("rank %d, of %d, is among its %s", rank, ranks, what)
		}
		if i > 0 && list[i-1] >= rank {
			return fmt.Errorf("its %s are not in ascending order: rank %d comes after %d", what, rank, list[i-1])
		}
	}
	return nil
}

// key appends what entries must have in common to share a channel.
func (e *Entry) key(to []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(e.Source)), byte(e.Transport))
	to = appendRanks(appendRanks(to, e.Destinations), e.Parts)
	if len(e.Parts) == 0 {
		return to
	}
	to = append(to, byte(e.Type), byte(e.Red))
	if e.stays() {
		to = binary.AppendUvarint(to, uint64(e.Cell))
	}
	return to
}

func appendRanks(to []byte, list []int32) []byte {
	to = binary.AppendUvarint(to, uint64(len(list)))
	for _, rank := range list {
		to = binary.AppendUvarint(to, uint64(rank))
	}
	return to
}

// channel is the one that the entry is the first of.
func (e *Entry) channel() Channel {
	c := Channel{Source: e.Source, Destinations: e.Destinations, Parts: e.Parts, Transport: e.Transport}
	if len(e.Parts) > 0 {
		c.Type, c.Red = e.Type, e.Red
		if e.stays() {
			c.Cell = e.Cell
		}
	}
	return c
}
