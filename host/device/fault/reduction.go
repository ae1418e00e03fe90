package fault

import (
	"fmt"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// faulty is a device whose reductions are wrong.
type faulty struct{ device.Device }

// NewComm makes a communicator of the device underneath.
func (f *faulty) NewComm(name string, ranks []int, timeout time.Duration) (device.Comm, error) {
	collectives, ok := f.Device.(device.Collectives)
	if !ok {
		return nil, fmt.Errorf("communicators: %w", device.ErrMissing)
	}
	return collectives.NewComm(name, ranks, timeout)
}

// NewStream makes a stream whose reductions are wrong.
func (f *faulty) NewStream() (device.Stream, error) {
	s, err := f.Device.NewStream()
	if err != nil {
		return nil, err
	}
	return &stream{s, f.Device}, nil
}

type stream struct {
	device.Stream
	device device.Device
}

// Submit completes reductions at once, to spoil them.
func (s *stream) Submit(o *op.Op) error {
	if err := s.Stream.Submit(o); err != nil {
		return err
	}
	for _, result := range results(o) {
		if err := s.spoil(result); err != nil {
			return err
		}
	}
	return nil
}

// results are the places that a reduction writes.
func results(o *op.Op) []op.View {
	var all []op.View
	if o.Kind == op.Reduce && o.Bytes > 0 {
		all = append(all, o.Dst)
	}
	if o.Kind != op.CollectiveCall {
		return all
	}
	for c := o.Call; c != nil; c = c.Next {
		if c.Collective.Reduces() && c.Count > 0 && c.Out.Buf != nil {
			all = append(all, c.Out)
		}
	}
	return all
}

// spoil inverts the first byte.
func (s *stream) spoil(v op.View) error {
	if err := s.Sync(device.Forever); err != nil {
		return err
	}
	var b [1]byte
	if err := s.device.Read(b[:], v); err != nil {
		return err
	}
	b[0] ^= 0xff
	return s.device.Write(v, b[:])
}
