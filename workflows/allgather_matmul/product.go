package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// elementBytes is the size of a float32.
const elementBytes = 4

// junk is the seed of what lies where a tile has not yet arrived.
const junk = 1

// product is one rank's side: C = A B, where A is gathered.
type product struct {
	options
	world     *ccrun.World
	comm      *ccrun.Comm
	ring      ccrun.Ring
	streams   []*ccrun.Stream
	a         *ccrun.Buffer // gathered
	peer      *ccrun.Buffer // the previous rank's a
	whole     *ccrun.Buffer // all of A, made here: what a must become
	b, c      *ccrun.Buffer
	reference [2]uint64 // digest of the product of whole and b
	rounds    uint64
	computed  []int // how often each tile was multiplied in the present round
}

func open(world *ccrun.World, o options) (*product, error) {
	p := &product{options: o, world: world, ring: world.Ring(), computed: make([]int, o.tiles)}
	var err error
	if p.comm, err = world.Comm(); err != nil {
		return nil, err
	}
	for range o.streams {
		s, err := world.NewStream()
		if err != nil {
			return nil, err
		}
		p.streams = append(p.streams, s)
	}
	for _, matrix := range []struct {
		buffer        **ccrun.Buffer
		rows, columns int
	}{{&p.a, o.m, o.k}, {&p.whole, o.m, o.k}, {&p.b, o.k, o.n}, {&p.c, o.m, o.n}} {
		if *matrix.buffer, err = world.Alloc(int64(matrix.rows) * int64(matrix.columns) * elementBytes); err != nil {
			return nil, err
		}
	}
	if err := world.Publish("a", 0, p.a.All()); err != nil {
		return nil, err
	}
	if p.peer, err = world.Lookup(p.ring.Prev, "a", 0, ccrun.Forever); err != nil {
		return nil, err
	}
	return p, p.refer()
}

// refer computes the reference.
func (p *product) refer() error {
	s := p.streams[0]
	for tile := range p.tiles {
		s.Fill(p.tile(p.whole, tile), ccrun.F32, p.seed(tile))
	}
	s.Fill(p.b.All(), ccrun.F32, p.seed(p.tiles))
	s.Gemm(ccrun.Gemm{Dtype: ccrun.F32, M: p.m, N: p.n, K: p.k, A: p.whole.All(), B: p.b.All(), C: p.c.All()})
	var err error
	p.reference, err = s.Digest(p.c.All(), "")
	return err
}

// seed is that of a tile's pattern, small whole numbers, so that sums are exact
// in any order.
func (p *product) seed(tile int) uint64 { return p.world.Seed()<<16 + uint64(tile) + 2 }

// tile is a tile of a or of whole, rows of the product.
func (p *product) tile(b *ccrun.Buffer, tile int) ccrun.Region {
	bytes := b.Bytes() / int64(p.tiles)
	return b.At(int64(tile)*bytes, bytes)
}

// slotFree, raised at the previous rank, counts rounds in which this rank has
// read all that it needs. Slots below are tiles, raised at the next rank.
func (p *product) slotFree() int { return p.tiles }

// round carries one mode out, on junk but for this rank's own tiles, checks
// what it has computed and says how long it took.
func (p *product) round(mode int, warmup bool) (time.Duration, error) {
	if err := p.prepare(); err != nil {
		return 0, err
	}
	p.comm.Options.Warmup = warmup
	start, err := p.world.Now()
	if err != nil {
		return 0, err
	}
	if err := modes[mode].run(p, warmup); err != nil {
		return 0, err
	}
	if err := p.sync(); err != nil {
		return 0, err
	}
	end, err := p.world.Now()
	if err != nil {
		return 0, err
	}
	if modes[mode].gathers {
		err = p.checkGathered()
	}
	if err == nil && modes[mode].computes {
		err = p.check()
	}
	p.rounds++
	if p.ring.Size > 1 {
		p.streams[0].Signal(p.ring.Prev, p.slotFree(), p.rounds)
	}
	return end - start, errors.Join(err, p.streams[0].Sync())
}

// prepare waits until the next rank reads nothing here any more, then makes
// everything as it is before a round, on all ranks.
func (p *product) prepare() error {
	s := p.streams[0]
	if p.ring.Size > 1 {
		s.Wait(p.ring.Next, p.slotFree(), p.rounds)
	}
	s.Fill(p.a.All(), ccrun.F32, junk)
	for tile := p.ring.Rank; tile < p.tiles; tile += p.ring.Size {
		s.Fill(p.tile(p.a, tile), ccrun.F32, p.seed(tile))
	}
	// A product that sums over nothing is zero.
	s.Gemm(ccrun.Gemm{Dtype: ccrun.F32, M: p.m, N: p.n, A: p.a.At(0, 0), B: p.b.At(0, 0), C: p.c.All()})
	clear(p.computed)
	if err := s.Sync(); err != nil {
		return err
	}
	return p.world.Barrier(ccrun.Forever)
}

func (p *product) sync() error {
	for _, s := range p.streams {
		if err := s.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// checkGathered verifies every tile.
func (p *product) checkGathered() error {
	for tile := range p.tiles {
		found, err := p.streams[0].Verify(p.tile(p.a, tile), ccrun.F32, p.seed(tile), 0)
		if err == nil && found.Mismatches > 0 {
			err = fmt.Errorf("%d elements of tile %d are wrong, the first at byte %d", found.Mismatches, tile, found.FirstBad)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check compares the product with the reference. Products are added to C, which
// was zero: one that was computed twice would show, as would one from junk.
func (p *product) check() error {
	for tile, times := range p.computed {
		if times != 1 {
			return fmt.Errorf("tile %d was computed %d times", tile, times)
		}
	}
	digest, err := p.streams[0].Digest(p.c.All(), "out")
	if err == nil && digest != p.reference {
		err = errors.New("the product differs from the reference")
	}
	return err
}

// multiply submits the part of the product that depends on a tile of a matrix.
func (p *product) multiply(s *ccrun.Stream, a *ccrun.Buffer, tile int) {
	p.computed[tile]++
	s.Gemm(ccrun.Gemm{
		Dtype: ccrun.F32, M: p.m / p.tiles, N: p.n, K: p.k, Add: true,
		A: p.tile(a, tile), B: p.b.All(), C: p.tile(p.c, tile),
	})
}

// close waits until the next rank reads nothing here any more.
func (p *product) close() error {
	if p.ring.Size > 1 {
		p.streams[0].Wait(p.ring.Next, p.slotFree(), p.rounds)
	}
	var errs []error
	for _, s := range p.streams {
		errs = append(errs, s.Close())
	}
	for _, b := range []*ccrun.Buffer{p.a, p.whole, p.b, p.c} {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}
