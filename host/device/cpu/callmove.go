package cpu

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/op"
)

// peerArea is an area of a peer in the call under way, once it has been looked
// up.
type peerArea struct {
	number uint64 // of the call that it is for
	mem    []byte
	arena  *arena
}

// Words of a stream's pins that calls use.
const (
	pinIn  = 0
	pinOut = 1
)

// set says where an area begins; the peers find the end of the buffer out by
// themselves.
func (l *location) set(b *buffer, offset int64) {
	if b == nil {
		l.bytes = -1
		return
	}
	l.offset, l.bytes = b.offset+offset, b.Size()-offset
	l.allocation, l.generation = b.allocation, b.generation
}

// memory gives bytes of an area of a rank.
func (c *comm) memory(r *callRun, p op.Place, bytes int64, stream int) ([]byte, error) {
	var mem []byte
	switch {
	case p.Area == op.AreaSlot:
		mem = c.peers[p.Rank].block.places[r.place].slot
	case int(p.Rank) == c.rank:
		mem = r.own(p.Area)
	default:
		a := &c.areas[int(p.Rank)*2+int(p.Area)]
		if a.number != r.number {
			if err := c.lookUpArea(r, p, a, stream); err != nil {
				return nil, err
			}
		}
		mem = a.mem
	}
	if p.Off < 0 || bytes > int64(len(mem)) || p.Off > int64(len(mem))-bytes {
		return nil, fmt.Errorf("%v: %d bytes at %d of rank %d's %d: %w",
			r.words, bytes, p.Off, c.peers[p.Rank].world, len(mem), op.ErrRange)
	}
	return mem[p.Off:][:bytes], nil
}

// own is an area of this rank.
func (r *callRun) own(a op.Area) []byte {
	b, offset := r.in, r.call.In.Off
	if a == op.AreaOut {
		b, offset = r.out, r.call.Out.Off
	}
	if b == nil {
		return nil
	}
	return b.mem[offset:]
}

// lookUpArea finds an area of a peer that has entered the call, and pins it. The
// peer may have freed the buffer already: its memory stays until the peer has
// parted from this rank, or breaks the communicator off. The pin is written
// before that is looked at, and breaking off comes before the peer looks at the
// pins: so either the area is refused here, or the peer sees that it is in use.
// Nothing that the peer says is trusted.
func (c *comm) lookUpArea(r *callRun, p op.Place, to *peerArea, stream int) error {
	peer := &c.peers[p.Rank]
	shown := peer.block.places[r.place].locations
	l := &shown.of[p.Area]
	offset, bytes := atomic.LoadInt64(&l.offset), atomic.LoadInt64(&l.bytes)
	a := peer.block.arena
	if !a.holds(offset, bytes) {
		return fmt.Errorf("%v: rank %d has no such memory: %w", r.words, peer.world, op.ErrRange)
	}
	allocation, pin := atomic.LoadUint32(&l.allocation), a.pin(c.device.rank, stream, pinIn+int(p.Area))
	pin.Store(uint64(allocation) + 1)
	if shown.broken.Load() != 0 && a.generation(allocation).Load() != atomic.LoadUint32(&l.generation) {
		pin.Store(0)
		return fmt.Errorf("%v: rank %d: %w", r.words, peer.world, device.ErrStale)
	}
	*to = peerArea{number: r.number, mem: a.mem[offset:][:bytes:bytes], arena: a}
	c.pinned = append(c.pinned, int(p.Rank)*2+int(p.Area))
	return nil
}

// unpin gives the peers' areas back.
func (c *comm) unpin(stream int) {
	for _, i := range c.pinned {
		c.areas[i].arena.pin(c.device.rank, stream, pinIn+i%2).Store(0)
		c.areas[i].number = 0
	}
	c.pinned = c.pinned[:0]
}

// pieces are the operands of a move as memory.
type pieces [op.MaxSources][]byte

// remoteAt reports whether a place is memory of a peer's guest. Slots are not:
// what lies there has been copied into and out of them.
func (c *comm) remoteAt(p op.Place) bool { return int(p.Rank) != c.rank && p.Area != op.AreaSlot }

// gather finds the memory of places.
func (c *comm) gather(to *pieces, r *callRun, places []op.Place, bytes int64, stream int) (remote bool, err error) {
	for i, p := range places {
		if to[i], err = c.memory(r, p, bytes, stream); err != nil {
			return false, err
		}
		remote = remote || c.remoteAt(p)
	}
	return remote, nil
}

// move carries out a StepMove.
func (c *comm) move(r *callRun, s *op.Step, by *caller) error {
	if s.Bytes == 0 {
		return nil
	}
	var from, to pieces
	reads, err := c.gather(&from, r, s.Sources, s.Bytes, by.stream.number)
	if err != nil {
		return err
	}
	writes, err := c.gather(&to, r, s.Dests, s.Bytes, by.stream.number)
	if err != nil {
		return err
	}
	recorded := r.moves && (reads || writes)
	if (recorded || c.device.ending != nil) && r.mark == 0 {
		r.mark = c.device.clock.Start()
	}
	t := kernels.Task{Type: r.call.Type, Red: r.call.Red, TrafficBytes: r.traffic, Backward: r.number&1 != 0}
	if s.Last {
		t.Divisor = len(c.peers)
	}
	c.device.kernels.Combine(to[:len(s.Dests)], from[:len(s.Sources)], t)
	if c.device.ending != nil {
		if err := c.injectMove(s, to[0], r.mark); err != nil {
			return err
		}
	}
	if recorded {
		c.recordMove(r, s, by)
		return nil
	}
	r.mark = 0
	return nil
}

// take carries out a StepTake: a move from where the peer says, to where this
// rank wants it.
func (c *comm) take(r *callRun, s *op.Step, by *caller) error {
	size := int64(r.call.Type.Size())
	offset := r.call.SendOffsets[c.rank]
	if int(s.Peer) != c.rank {
		offset = atomic.LoadInt64(&c.peers[s.Peer].block.vector(r.place, c.rank).offset)
	}
	if offset < 0 || offset > math.MaxInt64/size {
		return fmt.Errorf("%v: rank %d sends from element %d: %w", r.words, c.peers[s.Peer].world, offset, op.ErrRange)
	}
	from := [1]op.Place{{Rank: s.Peer, Area: op.AreaIn, Off: offset * size}}
	to := [1]op.Place{{Rank: int32(c.rank), Area: op.AreaOut, Off: r.call.RecvOffsets[s.Peer] * size}}
	return c.move(r, &op.Step{
		Kind: op.StepMove, Peer: s.Peer, Bytes: r.call.RecvCounts[s.Peer] * size,
		Sources: from[:], Dests: to[:], Term: s.Term,
	}, by)
}

// trafficOf is how much all ranks together read and write in a call, about.
func trafficOf(call *op.Call, ranks int) int64 { return 2 * call.Bytes * int64(ranks) }

// recordMove writes a record for each peer at the other end of a move.
func (c *comm) recordMove(r *callRun, s *op.Step, by *caller) {
	end, w := c.device.Now(), c.device.recorder
	kind := op.Get
	if len(s.Sources) > 1 {
		kind = op.Reduce
	}
	for _, p := range s.Sources {
		if c.remoteAt(p) {
			device.RecordMove(w, kind, r.call, s, c.sequence(r), by.stream.number, c.peers[p.Rank].world, r.mark, end)
		}
	}
	for _, p := range s.Dests {
		if c.remoteAt(p) {
			device.RecordMove(w, op.Put, r.call, s, c.sequence(r), by.stream.number, c.peers[p.Rank].world, r.mark, end)
		}
	}
	r.mark = end
}
