package cpu

import (
	"time"

	"github.com/ccrun/ccrun/host/op"
)

// longer says how much longer an operation is to take than it has taken.
type longer func(kind op.Kind, peer int, nanos int64) int64

// Delay makes operations take longer, on purpose.
func (d *Device) Delay(by func(kind op.Kind, peer int, nanos int64) int64) { d.longer = by }

// Of a long delay all but the end is slept, in steps that let an abort through.
// The rest is spent on the processor: a sleep of less than a scheduler's turn
// may last for one.
const (
	spunNanos  = int64(4 * time.Millisecond)
	sleptNanos = int64(10 * time.Millisecond)
)

// holdUp keeps an operation that began at start from its end for as long as it
// is to take.
func (d *Device) holdUp(kind op.Kind, peer int, start int64) {
	now := d.Now()
	until := now + max(0, d.longer(kind, peer, now-start))
	if until < now {
		until = never
	}
	for ; now < until && d.abortError() == nil; now = d.Now() {
		if left := until - now; left > spunNanos {
			time.Sleep(time.Duration(min(left-spunNanos, sleptNanos)))
			continue
		}
		pause()
	}
}

// holdUpOp is holdUp for an operation that execute has carried out. The other
// end of a Reduce is the first peer whose memory it has read.
func (d *Device) holdUpOp(o *op.Op, peer int, start int64) {
	if o.Kind == op.Reduce {
		for i := range o.Sources[:o.SourceCount] {
			if peer = o.Sources[i].Buf.Peer(); peer >= 0 {
				break
			}
		}
	}
	d.holdUp(o.Kind, peer, start)
}

// holdUpMove is holdUp for a step of a call, of which the slots of other ranks
// count as their memory.
func (c *comm) holdUpMove(s *op.Step, start int64) {
	kind, peer := op.Copy, -1
	for _, p := range s.Sources {
		if peer < 0 && int(p.Rank) != c.rank {
			kind, peer = op.Get, c.peers[p.Rank].world
		}
	}
	for _, p := range s.Dests {
		if peer < 0 && int(p.Rank) != c.rank {
			kind, peer = op.Put, c.peers[p.Rank].world
		}
	}
	if len(s.Sources) > 1 {
		kind = op.Reduce
	}
	c.device.holdUp(kind, peer, start)
}
