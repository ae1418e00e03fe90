package oplog

import (
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// comm is a communicator whose calls are recorded.
type comm struct {
	device.Comm
	recorder *Recorder
	number   uint32
}

// Close implements device.Comm.
func (c *comm) Close() error {
	err := c.Comm.Close()
	if c.number != 0 {
		c.recorder.add(verbCommClose, append(c.recorder.begin(), int64(c.number)))
		c.recorder.numbers[commLetter].giveBack(c.number)
		c.number = 0
	}
	return err
}

// event is an event whose waits are recorded.
type event struct {
	device.Event
	recorder *Recorder
	number   uint32
	settled  bool // known to be complete by the log
}

// NewEvent implements device.Device.
func (r *Recorder) NewEvent() (device.Event, error) {
	inner, err := r.Device.NewEvent()
	if err != nil {
		return nil, err
	}
	e := &event{Event: inner, recorder: r, number: r.numbers[eventLetter].take(), settled: true}
	r.add(verbEvent, append(r.begin(), int64(e.number)))
	return e, nil
}

// Recorded implements op.Event. A guest that sees the event complete may have
// waited for that.
func (e *event) Recorded() bool {
	done := e.Event.Recorded()
	if done {
		e.settle()
	}
	return done
}

func (e *event) settle() {
	if e.settled || e.number == 0 {
		return
	}
	e.settled = true
	e.recorder.add(verbEventSync, append(e.recorder.begin(), int64(e.number)))
}

// Sync implements device.Event.
func (e *event) Sync(timeout time.Duration) error {
	err := e.Event.Sync(timeout)
	if e.recorder.asked(err) {
		e.settle()
	}
	e.recorder.settle(err)
	return err
}

// Close implements device.Event.
func (e *event) Close() error {
	err := e.Event.Close()
	if err == nil && e.number != 0 {
		e.recorder.add(verbEventClose, append(e.recorder.begin(), int64(e.number)))
		e.recorder.numbers[eventLetter].giveBack(e.number)
		e.number = 0
	}
	return err
}

// stream is a stream whose operations are recorded.
type stream struct {
	device.Stream
	recorder *Recorder
	number   uint32
	settled  bool // known to be complete by the log
}

// NewStream implements device.Device.
func (r *Recorder) NewStream() (device.Stream, error) {
	inner, err := r.Device.NewStream()
	if err != nil {
		return nil, err
	}
	s := &stream{Stream: inner, recorder: r, number: r.numbers[streamLetter].take(), settled: true}
	r.add(verbStream, append(r.begin(), int64(s.number)))
	return s, nil
}

// Query implements device.Stream. A guest that sees the stream complete may
// have waited for that.
func (s *stream) Query() (done bool, err error) {
	done, err = s.Stream.Query()
	if err == nil && done && !s.settled {
		s.sync()
	}
	return done, err
}

func (s *stream) sync() {
	s.settled = true
	s.recorder.add(verbSync, append(s.recorder.begin(), int64(s.number)))
}

// Sync implements device.Stream. Each costs time, also when there is nothing to
// wait for.
func (s *stream) Sync(timeout time.Duration) error {
	err := s.Stream.Sync(timeout)
	if s.recorder.asked(err) {
		s.sync()
	}
	s.recorder.settle(err)
	return err
}

// Close implements device.Stream.
func (s *stream) Close() error {
	err := s.Stream.Close()
	if s.number != 0 {
		s.recorder.add(verbClose, append(s.recorder.begin(), int64(s.number)))
		s.recorder.numbers[streamLetter].giveBack(s.number)
		s.number = 0
	}
	return err
}

// Submit implements device.Stream.
func (s *stream) Submit(o *op.Op) error {
	err := s.pass(o)
	if s.recorder.asked(err) {
		s.settled = false
		s.recorder.submitted(s, o)
	}
	s.recorder.settle(err)
	return err
}

// pass submits an operation to the device underneath, which knows its own
// events and communicators only.
func (s *stream) pass(o *op.Op) error {
	switch o.Kind {
	case op.EventRecord, op.EventWait:
		if e, ok := o.Event.(*event); ok {
			inner := *o
			inner.Event = e.Event
			err := s.Stream.Submit(&inner)
			if o.Kind == op.EventRecord && err == nil {
				e.settled = false
			}
			return err
		}
	case op.CollectiveCall:
		if c, ok := o.Comm.(*comm); ok {
			inner := *o
			inner.Comm = c.Comm
			return s.Stream.Submit(&inner)
		}
	}
	return s.Stream.Submit(o)
}

// submitted writes the line of an operation.
func (r *Recorder) submitted(s *stream, o *op.Op) {
	if !r.recording {
		return
	}
	args := append(r.begin(), int64(s.number))
	switch o.Kind {
	case op.Copy, op.Put, op.Get:
		args = append(r.view(r.view(args, o.Dst), o.Src), o.Bytes)
	case op.CopyBox, op.GetBox:
		b := told(o.Box)
		args = append(r.view(args, o.Dst), b.DstRow, b.DstPlane)
		args = append(r.view(args, o.Src), b.SrcRow, b.SrcPlane, b.Planes, b.Rows, b.RowBytes)
	case op.Signal, op.Wait:
		args = append(args, int64(o.Peer), int64(o.Slot), int64(o.Value))
	case op.Send:
		args = append(r.view(append(args, int64(o.Peer)), o.Src), o.Bytes, int64(o.Slot))
	case op.Recv:
		args = append(r.view(append(args, int64(o.Peer)), o.Dst), o.Bytes, int64(o.Slot))
	case op.Reduce:
		args = append(r.view(args, o.Dst), int64(o.SourceCount))
		for i := range o.Sources[:o.SourceCount] {
			args = r.view(args, o.Sources[i])
		}
		args = append(args, o.Bytes, int64(o.Type), int64(o.Red))
	case op.Fill, op.Verify:
		args = append(r.view(args, o.Dst), o.Bytes, int64(o.Type), int64(o.Value), o.Src.Off)
	case op.Digest:
		args = append(r.view(args, o.Dst), o.Bytes)
	case op.EventRecord, op.EventWait:
		number := int64(0)
		if e, ok := o.Event.(*event); ok {
			number = int64(e.number)
		}
		args = append(args, number)
	case op.Gemm:
		args = r.view(r.view(r.view(args, o.Dst), o.Sources[0]), o.Sources[1])
		args = append(args, int64(o.Type), o.Gemm.M, o.Gemm.N, o.Gemm.K, bitOf(o.Gemm.Add))
	case op.CollectiveCall:
		r.called(args, o)
		return
	default:
		return // no device carries it out
	}
	r.add(verbOf[o.Kind], appendTerm(args, &o.Term))
}

// told is a box without what does not count: any number may stand there, one
// that has no place in a line too.
func told(shape *op.BoxShape) op.BoxShape {
	b := *shape
	if b.Bytes() == 0 {
		return op.BoxShape{}
	}
	if b.Rows == 1 {
		b.DstRow, b.SrcRow = 0, 0
	}
	if b.Planes == 1 {
		b.DstPlane, b.SrcPlane = 0, 0
	}
	return b
}

func appendTerm(args []int64, t *op.Term) []int64 {
	return append(args, int64(t.Collective), int64(t.Chunk), int64(t.Slice), int64(t.Flow), int64(t.Step), int64(t.Message))
}

func bitOf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// verbOf are the verbs that operations are written with.
var verbOf = [...]verb{
	op.Copy: verbCopy, op.CopyBox: verbCopyBox, op.GetBox: verbGetBox, op.Put: verbPut, op.Get: verbGet, op.Signal: verbSignal, op.Wait: verbWait, op.Send: verbSend, op.Recv: verbRecv,
	op.Reduce: verbReduce, op.Fill: verbFill, op.Verify: verbVerify, op.Digest: verbDigest,
	op.EventRecord: verbEventRecord, op.EventWait: verbEventWait, op.Gemm: verbGemm,
}

// called writes the lines of the calls of a group.
func (r *Recorder) called(args []int64, o *op.Op) {
	number := int64(0)
	if c, ok := o.Comm.(*comm); ok {
		number = int64(c.number)
	}
	args = appendTerm(append(args, number), &o.Term)
	for v, c := verbCall, o.Call; c != nil; v, c = verbAnd, c.Next {
		r.add(v, r.callArgs(args, c))
		args = r.begin()
	}
}

func (r *Recorder) callArgs(args []int64, c *op.Call) []int64 {
	args = append(args, int64(c.Collective), int64(c.Type), int64(c.Red), int64(c.Root), c.Count)
	args = r.view(r.view(args, c.In), c.Out)
	args = append(args, int64(c.Algorithm), c.Program.SliceBytes, int64(c.Group), bitOf(c.Warmup))
	args = append(args, int64(len(c.SendCounts)+len(c.SendOffsets)+len(c.RecvCounts)+len(c.RecvOffsets)))
	for _, list := range [][]int64{c.SendCounts, c.SendOffsets, c.RecvCounts, c.RecvOffsets} {
		args = append(args, list...)
	}
	return args
}

// isWorld reports whether these are all ranks of a world, in their order.
func isWorld(members []int, size int) bool {
	for i, rank := range members {
		if rank != i {
			return false
		}
	}
	return len(members) == size
}
