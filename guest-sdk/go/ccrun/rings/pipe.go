package rings

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun"

// Pipe is one channel of a ring: a stream, and the memory of this rank and of a
// neighbour that it works on. All ranks' regions have one size, and are cut
// into chunks by [ccrun.Region.Chunk].
type Pipe struct {
	Ring   ccrun.Ring
	Stream *ccrun.Stream
	Shape  Shape
	Dtype  ccrun.Dtype
	Red    ccrun.RedOp

	// Own is what is reduced or gathered, in place. In an all-gather by put the
	// previous rank may write to it as soon as the round before has ended here,
	// but for the chunk of this rank's number.
	Own         ccrun.Region
	Scratch     ccrun.Region // by put, while reducing: where the previous rank pushes to
	Peer        ccrun.Region // by put the next rank's Own, by get the previous one's
	PeerScratch ccrun.Region // the next rank's Scratch

	SliceBytes int64 // 0 for whole chunks
	// Slot is the first of the two slots that the pipe uses: this one, raised at
	// the next rank, counts slices, over all rounds and steps; the one after,
	// raised at the previous rank, counts the rounds that this rank has ended.
	Slot int
	Flow int // what operations say that they belong to
}

// Slices is how many slices a chunk has; later chunks may have fewer.
func (p *Pipe) Slices() int { return p.Own.Chunk(0, p.Ring.Size).SliceCount(p.SliceBytes) }

// Enter holds the stream until the next rank has ended the rounds before this
// one: it then neither reads this rank's memory nor needs its own as it is.
func (p *Pipe) Enter(round uint64) {
	if p.Ring.Size > 1 {
		p.Stream.Wait(p.Ring.Next, p.Slot+1, round)
	}
}

// End says, when all is done that was submitted so far, that this rank has
// ended a round.
func (p *Pipe) End(round uint64) {
	if p.Ring.Size > 1 {
		p.Stream.Signal(p.Ring.Prev, p.Slot+1, round+1)
	}
}

// Run submits a round, the operations of which belong to a collective of the
// given sequence number.
func (p *Pipe) Run(round uint64, collective uint32) {
	base := round * p.Shape.Orders(p.Ring)
	reducing, _ := p.Shape.Steps(p.Ring)
	p.Stream.Hold()
	for a := range Plan(p.Shape, p.Ring) {
		p.Stream.Tag(ccrun.Term{Collective: collective, Chunk: a.Chunk, Slice: a.Slice, Message: a.Slice, Flow: p.Flow, Step: a.Step})
		p.submit(a, base+uint64(a.Order), a.Step < reducing)
	}
	p.Stream.Tag(ccrun.Term{})
	p.Stream.Flush()
}

// submit submits an action; slices that a short chunk does not have are left
// out, on all ranks alike.
func (p *Pipe) submit(a Action, sequence uint64, reducing bool) {
	own := p.part(p.Own, a)
	if own.Bytes <= 0 && a.Kind != Signal {
		return
	}
	switch a.Kind {
	case Wait:
		p.Stream.Wait(p.Ring.Prev, p.Slot, sequence)
	case Signal:
		p.Stream.Signal(p.Ring.Next, p.Slot, sequence)
	case Put:
		if reducing {
			p.Stream.Put(p.part(p.PeerScratch, a), own)
		} else {
			p.Stream.Put(p.part(p.Peer, a), own)
		}
	case Get:
		p.Stream.Get(own, p.part(p.Peer, a))
	case Reduce:
		source := p.Peer
		if p.Shape.Push {
			source = p.Scratch
		}
		p.Stream.Reduce(p.Red, p.Dtype, own, own, p.part(source, a))
	}
}

// part is where the slice of an action lies in a region; it is empty behind the
// end of a chunk.
func (p *Pipe) part(whole ccrun.Region, a Action) ccrun.Region {
	chunk := whole.Chunk(a.Chunk, p.Ring.Size)
	if p.SliceBytes <= 0 {
		return chunk
	}
	start := min(int64(a.Slice)*p.SliceBytes, chunk.Bytes)
	return chunk.At(start, min(p.SliceBytes, chunk.Bytes-start))
}
