package module

import (
	"errors"
	"fmt"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// stagingPool is the staging memory of a pipeline. What buckets give back is
// kept for others of the same size, but never so much that more is allocated
// than was ever in use at a time: so what the device counts is what the
// statistics say.
type stagingPool struct {
	idle      []op.Buffer
	used      int64 // held by buckets
	allocated int64
	peak      int64 // of used
	asked     int   // allocations
}

// take gives a buffer; nil for no bytes.
func (s *stagingPool) take(d device.Device, bytes int64) (op.Buffer, error) {
	if bytes == 0 {
		return nil, nil
	}
	s.peak = max(s.peak, s.used+bytes)
	for i, b := range s.idle {
		if b.Size() == bytes {
			s.remove(i)
			s.used += bytes
			return b, nil
		}
	}
	for len(s.idle) > 0 && s.allocated+bytes > s.peak {
		if err := s.free(d); err != nil {
			return nil, err
		}
	}
	b, err := d.Alloc(bytes)
	for err != nil && errors.Is(err, device.ErrNoMemory) && len(s.idle) > 0 {
		if err = s.free(d); err == nil {
			b, err = d.Alloc(bytes)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("staging memory: %w", err)
	}
	s.asked++
	s.allocated += bytes
	s.used += bytes
	return b, nil
}

func (s *stagingPool) remove(i int) {
	last := len(s.idle) - 1
	s.idle[i] = s.idle[last]
	s.idle = s.idle[:last]
}

// free gives the device the buffer back that was given back last.
func (s *stagingPool) free(d device.Device) error {
	last := len(s.idle) - 1
	b := s.idle[last]
	s.idle = s.idle[:last]
	s.allocated -= b.Size()
	return d.Free(b)
}

// give takes a bucket's buffer back.
func (s *stagingPool) give(b op.Buffer) {
	if b != nil {
		s.used -= b.Size()
		s.idle = append(s.idle, b)
	}
}

// drain gives everything that no bucket holds back to the device.
func (s *stagingPool) drain(d device.Device) error {
	for len(s.idle) > 0 {
		if err := s.free(d); err != nil {
			return err
		}
	}
	return nil
}
