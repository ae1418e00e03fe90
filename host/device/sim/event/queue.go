// Package event is the simulator's event queue: [Queue.Push] what is to happen
// and when, then [Queue.Pop] it in the order of time. Events of one time come
// out in the order in which they went in, so that a run is a function of its
// inputs alone.
//
// The queue is a radix heap with digits of six bits. An event lies on the level
// of the highest digit in which its time differs from that of the last popped
// event, in the bucket of its own digit there. The earliest event is in the
// lowest bucket of the lowest level; popping it spreads the rest of its bucket
// over lower levels, so that an event moves at most once per level, and in
// practice about three times however many are pending. Buckets are lists of
// chunks from one pool, which only grows: it never holds much more than the most
// events that were pending at once, and nothing is allocated once it has that.
//
// Events cannot be taken back: who no longer wants one tells it by its Kind or
// by a number of its own, and lets it pass. The queue is for one goroutine.
package event

import "math/bits"

// Event is something that happens at a time. What Target and Kind mean is up to
// the caller.
type Event struct {
	At     int64 // picoseconds
	Target uint32
	Kind   uint32
}

const (
	digitBits = 6
	digits    = 1 << digitBits
	levels    = (63 + digitBits - 1) / digitBits
)

// chunkEvents makes a chunk 256 bytes: four cache lines.
const chunkEvents = 15

type chunk struct {
	events [chunkEvents]Event
	next   int32 // chunk of the bucket or of the free list, if there is one
	_      [3]int32
}

// bucket is a list of chunks. All but its first and last are full.
type bucket struct {
	min         int64 // earliest time in it
	first, last int32 // chunks
	begin, end  int32 // of the events in the first chunk, in the last one; begin is 0 but on level 0
	count       int32
}

// Queue holds events until they are popped. Its zero value is empty and ready,
// at time 0.
type Queue struct {
	now      int64  // time of the last popped event
	busy     uint32 // which levels hold events
	count    int
	free     int32 // first free chunk
	occupied [levels]uint64
	buckets  [levels][digits]bucket
	chunks   []chunk // index 0 is not used
}

// Len returns the number of pending events.
func (q *Queue) Len() int { return q.count }

// Push adds an event. A time before that of the last popped event is taken as
// that time.
func (q *Queue) Push(e Event) {
	e.At = max(e.At, q.now)
	q.count++
	q.place(e)
}

// Peek returns the time of the earliest event; ok is false if there is none.
func (q *Queue) Peek() (at int64, ok bool) {
	if q.busy == 0 {
		return 0, false
	}
	level := bits.TrailingZeros32(q.busy)
	return q.buckets[level][bits.TrailingZeros64(q.occupied[level])].min, true
}

// Pop removes the earliest event, of several that which was pushed first; ok is
// false if there is none.
func (q *Queue) Pop() (e Event, ok bool) {
	if q.busy == 0 {
		return Event{}, false
	}
	level := bits.TrailingZeros32(q.busy)
	digit := bits.TrailingZeros64(q.occupied[level])
	b := &q.buckets[level][digit]
	q.count--
	q.now = b.min
	if level > 0 && b.count > 1 {
		return q.spread(level, digit), true
	}
	e = q.chunks[b.first].events[b.begin]
	b.begin++
	b.count--
	if b.count == 0 {
		q.release(b.first)
		q.vacate(level, digit)
	} else if b.begin == chunkEvents {
		b.begin = 0
		b.first = q.release(b.first)
	}
	return e, true
}

// spread empties the bucket of the earliest event, which it returns. The others
// go to lower levels, where there are none yet; they keep their order.
func (q *Queue) spread(level, digit int) (earliest Event) {
	b := q.buckets[level][digit]
	q.vacate(level, digit)
	found := false
	for b.count > 0 {
		// Place may use the chunk again, but then writes behind what has been read.
		events := q.chunks[b.first].events[:min(b.count, chunkEvents)]
		b.count -= int32(len(events))
		b.first = q.release(b.first)
		for _, e := range events {
			if e.At == b.min && !found {
				earliest, found = e, true
				continue
			}
			q.place(e)
		}
	}
	return earliest
}

// place puts an event where it belongs as of now.
func (q *Queue) place(e Event) {
	differ := uint64(e.At^q.now) | 1
	level := bits.Len64(differ>>1) * 43 >> 8 // the highest bit's number by digitBits
	digit := int(uint64(e.At)>>(uint(level)*digitBits)) % digits
	b := &q.buckets[level][digit]
	switch {
	case b.count == 0:
		q.busy |= 1 << level
		q.occupied[level] |= 1 << digit
		c := q.take()
		*b = bucket{min: e.At, first: c, last: c}
	case b.end == chunkEvents:
		c := q.take()
		q.chunks[b.last].next = c
		b.last, b.end = c, 0
	}
	b.min = min(b.min, e.At)
	q.chunks[b.last].events[b.end] = e
	b.end++
	b.count++
}

// vacate marks a bucket as empty.
func (q *Queue) vacate(level, digit int) {
	q.buckets[level][digit].count = 0
	q.occupied[level] &^= 1 << digit
	if q.occupied[level] == 0 {
		q.busy &^= 1 << level
	}
}

// take returns a chunk for use.
func (q *Queue) take() int32 {
	if c := q.free; c != 0 {
		q.free = q.chunks[c].next
		return c
	}
	if len(q.chunks) == 0 {
		q.chunks = make([]chunk, 1, 16)
	}
	q.chunks = append(q.chunks, chunk{})
	return int32(len(q.chunks) - 1)
}

// release gives a chunk back and returns the one that followed it.
func (q *Queue) release(c int32) (next int32) {
	next = q.chunks[c].next
	q.chunks[c].next = q.free
	q.free = c
	return next
}
