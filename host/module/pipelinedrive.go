package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// feed tells the machine what has happened, does what it asks for, and tells it
// what that has led to at once.
func (r *pipeRun) feed(e pipeline.Event) error {
	r.events = append(r.events[:0], e)
	for n := 0; n < len(r.events); n++ {
		r.actions = r.pipe.machine.Step(r.config.Device.Now(), r.events[n], r.actions[:0])
		for i := range r.actions {
			a := &r.actions[i]
			if err := r.act(a); err != nil {
				r.failed(a, err)
			}
		}
	}
	if r.underWay {
		return nil
	}
	return r.err
}

// failed notes why the run has failed, first of all, and has the machine know.
func (r *pipeRun) failed(a *pipeline.Action, err error) {
	task := int32(-1) // a signal that fails is no bucket's fault
	if a.Kind == pipeline.Launch || a.Kind == pipeline.Finalize {
		task = a.Task
	}
	if r.err == nil {
		r.err = r.explain(task, err)
		r.note("pipeline", r.err)
	}
	r.events = append(r.events, pipeline.Event{Kind: pipeline.Failed, Task: task})
}

func (r *pipeRun) act(a *pipeline.Action) error {
	switch a.Kind {
	case pipeline.Launch:
		return r.launch(a.Task, a.Stream)
	case pipeline.Finalize:
		return r.finalize(a.Task)
	case pipeline.Release:
		r.release(a.Task)
	case pipeline.Grant:
		return r.signal(a.Peer, creditSlot, r.base+a.Value)
	case pipeline.Tell:
		return r.signalAll(r.base + a.Value + 1)
	case pipeline.Warn:
		return r.signalAll(r.base + uint64(len(r.pipe.plan.Buckets)) + 2 + a.Value)
	case pipeline.End:
		r.end()
	}
	return nil
}

func (r *pipeRun) signal(peer int32, slot uint32, value uint64) error {
	r.op = op.Op{Kind: op.Signal, Peer: peer, Slot: r.pipe.firstSlot + slot, Value: value, Term: op.Term{Collective: r.number}}
	return r.signals.Submit(&r.op)
}

// signalAll tells all others, those behind one that cannot be told too.
func (r *pipeRun) signalAll(value uint64) error {
	var first error
	for rank := range r.config.Size {
		if rank == r.config.Rank {
			continue
		}
		if err := r.signal(int32(rank), watermarkSlot, value); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// launch takes staging memory for a bucket and submits its transfers, and, if
// nothing is to be waited for in between, what follows them.
func (r *pipeRun) launch(task, stream int32) error {
	l := &r.lanes[stream]
	buffer, err := r.pipe.pool.take(r.config.Device, r.pipe.staging[task])
	if err != nil {
		return err
	}
	r.devicePeak = max(r.devicePeak, r.config.Recorder.Counters().BufferBytes)
	l.take(task, buffer)
	r.laneOf[task] = stream
	m := r.movement(l)
	if err := m.transfer(); err != nil {
		return err
	}
	if !r.pipe.staged() {
		if err := m.land(); err != nil {
			return err
		}
	}
	return m.record()
}

// finalize submits what writes a bucket to where it belongs, unless launch has.
func (r *pipeRun) finalize(task int32) error {
	l := &r.lanes[r.laneOf[task]]
	if !r.pipe.staged() || !r.pipe.tasks[task].Lands {
		r.events = append(r.events, pipeline.Event{Kind: pipeline.Finished, Task: task})
		return nil
	}
	l.landing = true
	m := r.movement(l)
	if err := m.land(); err != nil {
		return err
	}
	return m.record()
}

func (r *pipeRun) release(task int32) {
	l := &r.lanes[r.laneOf[task]]
	r.pipe.pool.give(l.buffer)
	r.pipe.machine.AddOperations(-l.ops)
	l.task, l.buffer = -1, nil
	r.laneOf[task] = -1
}

// laneReached is the event of a lane: what was submitted to it is done, or has
// failed.
func (r *pipeRun) laneReached(l *lane) error {
	task := l.task
	l.busy = false
	if err := l.event.Sync(0); err != nil {
		if errors.Is(err, device.ErrAborted) {
			return err
		}
		return r.fail(task, err)
	}
	if more, err := l.goOn(&r.op); err != nil {
		return r.fail(task, err)
	} else if more {
		return nil
	}
	switch {
	case l.landing:
		return r.feed(pipeline.Event{Kind: pipeline.Finished, Task: task})
	case r.pipe.checksum:
		if done, err := r.exchangeSums(l); err != nil {
			return r.fail(task, err)
		} else if !done {
			return nil
		}
	}
	return r.feed(pipeline.Event{Kind: pipeline.Arrived, Task: task})
}

// fail ends the run because of a bucket, on this rank and on all others.
func (r *pipeRun) fail(task int32, err error) error {
	if r.err == nil {
		r.err = r.explain(task, err)
		r.note("pipeline", r.err)
	}
	return r.feed(pipeline.Event{Kind: pipeline.Failed, Task: task})
}

// explain says which bucket an error is about.
func (r *pipeRun) explain(task int32, err error) error {
	if task < 0 {
		return err
	}
	return fmt.Errorf("%s: %w", r.bucketAt(r.pipe.tasks[task].Place), err)
}

// bucketAt describes the bucket at a place of the order.
func (r *pipeRun) bucketAt(place int32) string {
	if int(place) >= len(r.pipe.plan.Order) {
		return "the run"
	}
	bucket := r.pipe.plan.Order[place]
	b := &r.pipe.plan.Buckets[bucket]
	return fmt.Sprintf("bucket %d at place %d (%d bytes, %s)", bucket, place, b.Bytes, r.pipe.plan.Describe(int(b.Entries[0])))
}

// end is the end of the run.
func (r *pipeRun) end() {
	if !r.underWay {
		return
	}
	r.underWay = false
	status := r.pipe.machine.Status()
	if status.Failed && r.err == nil {
		r.err = refuse(abi.Failed, "rank %d says that it failed: %s", status.FailedRank, r.bucketAt(int32(status.FailedPlace)))
	}
	if r.err != nil {
		r.endCollective(flight.StatusFailed)
		return
	}
	r.endCollective(flight.StatusOK)
}

// progress is how far the run is, for the text of a deadline that passed.
func (r *pipeRun) progress() string {
	s := r.pipe.machine.Status()
	return fmt.Sprintf("%d of %d buckets are finished, %d in flight", s.Finished, s.Mine, s.InFlight)
}

// status writes the pipeline_status structure.
func (r *pipeRun) status(b []byte) error {
	s := r.pipe.machine.Status()
	r.told = s
	clear(b[:abi.PipelineStatusBytes])
	for n, v := range [...]int{s.Mine, s.Admitted, s.Finished, s.Next, s.Published, int(s.Stalled), int(word(s.Done))} {
		put32(b[4*n:], uint32(v))
	}
	put64(b[32:], uint64(s.HeldBytes))
	return nil
}

// pipelineStats writes the pipeline_stats structure.
func pipelineStats(c *call) error {
	p := c.pipe
	if p.machine == nil {
		return refuse(abi.Invalid, "the pipeline was never started: call pipeline_start first")
	}
	r, b := &p.run, c.out[0]
	s := p.machine.Stats(c.config.Device.Now())
	clear(b[:abi.PipelineStatsBytes])
	for n, v := range [...]int64{s.Nanos, s.Sent, s.Received, s.Copied, s.PeakBytes, s.MeanBytes} {
		put64(b[8*n:], uint64(v))
	}
	for n, v := range [...]int{s.PeakBuckets, s.PeakOperations, s.PeakDescriptors, s.Buckets} {
		put32(b[48+4*n:], uint32(v))
	}
	put64(b[64:], uint64(s.MeanBucketsMilli))
	put64(b[72:], uint64(s.Operations))
	put64(b[80:], uint64(r.devicePeak-r.deviceStart))
	for cause := pipeline.StallOrder; cause < pipeline.StallCount; cause++ {
		put64(b[88+8*(int(cause)-1):], uint64(s.Stalls[cause]))
	}
	put64(b[152:], uint64(p.runs))
	put64(b[160:], uint64(s.Skipped))
	put64(b[168:], uint64(p.pool.asked))
	return nil
}
