package module

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/host/pipeline"
)

// pipeRun is a run of a pipeline: it carries out what the machine asks for and
// tells it what has happened.
type pipeRun struct {
	*Instance
	pipe     *pipe
	underWay bool
	err      error // why the last run failed, nil if it did not

	lanes   []lane
	laneOf  []int32 // by task, -1 if it has none
	shape   op.BoxShape
	pieces  []piece
	views   []op.View
	actions []pipeline.Action
	events  []pipeline.Event // that follow from actions at once
	points  []device.Point
	reach   []pipeline.Event // by point: what it says; Task is the lane's for an event

	base    uint64          // what its signal slots held at most when it began
	credits []uint64        // by rank: of the buckets that this rank sends to it, how many it has admitted
	owed    []uint64        // how many it will admit
	heard   []uint64        // by rank: place before which its buckets have arrived
	number  uint32          // collective of the run
	told    pipeline.Status // what the guest was told last

	deviceStart, devicePeak int64
}

var errSlots = &refusal{abi.Invalid, "first_slot or first_channel: another pipeline under way uses some of the same"}

var errBurnt = &refusal{abi.Invalid, "first_slot or first_channel: a pipeline that failed has used some of the same: use others"}

// pipelineStart begins a run.
func pipelineStart(c *call) error {
	p := c.pipe
	switch {
	case p.plan == nil:
		return errNotBuilt
	case !p.agreed:
		return refuse(abi.Invalid, "ranks have not agreed on the pipeline: call pipeline_agree first")
	case p.run.underWay:
		return errUnderWay
	case p.run.err != nil:
		return refuse(abi.Failed, "an earlier run failed: %v", p.run.err)
	case len(c.in) == 0:
		return refuse(abi.Invalid, "streams: none")
	}
	if err := c.checkSlots(p); err != nil {
		return err
	}
	streams, err := c.streamsOf(c.in)
	if err != nil {
		return err
	}
	return c.startPipe(p, streams)
}

// checkSlots refuses slots and channels that another run uses, or has used and
// failed: another rank may not have heard of that yet, and messages of it may
// still wait to be received.
func (c *call) checkSlots(p *pipe) error {
	for _, other := range c.pipes.all() {
		switch {
		case other == p || !p.overlaps(&other.pipeParams):
		case other.run.underWay:
			return errSlots
		case other.run.err != nil:
			return errBurnt
		}
	}
	for i := range c.burnt {
		if p.overlaps(&c.burnt[i]) {
			return errBurnt
		}
	}
	return nil
}

// overlaps reports whether two pipelines use the same slots or channels.
func (p *pipeParams) overlaps(o *pipeParams) bool {
	slots := p.firstSlot < o.firstSlot+pipelineSlots && o.firstSlot < p.firstSlot+pipelineSlots
	wires := p.firstWire < o.firstWire+o.channels && o.firstWire < p.firstWire+p.channels
	return slots || wires
}

// streamsOf reads handles of streams, none of them twice.
func (c *call) streamsOf(b []byte) ([]device.Stream, error) {
	var streams []device.Stream
	for at := 0; at < len(b); at += 8 {
		s, err := c.streams.get(get64(b[at:]))
		if err == nil && slices.Contains(streams, s) {
			err = refuse(abi.Invalid, "the same stream twice")
		}
		if err != nil {
			return nil, fmt.Errorf("streams: stream %d: %w", at/8, err)
		}
		streams = append(streams, s)
	}
	return streams, nil
}

// startPipe makes ready for a run, and begins it.
func (c *call) startPipe(p *pipe, streams []device.Stream) error {
	r := &p.run
	r.Instance, r.pipe = c.Instance, p
	limits := p.limits
	limits.Streams = len(streams)
	machine := p.machine
	if machine == nil || len(streams) != len(r.lanes) {
		var err error
		if machine, err = pipeline.NewMachine(p.plan, c.config.Rank, p.tasks, p.staging, limits); err != nil {
			return refuse(abi.Invalid, "%v", err)
		}
	}
	if err := r.setLanes(streams); err != nil {
		p.machine = nil // its streams may not be those that lanes were made for
		return err
	}
	r.takeSlots()
	r.clear()
	machine.Reset(c.config.Device.Now())
	p.machine, r.underWay = machine, true
	p.runs++
	r.beginCollective()
	if err := r.feed(pipeline.Event{Kind: pipeline.Begin}); err != nil {
		return err
	}
	return nil
}

// setLanes gives each stream an event, and makes the stream of signals.
func (r *pipeRun) setLanes(streams []device.Stream) error {
	d := r.config.Device
	if r.signals == nil {
		s, err := d.NewStream()
		if err != nil {
			return fmt.Errorf("a stream for signals: %w", err)
		}
		r.signals = s
	}
	for len(r.lanes) < len(streams) {
		e, err := d.NewEvent()
		if err != nil {
			return fmt.Errorf("an event for each stream: %w", err)
		}
		r.lanes = append(r.lanes, lane{event: e})
	}
	for _, unused := range r.lanes[len(streams):] {
		_ = unused.event.Close()
		if unused.sums.buffer != nil {
			_ = d.Free(unused.sums.buffer)
		}
	}
	r.lanes = r.lanes[:len(streams)]
	for i := range r.lanes {
		r.lanes[i].stream, r.lanes[i].task = streams[i], -1
	}
	return r.makeSums()
}

// takeSlots works out which values this run may raise its signal slots to: more
// than any run before, of whichever pipeline. All ranks come to the same.
func (r *pipeRun) takeSlots() {
	p := r.pipe
	r.base = 0
	for slot := p.firstSlot; slot < p.firstSlot+pipelineSlots; slot++ {
		r.base = max(r.base, r.slotBases[slot])
	}
	next := r.base + 2*uint64(len(p.plan.Buckets)) + 3
	for slot := p.firstSlot; slot < p.firstSlot+pipelineSlots; slot++ {
		r.slotBases[slot] = next
	}
}

// The slots of a pipeline, and what is raised there beyond the base: a rank's
// watermark and one, or the number of buckets, the place of one that failed and
// two; and how many buckets of the peer's a rank has admitted.
const (
	watermarkSlot = iota
	creditSlot
)

func (r *pipeRun) clear() {
	size := r.config.Size
	r.credits = resized(r.credits, size)
	r.heard = resized(r.heard, size)
	r.owed = resized(r.owed, size)
	r.laneOf = resized(r.laneOf, len(r.pipe.tasks))
	for i := range r.laneOf {
		r.laneOf[i] = -1
	}
	for i := range r.pipe.tasks {
		t := &r.pipe.tasks[i]
		for _, e := range t.To {
			r.owed[e.Rank] = max(r.owed[e.Rank], uint64(e.Ordinal)+1)
		}
		if t.AddTo.Rank >= 0 {
			r.owed[t.AddTo.Rank] = max(r.owed[t.AddTo.Rank], uint64(t.AddTo.Ordinal)+1)
		}
	}
	r.err, r.told = nil, pipeline.Status{}
	r.pipe.pool.asked = 0
	r.deviceStart = r.config.Recorder.Counters().BufferBytes - r.pipe.pool.allocated
	r.devicePeak = r.deviceStart + r.pipe.pool.allocated
}

// resized is a slice of n zeroes.
func resized[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// beginCollective opens the run in the trace.
func (r *pipeRun) beginCollective() {
	p, t := r.pipe, &r.trace
	t.sequence++
	r.number = t.sequence
	record := flight.Record{
		Collective: t.sequence, Start: r.config.Device.Now(), Bytes: uint64(p.plan.Bytes), Chunk: uint32(r.config.Size), Peer: -1,
		Aux: uint32(r.call.nameIndex([]byte(p.name))) | word(p.warmup)*warmup, Kind: uint8(op.Collective), Red: uint8(op.Custom),
	}
	t.open = append(t.open, record)
	r.config.Recorder.BeginCollective(r.number, record.Red)
	if r.config.Notes != nil {
		r.config.Notes.CollectiveBegun(&t.open[len(t.open)-1], p.name)
	}
}

func (r *pipeRun) endCollective(status uint8) {
	t := &r.trace
	at := slices.IndexFunc(t.open, func(o flight.Record) bool { return o.Collective == r.number })
	if at < 0 {
		return
	}
	r.appendMark(&t.open[at], status)
	t.open = slices.Delete(t.open, at, at+1)
	if r.config.Notes != nil {
		r.config.Notes.CollectiveEnded(r.number)
	}
}

// close gives the run's stream and events back.
func (r *pipeRun) close() error {
	for i := range r.lanes {
		_ = r.lanes[i].event.Close()
	}
	sums := error(nil)
	if r.Instance != nil {
		sums = r.dropSums(r.config.Device)
	}
	r.lanes = nil
	return sums
}

// pipelinePoll does what can be done now.
func pipelinePoll(c *call) error {
	p := c.pipe
	if err := c.started(p); err != nil {
		return err
	}
	for p.run.underWay {
		moved, err := p.run.wait(0)
		if err != nil {
			return err
		}
		if !moved {
			break
		}
	}
	return p.run.status(c.out[0])
}

// pipelineWait waits for the end, or for the script to be asked again.
func pipelineWait(c *call) error {
	p, began, timeout := c.pipe, c.moment(), c.timeout(1)
	if err := c.started(p); err != nil {
		return err
	}
	for p.run.underWay {
		if p.run.asksScript() {
			break
		}
		moved, err := p.run.wait(c.remaining(timeout, began))
		if err != nil {
			return err
		}
		if !moved {
			return fmt.Errorf("%w: %s", device.ErrTimeout, p.run.progress())
		}
	}
	return p.run.status(c.out[0])
}

// asksScript reports whether the script is to be asked: all that it lets the
// rank admit is admitted, and something has happened since it was told last how
// far the rank is.
func (r *pipeRun) asksScript() bool {
	s := r.pipe.machine.Status()
	return r.pipe.limits.Policy == pipeline.Scripted && s.Stalled == pipeline.StallPolicy && s != r.told
}

// started is nil if there is a run to speak of.
func (c *call) started(p *pipe) error {
	if p.machine == nil {
		return refuse(abi.Invalid, "the pipeline was never started: call pipeline_start first")
	}
	if p.run.err != nil {
		return p.run.err
	}
	return nil
}

// pipelineAdmit raises the script's limit.
func pipelineAdmit(c *call) error {
	p := c.pipe
	if err := c.started(p); err != nil {
		return err
	}
	if p.limits.Policy != pipeline.Scripted {
		return refuse(abi.Invalid, "the pipeline's policy is not scripted")
	}
	if !p.run.underWay {
		return nil
	}
	return p.run.feed(pipeline.Event{Kind: pipeline.AdmitUpTo, Value: uint64(c.uint32(1))})
}

// wait waits for something to happen and has the machine know; moved is false
// if nothing did within the timeout.
func (r *pipeRun) wait(timeout time.Duration) (moved bool, err error) {
	r.setPoints()
	at, err := r.config.Device.WaitAny(r.points, timeout)
	switch {
	case errors.Is(err, device.ErrTimeout):
		return false, nil
	case err != nil:
		return false, withoutOperation(err)
	}
	if e := &r.reach[at]; e.Kind == pipeline.Arrived {
		return true, r.laneReached(&r.lanes[e.Task])
	} else if e.Kind == pipeline.Credited {
		return true, r.hearCredit(e.Peer)
	} else {
		return true, r.hearPeer(e.Peer)
	}
}

// setPoints lists what the run can wait for: buckets on their lanes, credits,
// and what other ranks have to say, each as little as makes a difference.
func (r *pipeRun) setPoints() {
	r.points, r.reach = r.points[:0], r.reach[:0]
	for i := range r.lanes {
		if r.lanes[i].busy {
			r.addPoint(device.Point{Event: r.lanes[i].event}, pipeline.Event{Kind: pipeline.Arrived, Task: int32(i)})
		}
	}
	all := uint64(len(r.pipe.plan.Buckets))
	for rank := range r.heard {
		peer := int32(rank)
		if rank == r.config.Rank {
			continue
		}
		if r.pipe.limits.Policy == pipeline.Credits && r.credits[rank] < r.owed[rank] {
			r.addPoint(device.Point{Peer: rank, Slot: r.pipe.firstSlot + creditSlot, Value: r.base + r.credits[rank] + 1},
				pipeline.Event{Kind: pipeline.Credited, Peer: peer})
		}
		if r.heard[rank] > all {
			continue
		}
		next := all
		if r.pipe.limits.TellsPlaces() {
			next = r.heard[rank]
		}
		r.addPoint(device.Point{Peer: rank, Slot: r.pipe.firstSlot + watermarkSlot, Value: r.base + next + 1},
			pipeline.Event{Kind: pipeline.Heard, Peer: peer})
	}
}

func (r *pipeRun) addPoint(p device.Point, e pipeline.Event) {
	r.points, r.reach = append(r.points, p), append(r.reach, e)
}

func (r *pipeRun) hearCredit(peer int32) error {
	v, err := r.config.Device.SignalValue(int(peer), r.pipe.firstSlot+creditSlot)
	if err != nil {
		return err
	}
	r.credits[peer] = min(v-r.base, r.owed[peer]) // the peer may have begun its next run
	return r.feed(pipeline.Event{Kind: pipeline.Credited, Peer: peer, Value: r.credits[peer]})
}

// hearPeer reads a rank's watermark. heard is one more than what it was told, so
// that "nothing yet" is told from "before place 0".
func (r *pipeRun) hearPeer(peer int32) error {
	v, err := r.config.Device.SignalValue(int(peer), r.pipe.firstSlot+watermarkSlot)
	if err != nil {
		return err
	}
	all, told := uint64(len(r.pipe.plan.Buckets)), v-r.base
	if told > 2*all+2 { // it has begun its next run
		told = all + 1
	}
	if told >= all+2 {
		r.heard[peer] = all + 1
		return r.feed(pipeline.Event{Kind: pipeline.PeerFailed, Peer: peer, Task: -1, Value: told - all - 2})
	}
	r.heard[peer] = told
	return r.feed(pipeline.Event{Kind: pipeline.Heard, Peer: peer, Value: told - 1})
}
