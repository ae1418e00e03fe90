package main

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// bench is a schedule to be timed: what each rank submits.
type bench struct {
	preset    *preset.Preset
	ranks     int
	realBytes int64 // of buffers that hold data; 0: none
	// prepare makes a rank's buffers and streams and gives what submits its
	// operations.
	prepare func(r *rank) (submit func())
}

// seconds is the virtual time from when all ranks begin, at the same instant,
// to when the last rank's thread knows that its operations are done.
func (b *bench) seconds() (float64, error) {
	c, err := sim.New(sim.Options{Preset: b.preset, Ranks: b.ranks, Seed: 1, RealBytes: b.realBytes})
	if err != nil {
		return 0, err
	}
	w := &world{cluster: c, handles: make(map[string][]device.Handle)}
	ranks, bodies := make([]*rank, b.ranks), make([]func(), b.ranks)
	for i := range ranks {
		ranks[i] = &rank{world: w, number: i, size: b.ranks}
		bodies[i] = func() { ranks[i].run(b) }
	}
	err = c.Run(bodies)
	last := int64(0)
	for _, r := range ranks {
		last = max(last, r.end)
		if r.err != nil && !errors.Is(r.err, device.ErrAborted) {
			err = errors.Join(err, fmt.Errorf("rank %d: %w", r.number, r.err))
		}
	}
	return float64(last-ranks[0].start) / 1e9, err
}

// world is what the ranks of a bench share.
type world struct {
	cluster *sim.Cluster
	handles map[string][]device.Handle
}

// rank is one of a bench. After its first error it does nothing more.
type rank struct {
	*world
	number, size int
	device       device.Device
	streams      []device.Stream
	start, end   int64  // when it begins to submit, and when all is done
	finally      func() // what prepare wants done at the end; may be nil
	err          error
}

// run is the body of the rank.
func (r *rank) run(b *bench) {
	r.do(func() (err error) {
		r.device, err = r.cluster.Open(device.Config{Rank: r.number, Size: r.size, Exchange: r.cluster.Exchange(r.number)})
		return err
	})
	if r.err == nil {
		if submit := b.prepare(r); r.err == nil {
			r.timed(submit)
		}
	}
	if r.err != nil {
		r.cluster.Abort(r.err)
	}
}

// timed submits the operations and waits for their end.
func (r *rank) timed(submit func()) {
	r.barrier()
	r.start = r.device.Now()
	submit()
	for _, s := range r.streams {
		r.do(func() error { return s.Sync(device.Forever) })
	}
	r.end = r.device.Now()
	if r.finally != nil {
		r.finally()
	}
}

// do calls f unless something has failed already.
func (r *rank) do(f func() error) {
	if r.err == nil {
		r.err = f()
	}
}

func (r *rank) barrier() { r.do(func() error { return r.device.Barrier(device.Forever) }) }

// submit appends an operation to a stream.
func (r *rank) submit(s device.Stream, o op.Op) {
	r.do(func() error { return s.Submit(&o) })
}

// stream makes one that timed waits for.
func (r *rank) stream() device.Stream {
	var s device.Stream
	r.do(func() (err error) {
		s, err = r.device.NewStream()
		return err
	})
	r.streams = append(r.streams, s)
	return s
}

// event makes an event.
func (r *rank) event() device.Event {
	var e device.Event
	r.do(func() (err error) {
		e, err = r.device.NewEvent()
		return err
	})
	return e
}

// buffer makes one of this rank's own.
func (r *rank) buffer(bytes int64) op.Buffer {
	var b op.Buffer
	r.do(func() (err error) {
		b, err = r.device.Alloc(bytes)
		return err
	})
	return b
}

// share makes a buffer of all ranks and gives every rank's, this one's at its
// own place. All ranks call it in the same order.
func (r *rank) share(name string, bytes int64) []op.Buffer {
	all := make([]op.Buffer, r.size)
	all[r.number] = r.buffer(bytes)
	if r.handles[name] == nil {
		r.handles[name] = make([]device.Handle, r.size)
	}
	r.do(func() (err error) {
		r.handles[name][r.number], err = r.device.Export(op.View{Buf: all[r.number]}, bytes)
		return err
	})
	r.barrier()
	for peer := range r.size {
		if peer == r.number {
			continue
		}
		r.do(func() (err error) {
			all[peer], err = r.device.Import(peer, r.handles[name][peer])
			return err
		})
	}
	return all
}

// signal raises a slot at a peer, which wait waits for.
func (r *rank) signal(s device.Stream, peer int, slot uint32) {
	r.submit(s, op.Op{Kind: op.Signal, Peer: int32(peer), Slot: slot, Value: 1})
}

func (r *rank) wait(s device.Stream, peer int, slot uint32) {
	r.submit(s, op.Op{Kind: op.Wait, Peer: int32(peer), Slot: slot, Value: 1})
}

// record and after order a stream behind another.
func (r *rank) record(s device.Stream, e device.Event) {
	r.submit(s, op.Op{Kind: op.EventRecord, Event: e})
}

func (r *rank) after(s device.Stream, e device.Event) {
	r.submit(s, op.Op{Kind: op.EventWait, Event: e})
}

// peers is the other ranks, from the next one on, so that not all turn to the
// same one first.
func (r *rank) peers() []int {
	var all []int
	for i := 1; i < r.size; i++ {
		all = append(all, (r.number+i)%r.size)
	}
	return all
}
