package main

import "github.com/ccrun/ccrun/guest-sdk/go/ccrun"

// modes are the ways to do it, or a part of it. The first two are what overlap
// is measured against.
var modes = [...]struct {
	name              string
	gathers, computes bool
	run               func(p *product, warmup bool) error
}{
	{"gather", true, false, (*product).gather},
	{"compute", false, true, (*product).compute},
	{"plain", true, true, (*product).plain},
	{"bulk", true, true, (*product).bulk},
	{"pipelined", true, true, (*product).pipelined},
}

// Indices of modes.
const (
	gatherMode    = 0
	computeMode   = 1
	pipelinedMode = 4
)

// gather is the pipeline without the products.
func (p *product) gather(warmup bool) error { return p.follow(p.streams, false, warmup) }

// compute is the pipeline without the transfers.
func (p *product) compute(bool) error {
	for a := range plan(p.ring, p.tiles, len(p.streams)) {
		if a.kind == multiply {
			p.multiply(p.streams[a.stream], p.whole, a.tile)
		}
	}
	return nil
}

// plain gathers all tiles over the ring, then multiplies them.
func (p *product) plain(warmup bool) error {
	if err := p.follow(p.streams[:1], false, warmup); err != nil {
		return err
	}
	if err := p.streams[0].Sync(); err != nil {
		return err
	}
	for tile := range p.tiles {
		p.multiply(p.streams[0], p.a, tile)
	}
	return nil
}

// bulk has the host gather everything, then multiplies it in one go.
func (p *product) bulk(bool) error {
	s := p.streams[0]
	s.Group(func() {
		bytes := p.a.Bytes() / int64(p.tiles) * int64(p.ring.Size)
		for i := range p.tiles / p.ring.Size {
			s.AllGather(p.comm, ccrun.F32, p.a.At(int64(i)*bytes, bytes), ccrun.Region{})
		}
	})
	for tile := range p.computed {
		p.computed[tile]++
	}
	s.Gemm(ccrun.Gemm{Dtype: ccrun.F32, M: p.m, N: p.n, K: p.k, Add: true, A: p.a.All(), B: p.b.All(), C: p.c.All()})
	return nil
}

// pipelined multiplies tiles while others travel.
func (p *product) pipelined(warmup bool) error { return p.follow(p.streams, true, warmup) }

// follow submits what the plan says for a number of streams, with or without
// its products.
func (p *product) follow(streams []*ccrun.Stream, computes, warmup bool) error {
	collective, err := p.world.Begin(ccrun.CollectiveInfo{
		Op: ccrun.AllGather, Algorithm: "ring", Bytes: p.a.Bytes(), Dtype: ccrun.F32, Warmup: warmup,
	})
	if err != nil {
		return err
	}
	for a := range plan(p.ring, p.tiles, len(streams)) {
		s := streams[a.stream]
		s.Tag(ccrun.Term{Collective: collective.Sequence, Chunk: a.tile % p.ring.Size, Slice: a.ring, Message: a.ring, Flow: a.stream, Step: a.step})
		switch a.kind {
		case offer:
			s.Signal(p.ring.Next, a.tile, p.rounds+1)
		case fetch:
			s.Wait(p.ring.Prev, a.tile, p.rounds+1)
			s.Get(p.tile(p.a, a.tile), p.tile(p.peer, a.tile))
		case multiply:
			s.Tag(ccrun.Term{})
			if computes {
				p.multiply(s, p.a, a.tile)
			}
		}
	}
	for _, s := range streams {
		s.Tag(ccrun.Term{})
	}
	return collective.End()
}
