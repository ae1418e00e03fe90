// Pipelinecorners is bucket pipelines where they meet something else: streams
// that are full, orders that change, channels and slots that others use, runs
// that failed. Its argument names the case; it prints what came of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

const (
	rowBytes = 64
	patience = 20 * time.Second
)

func main() {
	world, err := ccrun.Open()
	if err == nil {
		c := corner{world: world}
		err = c.run(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pipelinecorners:", err)
		os.Exit(1)
	}
}

// corner is a case on one rank, with one buffer that everything lies in.
type corner struct {
	world  *ccrun.World
	buffer *ccrun.Buffer
}

func (c *corner) run(args []string) error {
	cases := map[string]func() error{
		"full": c.full, "order": c.order, "channels": c.channels, "raised": c.raised, "failed": c.failed,
	}
	if len(args) != 1 || cases[args[0]] == nil {
		return errors.New("name one case: full, order, channels, raised or failed")
	}
	var err error
	if c.buffer, err = c.world.Alloc(1 << 20); err != nil {
		return err
	}
	return cases[args[0]]()
}

// pipeline makes one of entries of one row each.
func (c *corner) pipeline(o ccrun.PipelineOptions, entries ...ccrun.PipelineEntry) (*ccrun.Pipeline, error) {
	p, err := c.world.NewPipeline(o)
	if err != nil {
		return nil, err
	}
	if err := p.Add(entries...); err != nil {
		return nil, err
	}
	_, err = p.Build()
	return p, err
}

// entry is a row that goes from one rank to another, n rows from the start.
func (c *corner) entry(from, to, n int, bytes int64, t ccrun.Transport) ccrun.PipelineEntry {
	at := ccrun.Place{Buffer: c.buffer, Offset: int64(n) * rowBytes}
	return ccrun.PipelineEntry{
		Source: from, Destinations: []int{to}, Transport: t, Tensor: n, Planes: 1, Rows: 1, RowBytes: bytes, Src: at, Dst: at,
	}
}

func (c *corner) streams(n int) ([]*ccrun.Stream, error) {
	var all []*ccrun.Stream
	for range n {
		s, err := c.world.NewStream()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// full has buckets of more operations than a stream has room for, between all
// ranks, each of which may have few in flight: none may block its rank.
func (c *corner) full() error {
	const many = 1500
	for t := ccrun.Packed; t <= ccrun.Direct; t++ {
		var entries []ccrun.PipelineEntry
		for from := range c.world.Size() {
			for to := range c.world.Size() {
				for n := range many {
					if from != to {
						entries = append(entries, c.entry(from, to, n, rowBytes, t))
					}
				}
			}
		}
		p, err := c.pipeline(ccrun.PipelineOptions{BucketBytes: many * rowBytes, MaxInFlight: 1, MaxBuckets: 1 + c.world.Rank()}, entries...)
		if err != nil {
			return err
		}
		streams, err := c.streams(2)
		if err != nil {
			return err
		}
		if err := errors.Join(p.Agree(patience), p.Run(streams, patience), p.Destroy()); err != nil {
			return fmt.Errorf("transport %d: %w", t, err)
		}
		for _, s := range streams {
			if err := s.Close(); err != nil {
				return err
			}
		}
	}
	fmt.Println("full: all have arrived")
	return nil
}

// order has rank 1 propose an order, give up waiting for the others, and want
// another one, which they have not seen.
func (c *corner) order() error {
	p, err := c.pipeline(ccrun.PipelineOptions{}, c.entry(0, 1, 0, rowBytes, 0), c.entry(0, 1, 1, rowBytes, 0))
	if err != nil {
		return err
	}
	if c.world.Rank() == 1 {
		if err := p.Agree(0); !errors.Is(err, ccrun.ErrTimedOut) {
			return fmt.Errorf("agreed alone: %v", err)
		}
		if err := p.SetOrder([]int{1, 0}); !errors.Is(err, ccrun.ErrInvalid) {
			return fmt.Errorf("another order than was proposed: %v", err)
		}
	}
	if err := errors.Join(c.world.Barrier(ccrun.Forever), p.Agree(patience)); err != nil {
		return err
	}
	fmt.Println("order: kept")
	return nil
}

// channels has two pipelines under way of which one answers on channels that
// the other sends on.
func (c *corner) channels() error {
	a, err := c.pipeline(ccrun.PipelineOptions{FirstChannel: 0, Channels: 4}, c.entry(0, 1, 0, rowBytes, ccrun.Direct))
	if err != nil {
		return err
	}
	b, err := c.pipeline(ccrun.PipelineOptions{FirstChannel: 2, Channels: 2, FirstSlot: 8}, c.entry(1, 0, 1, rowBytes, ccrun.Packed))
	if err != nil {
		return err
	}
	streams, err := c.streams(2)
	if err != nil {
		return err
	}
	if err := errors.Join(a.Agree(patience), b.Agree(patience), a.Start(streams[0])); err != nil {
		return err
	}
	if err := b.Start(streams[1]); !errors.Is(err, ccrun.ErrInvalid) {
		return fmt.Errorf("both are under way: %v", err)
	}
	if _, err := a.Wait(patience); err != nil {
		return err
	}
	if err := b.Run(streams[1:], patience); err != nil {
		return err
	}
	fmt.Println("channels: one after the other")
	return nil
}

// raised has a guest use the pipeline's slots before: a run must not take that
// for what its peers say.
func (c *corner) raised() error {
	streams, err := c.streams(1)
	if err != nil {
		return err
	}
	me, peer := c.world.Rank(), 1-c.world.Rank()
	for slot := range 4 {
		streams[0].Signal(peer, slot, uint64(1000*slot+me))
	}
	if err := errors.Join(streams[0].Sync(), c.world.Barrier(ccrun.Forever)); err != nil {
		return err
	}
	p, err := c.pipeline(ccrun.PipelineOptions{}, c.entry(1, 1, 0, rowBytes, 0))
	if err != nil {
		return err
	}
	if err := p.Agree(patience); err != nil {
		return err
	}
	if me == 0 {
		if err := p.Start(streams...); err != nil {
			return err
		}
		if status, err := p.Poll(); err != nil || status.Done {
			return fmt.Errorf("done before rank 1 has begun: %v", err)
		}
	}
	if err := c.world.Barrier(ccrun.Forever); err != nil {
		return err
	}
	if me == 1 {
		err = p.Start(streams...)
	}
	if _, waited := p.Wait(patience); err != nil || waited != nil {
		return errors.Join(err, waited)
	}
	fmt.Println("raised: waited for the other rank")
	return nil
}

// failed has a rank without memory for a bucket, which then wants another
// pipeline on the same slots: the others must hear of the failure all the same.
func (c *corner) failed() error {
	wide := c.entry(0, 1, 0, rowBytes, ccrun.Packed)
	wide.Rows, wide.Src.Row, wide.Dst.Row = 2, rowBytes, 2*rowBytes
	a, err := c.pipeline(ccrun.PipelineOptions{}, wide)
	if err != nil {
		return err
	}
	b, err := c.pipeline(ccrun.PipelineOptions{}, c.entry(1, 1, 8, rowBytes, 0))
	if err != nil {
		return err
	}
	streams, err := c.streams(1)
	if err != nil {
		return err
	}
	if err := errors.Join(a.Agree(patience), b.Agree(patience)); err != nil {
		return err
	}
	if c.world.Rank() == 1 {
		for bytes := int64(1 << 40); bytes > 0; bytes /= 2 {
			for err = nil; err == nil; _, err = c.world.Alloc(bytes) {
			}
		}
		if err := a.Start(streams...); !errors.Is(err, ccrun.ErrNoMemory) {
			return fmt.Errorf("started without memory: %v", err)
		}
		if err := errors.Join(a.Destroy()); err != nil {
			return err
		}
		if err := b.Start(streams...); !errors.Is(err, ccrun.ErrInvalid) {
			return fmt.Errorf("slots of a failed run were used again: %v", err)
		}
	} else if err := a.Run(streams, patience); !errors.Is(err, ccrun.ErrFailed) {
		return fmt.Errorf("not told of the failure: %v", err)
	}
	fmt.Println("failed: told, and left alone")
	c.world.Abort(7, "as the case ends")
	return nil
}
