package module

import (
	"errors"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

type fakeStream struct {
	device *fakeDevice
	number int
	queue  []op.Op
	failed error
}

func (d *fakeDevice) NewStream() (device.Stream, error) {
	if d.streams == d.Facts().MaxStreams {
		return nil, device.ErrTooMany
	}
	d.streams++
	return &fakeStream{device: d, number: d.streams}, nil
}

func (s *fakeStream) Submit(o *op.Op) error {
	defer s.device.lock()()
	if err := o.Check(); err != nil {
		return err
	}
	if err := s.accepts(o); err != nil {
		return err
	}
	s.progress()
	if s.failed != nil {
		return s.failed
	}
	if e, ok := o.Event.(*fakeEvent); ok && o.Kind == op.EventRecord {
		e.pending++
	}
	kept := *o
	if o.Kind.Boxed() {
		shape := *o.Box
		kept.Box = &shape
	}
	s.queue = append(s.queue, kept)
	s.progress()
	return nil
}

func (s *fakeStream) accepts(o *op.Op) error {
	facts := s.device.Facts()
	switch o.Kind {
	case op.Signal, op.Wait:
		if o.Slot >= facts.SignalSlots {
			return device.ErrSlot
		}
	case op.Send, op.Recv:
		if o.Slot >= facts.SendChannels {
			return device.ErrSlot
		}
	}
	return nil
}

// progress carries out what can be.
func (s *fakeStream) progress() {
	for len(s.queue) > 0 && s.failed == nil {
		o := &s.queue[0]
		done, err := s.execute(o)
		if err != nil {
			s.failed = &device.OpError{Op: *o, Stream: s.number, Err: err}
			return
		}
		if !done {
			return
		}
		now := s.device.Now()
		if o.Kind != op.CollectiveCall {
			device.Record(s.device.recorder, o, s.number, int(o.Peer), flight.StatusOK, now, now)
		}
		s.queue = s.queue[1:]
		s.device.world.moved.Broadcast()
	}
}

func (s *fakeStream) execute(o *op.Op) (done bool, err error) {
	d := s.device
	switch o.Kind {
	case op.Copy, op.Put, op.Get:
		return true, s.move(o)
	case op.CopyBox, op.GetBox:
		return true, s.moveBox(o)
	case op.Signal:
		pads, key := d.world.devices[o.Peer].pads, [2]int{d.rank, int(o.Slot)}
		pads[key] = max(pads[key], o.Value)
	case op.Wait:
		return d.pads[[2]int{int(o.Peer), int(o.Slot)}] >= o.Value, nil
	case op.Send:
		b, err := viewBytes(o.Src, o.Bytes)
		key := [3]int{d.rank, int(o.Peer), int(o.Slot)}
		d.world.mail[key] = append(d.world.mail[key], append([]byte{}, b...))
		return true, err
	case op.Recv:
		return s.receive(o)
	case op.Reduce:
		return true, s.reduce(o)
	case op.CollectiveCall:
		return s.collective(o)
	case op.Gemm:
		return true, nil
	case op.EventRecord:
		o.Event.(*fakeEvent).pending--
	case op.EventWait:
		return o.Event.(*fakeEvent).pending == 0, nil
	default:
		return true, s.examine(o)
	}
	return true, nil
}

func (s *fakeStream) move(o *op.Op) error {
	dst, err := viewBytes(o.Dst, o.Bytes)
	if err != nil {
		return err
	}
	src, err := viewBytes(o.Src, o.Bytes)
	copy(dst, src)
	return err
}

func (s *fakeStream) moveBox(o *op.Op) error {
	b := o.Box
	dst, err := viewBytes(o.Dst, b.DstSpan())
	if err != nil {
		return err
	}
	src, err := viewBytes(o.Src, b.SrcSpan())
	if err != nil || o.Bytes == 0 {
		return err
	}
	for plane := range b.Planes {
		for row := range b.Rows {
			copy(dst[plane*b.DstPlane+row*b.DstRow:][:b.RowBytes], src[plane*b.SrcPlane+row*b.SrcRow:])
		}
	}
	return nil
}

func (s *fakeStream) receive(o *op.Op) (bool, error) {
	key := [3]int{int(o.Peer), s.device.rank, int(o.Slot)}
	letters := s.device.world.mail[key]
	if len(letters) == 0 {
		return false, nil
	}
	if int64(len(letters[0])) != o.Bytes {
		return false, device.ErrMismatch
	}
	dst, err := viewBytes(o.Dst, o.Bytes)
	copy(dst, letters[0])
	s.device.world.mail[key] = letters[1:]
	return true, err
}

// reduce knows the sum of bytes only.
func (s *fakeStream) reduce(o *op.Op) error {
	if o.Type != op.U8 || o.Red != op.Sum {
		return device.ErrMissing
	}
	dst, err := viewBytes(o.Dst, o.Bytes)
	if err != nil {
		return err
	}
	sum := make([]byte, o.Bytes)
	for _, v := range o.Sources[:o.SourceCount] {
		src, err := viewBytes(v, o.Bytes)
		if err != nil {
			return err
		}
		for i := range src {
			sum[i] += src[i]
		}
	}
	copy(dst, sum)
	return nil
}

func (s *fakeStream) examine(o *op.Op) error {
	b, err := viewBytes(o.Dst, o.Bytes)
	if err != nil {
		return err
	}
	var result op.Result
	switch o.Kind {
	case op.Fill:
		op.FillPattern(b, o.Type, o.Value, o.Src.Off)
	case op.Verify:
		result.Mismatches, result.FirstBad = op.VerifyPattern(b, o.Type, o.Value, o.Src.Off)
		s.device.recorder.CountVerified(o.Bytes, result.Mismatches)
	case op.Digest:
		result.Digest = op.DigestBytes(b)
	}
	if o.Result != nil {
		*o.Result = result
	}
	return nil
}

func (s *fakeStream) Query() (bool, error) {
	defer s.device.lock()()
	s.progress()
	return len(s.queue) == 0, s.failed
}

// Sync in a rank that is alone runs into the operation timeout at once, unless
// the guest's own deadline is sooner.
func (s *fakeStream) Sync(timeout time.Duration) error {
	defer s.device.lock()()
	err := s.device.until(timeout, func() (bool, error) {
		s.progress()
		return len(s.queue) == 0, s.failed
	})
	if errors.Is(err, device.ErrTimeout) && timeout < 0 && s.failed == nil {
		s.failed = &device.OpError{Op: s.queue[0], Stream: s.number, Err: device.ErrTimeout}
		return s.failed
	}
	return err
}

func (s *fakeStream) Close() error {
	defer s.device.lock()()
	s.device.streams--
	return nil
}

type fakeEvent struct {
	device  *fakeDevice
	pending int
}

func (d *fakeDevice) NewEvent() (device.Event, error) {
	if d.events == d.Facts().MaxEvents {
		return nil, device.ErrTooMany
	}
	d.events++
	return &fakeEvent{device: d}, nil
}

func (e *fakeEvent) Recorded() bool {
	defer e.device.lock()()
	return e.pending == 0
}

func (e *fakeEvent) Sync(timeout time.Duration) error {
	defer e.device.lock()()
	return e.device.until(timeout, func() (bool, error) { return e.pending == 0, nil })
}

func (e *fakeEvent) Close() error {
	e.device.events--
	return nil
}
