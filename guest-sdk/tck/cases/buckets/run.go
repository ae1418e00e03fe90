package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// load is what a case moves. Places are of this rank, and lack the buffer.
type load interface {
	entries() []ccrun.PipelineEntry
	sizes() (source, target int64)
	source(image []byte, salt uint64) // writes what the rank has
	target(image []byte, salt uint64) // writes what it must get
}

// kase is one case of the storm, as a rank sees it.
type kase struct {
	world          *ccrun.World
	host           *host
	seed           uint64
	setup          setup
	load           load
	entries        []ccrun.PipelineEntry
	source, target *ccrun.Buffer
	pipeline       *ccrun.Pipeline
	plan           ccrun.PipelinePlan
	mostBytes      int64    // most staging memory of the runs so far
	wrong          []string // what is
}

// drawCase draws a case from its seed alone.
func drawCase(w *ccrun.World, seed uint64) (*kase, error) {
	d, own := &draw{seed}, &draw{mix(seed + golden*uint64(w.Rank()+1))}
	c := &kase{world: w, seed: seed, setup: drawSetup(d, own, w)}
	if d.one(3) {
		c.load = drawBoxes(d, own, w.Rank(), w.Size())
		return c, nil
	}
	var err error
	c.load, err = drawTensors(d, own, w.Rank(), w.Size())
	return c, err
}

// run carries the case out. An error ends the storm; what is wrong else is in
// c.wrong.
func (c *kase) run(streams []*ccrun.Stream) error {
	if err := c.open(); err != nil {
		return err
	}
	for number := range c.setup.runs {
		if err := c.once(number, streams[:c.setup.streams]); err != nil {
			return err
		}
	}
	return errors.Join(c.pipeline.Destroy(), c.source.Free(), c.target.Free())
}

// open makes the buffers and the pipeline, whose budget depends on what a
// pipeline without one says of its buckets.
func (c *kase) open() (err error) {
	source, target := c.load.sizes()
	if c.source, err = c.world.Alloc(source); err != nil {
		return err
	}
	if c.target, err = c.world.Alloc(target); err != nil {
		return err
	}
	c.entries = c.load.entries()
	for i := range c.entries {
		e := &c.entries[i]
		e.Transport = c.setup.transport(i, e)
		e.Src.Buffer, e.Dst.Buffer = c.source, c.target
	}
	if err := c.build(0); err != nil {
		return err
	}
	// All ranks make the same pipelines, so also one that has no budget does it.
	budget := budgets[c.setup.budget].of(c.plan.LargestBytes)
	if err := errors.Join(c.pipeline.Destroy(), c.build(budget)); err != nil {
		return err
	}
	return c.pipeline.Agree(ccrun.Forever)
}

func (c *kase) build(maxBytes int64) (err error) {
	c.setup.options.MaxBytes = maxBytes
	if c.pipeline, err = c.world.NewPipeline(c.setup.options); err != nil {
		return err
	}
	half := len(c.entries) / 2
	if err := errors.Join(c.pipeline.Add(c.entries[:half]...), c.pipeline.Add(c.entries[half:]...)); err != nil {
		return err
	}
	c.plan, err = c.pipeline.Build()
	return err
}

// once runs the pipeline and looks at all bytes of both buffers.
func (c *kase) once(number int, streams []*ccrun.Stream) error {
	salt := mix(c.seed + uint64(number))
	have, want := make([]byte, c.source.Bytes()), make([]byte, c.target.Bytes())
	guard(have, salt)
	guard(want, salt+1)
	if err := c.target.Write(want, 0); err != nil {
		return err
	}
	c.load.source(have, salt)
	c.load.target(want, salt)
	err := errors.Join(c.source.Write(have, 0), c.pipeline.Run(streams, ccrun.Forever))
	if err != nil {
		return err
	}
	if err := errors.Join(c.compare("source", c.source, have), c.compare("target", c.target, want)); err != nil {
		return err
	}
	stats, err := c.pipeline.Stats()
	c.judge(&stats, number)
	return err
}

// compare looks at a whole buffer.
func (c *kase) compare(name string, b *ccrun.Buffer, want []byte) error {
	got := make([]byte, len(want))
	if err := b.Read(got, 0); err != nil {
		return err
	}
	if c.host.spoil != nil {
		c.host.spoil(name, got)
	}
	if bytes.Equal(got, want) {
		return nil
	}
	first, count := -1, 0
	for i := range got {
		if got[i] != want[i] {
			if count++; first < 0 {
				first = i
			}
		}
	}
	c.wrongf("%s buffer: %d of %d bytes, the first at %d, %#x instead of %#x", name, count, len(got), first, got[first], want[first])
	return nil
}

func (c *kase) wrongf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *kase) String() string {
	kind := "tensors"
	if _, ok := c.load.(*boxes); ok {
		kind = "boxes"
	}
	return fmt.Sprintf("%s, %d entries in %d buckets, %d of this rank's, the largest %d bytes; %s", kind, c.plan.Entries, c.plan.Buckets, c.plan.Mine, c.plan.LargestBytes, &c.setup)
}

// verdict is what is wrong, in a line.
func (c *kase) verdict() string { return strings.Join(c.wrong, "; ") }
