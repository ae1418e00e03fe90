package pipeline

import (
	"math"
	"math/bits"
)

// Room is the staging memory that a rank needs for a task: first what it packs,
// then what it receives.
type Room struct {
	Own   int64 // of what is sent or added and does not lie in one run in src
	In    int64 // of what comes from others, the sum of parts and the whole alike, and may not be received in dst
	Start int64 // of In: Own, rounded to a multiple of 256
	Bytes int64 // of both, rounded by [Class]
}

// roomAlign is where the second part of a room may begin.
const roomAlign = 256

// Room says what staging memory a task needs. A bucket in one piece needs none
// where it has one entry only, which lies in one run: contiguous tells that of
// an entry, in src or dst of this rank. Scattered entries need it one by one, in
// the order of the bucket, for those that do not lie in one run.
//
// Nothing is received in dst before its turn, so InOrder needs room for all
// that lands. The sum of parts is made where the sum before was received, and
// the whole, if it comes back, is received there again.
func (p *Plan) Room(t *Task, contiguous func(entry int32, dst bool) bool, publish Publish) Room {
	var r Room
	b := &p.Buckets[t.Bucket]
	packs := t.Part || len(t.To) > 0 && t.Source
	sums, lands := t.AddFrom.Rank >= 0, t.From.Rank >= 0
	need := func(bytes int64, runs func(dst bool) bool) {
		if packs && !runs(false) {
			r.Own += bytes
		}
		if sums || lands && (publish == InOrder || !runs(true)) {
			r.In += bytes
		}
	}
	if p.Channels[t.Channel].Transport == Scattered {
		for _, e := range b.Entries {
			need(p.Entries[e].Bytes(), func(dst bool) bool { return contiguous(e, dst) })
		}
	} else {
		need(b.Bytes, func(dst bool) bool { return len(b.Entries) == 1 && contiguous(b.Entries[0], dst) })
	}
	r.Start = roundUp(r.Own, roomAlign)
	if r.In > math.MaxInt64-r.Start {
		r.Bytes = math.MaxInt64
	} else {
		r.Bytes = Class(r.Start + r.In)
	}
	return r
}

// Staging is how many bytes [Plan.Room] comes to.
func (p *Plan) Staging(t *Task, contiguous func(entry int32, dst bool) bool, publish Publish) int64 {
	return p.Room(t, contiguous, publish).Bytes
}

// Class rounds a size so that memory can be used again for others of about that
// size: to multiples of 256 up to 4 KiB, then to eighths of the power of two
// below. So at most an eighth is wasted.
func Class(bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	step := int64(256)
	if bytes > 4096 {
		step = 1 << (bits.Len64(uint64(bytes)) - 1 - 3)
	}
	return roundUp(bytes, step)
}

// roundUp is the least multiple of step, a power of two, that is no less than n.
func roundUp(n, step int64) int64 {
	if n > math.MaxInt64-step {
		return math.MaxInt64
	}
	return (n + step - 1) &^ (step - 1)
}
