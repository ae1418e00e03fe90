package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// create asks for pipelines that there are none of.
func (k *kit) create() error {
	for _, c := range []struct {
		what string
		o    ccrun.PipelineOptions
	}{
		{"policy", ccrun.PipelineOptions{Policy: 5}},
		{"oversize", ccrun.PipelineOptions{Oversize: 2}},
		{"publish", ccrun.PipelineOptions{Publish: 3}},
		{"no window", ccrun.PipelineOptions{Policy: ccrun.Windowed}},
		{"slots", ccrun.PipelineOptions{FirstSlot: k.world.SignalSlots() - 3}},
		{"channel", ccrun.PipelineOptions{FirstChannel: k.world.SendChannels()}},
		{"channels", ccrun.PipelineOptions{FirstChannel: 1, Channels: k.world.SendChannels()}},
		{"negative budget", ccrun.PipelineOptions{MaxBytes: -1}},
	} {
		_, err := k.world.NewPipeline(c.o)
		k.refused("create: "+c.what, err, ccrun.ErrInvalid)
	}
	return nil
}

// add offers entries that cannot be.
func (k *kit) add() error {
	p, err := k.made(ccrun.PipelineOptions{})
	if err != nil {
		return err
	}
	peer, err := k.peersBuffer()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what  string
		spoil func(e *ccrun.PipelineEntry)
		want  error
	}{
		{"source", func(e *ccrun.PipelineEntry) { e.Source = 2 }, ccrun.ErrNoRank},
		{"destination", func(e *ccrun.PipelineEntry) { e.Destinations = []int{1, 2} }, ccrun.ErrNoRank},
		{"part", func(e *ccrun.PipelineEntry) { e.Parts = []int{-1, 0} }, ccrun.ErrNoRank},
		{"type", func(e *ccrun.PipelineEntry) { e.Dtype = 7 }, ccrun.ErrInvalid},
		{"operator", func(e *ccrun.PipelineEntry) { e.RedOp = 5 }, ccrun.ErrInvalid},
		{"average", func(e *ccrun.PipelineEntry) { e.RedOp, e.Parts = ccrun.Avg, []int{0, 1} }, ccrun.ErrInvalid},
		{"transport", func(e *ccrun.PipelineEntry) { e.Transport = 99 }, ccrun.ErrInvalid},
		{"no buffer", func(e *ccrun.PipelineEntry) { e.Src.Buffer, e.Dst.Buffer = nil, nil }, ccrun.ErrBadHandle},
		{"freed buffer", func(e *ccrun.PipelineEntry) { e.Src.Buffer, e.Dst.Buffer = k.gone, k.gone }, ccrun.ErrStale},
		{"peer's buffer", func(e *ccrun.PipelineEntry) { e.Src.Buffer, e.Dst.Buffer = peer, peer }, ccrun.ErrInvalid},
		{"offset", func(e *ccrun.PipelineEntry) { e.Src.Offset, e.Dst.Offset = 4033, 4033 }, ccrun.ErrRange},
		{"negative offset", func(e *ccrun.PipelineEntry) { e.Src.Offset, e.Dst.Offset = -64, -64 }, ccrun.ErrRange},
		{"rows", func(e *ccrun.PipelineEntry) { e.Rows, e.Src.Row, e.Dst.Row = 3, 2017, 993 }, ccrun.ErrRange},
		{"planes", func(e *ccrun.PipelineEntry) { e.Planes, e.Src.Plane, e.Dst.Plane = 65, 64, 64 }, ccrun.ErrRange},
		{"a box without end", func(e *ccrun.PipelineEntry) {
			e.Planes, e.Rows, e.Src.Row, e.Dst.Row, e.Src.Plane, e.Dst.Plane = 1<<40, 1<<40, 64, 64, 1<<46, 1<<46
		}, ccrun.ErrRange},
	} {
		e := k.entry(0)
		e.Tensor, e.Cell = 3, 5
		c.spoil(&e)
		k.refused("add: "+c.what, p.Add(k.entry(0), e), c.want)
	}
	// Rows that overlap are no harm where they are read.
	e := k.entry(0)
	e.Rows, e.Src.Row, e.Dst.Row = 2, 64, 63
	if err := p.Add(e); k.world.Rank() == 0 && err != nil || k.world.Rank() == 1 && !errors.Is(err, ccrun.ErrInvalid) {
		k.refused("add: rows that overlap", err, ccrun.ErrInvalid)
	}
	return p.Destroy()
}

// peersBuffer is memory of the other rank.
func (k *kit) peersBuffer() (*ccrun.Buffer, error) {
	err := k.world.Publish("buffer", 0, k.buffer.All())
	peer, err2 := k.world.Lookup(1-k.world.Rank(), "buffer", 0, ccrun.Forever)
	return peer, errors.Join(err, err2)
}

// build has entries planned that make no sense.
func (k *kit) build() error {
	for _, c := range []struct {
		what  string
		o     ccrun.PipelineOptions
		spoil func(e *ccrun.PipelineEntry)
	}{
		{"no destination", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Destinations = nil }},
		{"order of destinations", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Destinations = []int{1, 0} }},
		{"a destination twice", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Destinations = []int{1, 1} }},
		{"parts without the source", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Parts = []int{1} }},
		{"half an element", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Parts, e.Dtype, e.RowBytes = []int{0, 1}, ccrun.F64, 60 }},
		{"parts that travel direct", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Parts, e.Transport = []int{0, 1}, ccrun.Direct }},
		{"digests of what travels direct", ccrun.PipelineOptions{Checksums: true}, func(e *ccrun.PipelineEntry) { e.Transport = ccrun.Direct }},
		{"no send channel for direct's answers", ccrun.PipelineOptions{Channels: 1}, func(e *ccrun.PipelineEntry) { e.Transport = ccrun.Direct }},
		{"an empty box", ccrun.PipelineOptions{}, func(e *ccrun.PipelineEntry) { e.Rows = 0 }},
		{"a bucket over the budget", ccrun.PipelineOptions{MaxBytes: 64, Oversize: ccrun.OversizeRefuse, Publish: ccrun.PublishInOrder}, func(e *ccrun.PipelineEntry) {
			e.Rows, e.Src.Row, e.Dst.Row = 5, 80, 80
		}},
	} {
		p, err := k.world.NewPipeline(c.o)
		if err != nil {
			return err
		}
		e := k.entry(0)
		e.Tensor, e.Cell = 3, 5
		c.spoil(&e)
		err = p.Add(k.entry(1), e)
		if err == nil {
			_, err = p.Build()
		}
		k.refused("build: "+c.what, err, ccrun.ErrInvalid)
		if err := p.Destroy(); err != nil {
			return err
		}
	}
	return nil
}

// order sets orders that are none.
func (k *kit) order() error {
	p, err := k.made(ccrun.PipelineOptions{}, k.entry(0), k.entry(1), k.entry(2))
	if err != nil {
		return err
	}
	k.refused("order: too short", p.SetOrder([]int{0, 1}), ccrun.ErrInvalid)
	k.refused("order: none", p.SetOrder(nil), ccrun.ErrInvalid)
	k.refused("order: a bucket twice", p.SetOrder([]int{0, 1, 0}), ccrun.ErrInvalid)
	k.refused("order: a bucket that is not there", p.SetOrder([]int{0, 1, 3}), ccrun.ErrInvalid)
	k.refused("order: a negative one", p.SetOrder([]int{0, 1, -1}), ccrun.ErrInvalid)
	if err := errors.Join(p.SetOrder([]int{2, 0, 1}), p.Agree(ccrun.Forever)); err != nil {
		return err
	}
	k.refused("order: after all have agreed", p.SetOrder([]int{0, 1, 2}), ccrun.ErrInvalid)
	return p.Destroy()
}

// steps takes each step too early or too late.
func (k *kit) steps() error {
	p, err := k.made(ccrun.PipelineOptions{})
	if err != nil {
		return err
	}
	_, err = p.Buckets()
	k.refused("steps: buckets before build", err, ccrun.ErrInvalid)
	k.refused("steps: order before build", p.SetOrder(nil), ccrun.ErrInvalid)
	k.refused("steps: agree before build", p.Agree(ccrun.Forever), ccrun.ErrInvalid)
	k.refused("steps: start before build", p.Start(k.streams...), ccrun.ErrInvalid)
	if err := p.Add(k.entry(0)); err != nil {
		return err
	}
	if _, err := p.Build(); err != nil {
		return err
	}
	_, err = p.Build()
	k.refused("steps: build twice", err, ccrun.ErrInvalid)
	k.refused("steps: add after build", p.Add(k.entry(1)), ccrun.ErrInvalid)
	k.refused("steps: start before agree", p.Start(k.streams...), ccrun.ErrInvalid)
	if k.world.Rank() == 0 {
		k.refused("steps: agree alone", p.Agree(time.Millisecond), ccrun.ErrTimedOut)
	}
	if err := errors.Join(k.world.Barrier(ccrun.Forever), p.Agree(ccrun.Forever)); err != nil {
		return err
	}
	k.eachUse(p, "before start", ccrun.ErrInvalid)
	return p.Destroy()
}

// eachUse does with a pipeline what needs a run.
func (k *kit) eachUse(p *ccrun.Pipeline, when string, want error) {
	_, err := p.Poll()
	k.refused("poll "+when, err, want)
	_, err = p.Wait(ccrun.Forever)
	k.refused("wait "+when, err, want)
	_, err = p.Stats()
	k.refused("stats "+when, err, want)
	k.refused("admit "+when, p.AdmitBefore(1), want)
}

// underWay does what is not done while a pipeline is under way: rank 0 has
// begun, rank 1 has not.
func (k *kit) underWay() error {
	p, err := k.agreed(ccrun.PipelineOptions{Policy: ccrun.Scripted, Channels: 8}, k.entry(0), k.entry(1))
	q, err2 := k.agreed(ccrun.PipelineOptions{FirstSlot: 3, FirstChannel: 8}, k.entry(2))
	r, err3 := k.agreed(ccrun.PipelineOptions{FirstSlot: 4, FirstChannel: 7}, k.entry(2))
	other, err4 := k.agreed(ccrun.PipelineOptions{FirstSlot: 4, FirstChannel: 8}, k.entry(2))
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return err
	}
	closed, err := k.world.NewStream()
	if err := errors.Join(err, closed.Close()); err != nil {
		return err
	}
	k.refused("start: no streams", p.Start(), ccrun.ErrInvalid)
	k.refused("start: one stream twice", p.Start(k.streams[0], k.streams[0]), ccrun.ErrInvalid)
	k.refused("start: a closed stream", p.Start(closed), ccrun.ErrStale)
	k.refused("run: a script that admits nothing", p.Run(k.streams, ccrun.Forever), ccrun.ErrInvalid) // it is under way now
	if err := k.world.Barrier(ccrun.Forever); err != nil {
		return err
	}
	k.refused("under way: start", p.Start(k.streams...), ccrun.ErrInvalid)
	k.refused("under way: destroy", p.Destroy(), ccrun.ErrInvalid)
	k.refused("under way: another one with a signal slot of it", q.Start(k.spare), ccrun.ErrInvalid)
	k.refused("under way: another one with a send channel of it", r.Start(k.spare), ccrun.ErrInvalid)
	if err := other.Run([]*ccrun.Stream{k.spare}, ccrun.Forever); err != nil { // it shares nothing
		return err
	}
	if k.world.Rank() == 0 {
		err := p.AdmitBefore(2)
		_, err2 := p.Wait(time.Millisecond)
		k.refused("under way: wait for a rank that admits nothing", errors.Join(err, err2), ccrun.ErrTimedOut)
	}
	if err := errors.Join(k.world.Barrier(ccrun.Forever), p.AdmitBefore(math.MaxInt32)); err != nil {
		return err
	}
	if status, err := p.Wait(ccrun.Forever); err != nil || !status.Done {
		return errors.Join(err, errors.New("the run has not ended"))
	}
	if err := q.Run(k.streams, ccrun.Forever); err != nil { // they are free now
		return err
	}
	k.refused("admit: not scripted", q.AdmitBefore(1), ccrun.ErrInvalid)
	return errors.Join(p.Destroy(), q.Destroy(), r.Destroy(), other.Destroy())
}

// freed takes a buffer away that a pipeline has been given: first the source's,
// then the destination's.
func (k *kit) freed() error {
	for rank := range 2 {
		b, err := k.world.Alloc(64)
		if err != nil {
			return err
		}
		e := k.entry(0)
		e.Src, e.Dst = ccrun.Place{Buffer: b}, ccrun.Place{Buffer: b}
		// A run that fails leaves its slots and channels used.
		o := ccrun.PipelineOptions{FirstSlot: 4 * rank, FirstChannel: 8 * rank, Channels: 8}
		p, err := k.agreed(o, e)
		if err != nil {
			return err
		}
		if rank == k.world.Rank() {
			err = b.Free()
		}
		if err := errors.Join(err, k.world.Barrier(ccrun.Forever)); err != nil {
			return err
		}
		want := ccrun.ErrFailed
		if rank == k.world.Rank() {
			want = ccrun.ErrStale
		}
		what := fmt.Sprintf("rank %d has freed its buffer: ", rank)
		k.refused(what+"run", p.Run(k.streams, ccrun.Forever), want)
		_, err = p.Wait(ccrun.Forever)
		k.refused(what+"wait", err, want)
		k.refused(what+"start", p.Start(k.streams...), ccrun.ErrFailed)
		if err := p.Destroy(); err != nil {
			return err
		}
		p, err = k.agreed(o, k.entry(0))
		k.refused(what+"start another one with its slots", errors.Join(err, p.Start(k.spare)), ccrun.ErrInvalid)
	}
	if err := k.world.Barrier(ccrun.Forever); err != nil || k.wrong > 0 {
		return err
	}
	return errFreed
}

// afterwards uses what has been destroyed.
func (k *kit) afterwards() error {
	p, err := k.made(ccrun.PipelineOptions{}, k.entry(0))
	if err := errors.Join(err, p.Agree(ccrun.Forever), p.Run(k.streams, ccrun.Forever), p.Destroy()); err != nil {
		return err
	}
	k.refused("destroyed: destroy", p.Destroy(), ccrun.ErrStale)
	k.refused("destroyed: add", p.Add(k.entry(0)), ccrun.ErrStale)
	k.refused("destroyed: agree", p.Agree(ccrun.Forever), ccrun.ErrStale)
	k.refused("destroyed: start", p.Start(k.streams...), ccrun.ErrStale)
	k.eachUse(p, "after destroy", ccrun.ErrStale)
	return nil
}
