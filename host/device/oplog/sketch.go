package oplog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// Sketch is a device of one rank without peers: everything that is asked of it
// is done at once and no byte is moved. A guest runs on it to tell what it would
// ask of a device, if that does not depend on data or time. It is also the
// rank's [device.Exchange], in which a peer has published what this rank has: a
// guest whose ranks do not all publish the same cannot be sketched.
type Sketch struct {
	rank, ranks int
	asked       int64 // calls, which is what time it is
	allocations uint32
	waited      map[slotOf]uint64
	looks       int // at slots that nothing has changed since
	published   map[string][]byte
	abort       error
	closed      bool
}

// NewSketch makes the device of a rank.
func NewSketch(rank, ranks int) *Sketch {
	return &Sketch{rank: rank, ranks: ranks, waited: make(map[slotOf]uint64), published: make(map[string][]byte)}
}

// Limits of a sketch, those of other devices; buffers may be larger.
const (
	sketchStreams  = 64
	sketchEvents   = 4096
	sketchSlots    = 1024
	sketchChannels = 64
	sketchBytes    = 1 << 50
	sketchNanos    = 1000 // that each call takes
	looksMax       = 1 << 20
)

// sketchBuffer is a size.
type sketchBuffer struct {
	sketch     *Sketch
	size       int64
	peer       int
	allocation uint32
	offset     int64 // from the allocation's start
	freed      *bool // of the allocation, this rank's
}

func (b *sketchBuffer) Size() int64 { return b.size }
func (b *sketchBuffer) Peer() int   { return b.peer }

// Phantom implements device.Phantom.
func (b *sketchBuffer) Phantom() bool { return true }

// own gives a buffer of this device that is still there.
func (s *Sketch) own(b op.Buffer) (*sketchBuffer, error) {
	buffer, ok := b.(*sketchBuffer)
	switch {
	case s.closed:
		return nil, device.ErrClosed
	case !ok || buffer.sketch != s:
		return nil, device.ErrForeign
	case *buffer.freed:
		return nil, device.ErrStale
	}
	return buffer, nil
}

// within finds the buffer of a view that holds so many bytes.
func (s *Sketch) within(v op.View, n int64) (*sketchBuffer, error) {
	b, err := s.own(v.Buf)
	if err == nil && (n < 0 || v.Off < 0 || n > b.size || v.Off > b.size-n) {
		err = op.ErrRange
	}
	return b, err
}

// Facts implements device.Device.
func (s *Sketch) Facts() device.Facts {
	return device.Facts{
		Name: "sketch", Model: "sketch", MemoryBytes: sketchBytes, MaxStreams: sketchStreams, MaxEvents: sketchEvents,
		SignalSlots: sketchSlots, SendChannels: sketchChannels, Virtual: true,
	}
}

// Alloc implements device.Device.
func (s *Sketch) Alloc(size int64) (op.Buffer, error) {
	switch {
	case s.closed:
		return nil, device.ErrClosed
	case size < 0:
		return nil, op.ErrRange
	case size > sketchBytes:
		return nil, device.ErrNoMemory
	}
	s.allocations++
	return &sketchBuffer{sketch: s, size: size, peer: -1, allocation: s.allocations, freed: new(bool)}, nil
}

// Free implements device.Device.
func (s *Sketch) Free(b op.Buffer) error {
	buffer, err := s.own(b)
	if err == nil {
		*buffer.freed = true
	}
	return err
}

// Read implements device.Device: all bytes are zero.
func (s *Sketch) Read(dst []byte, src op.View) error {
	_, err := s.within(src, int64(len(dst)))
	if err == nil {
		clear(dst)
	}
	return err
}

// Write implements device.Device.
func (s *Sketch) Write(dst op.View, src []byte) error {
	_, err := s.within(dst, int64(len(src)))
	return err
}

// Export implements device.Device.
func (s *Sketch) Export(v op.View, n int64) (device.Handle, error) {
	b, err := s.within(v, n)
	if err != nil {
		return device.Handle{}, err
	}
	return device.Handle{Allocation: b.allocation, Generation: 1, Offset: b.offset + v.Off, Bytes: n}, nil
}

// Import implements device.Device.
func (s *Sketch) Import(peer int, h device.Handle) (op.Buffer, error) {
	if s.closed {
		return nil, device.ErrClosed
	}
	if peer < 0 || peer >= s.ranks {
		return nil, device.ErrPeer
	}
	if h.Bytes < 0 || h.Offset < 0 {
		return nil, op.ErrRange
	}
	return &sketchBuffer{sketch: s, size: h.Bytes, peer: peer, allocation: h.Allocation, offset: h.Offset, freed: new(bool)}, nil
}

// Barrier implements device.Device.
func (s *Sketch) Barrier(time.Duration) error { return s.abort }

// SignalValue implements device.Device: slots have what this rank has waited
// for. A guest that looks on and on waits for more.
func (s *Sketch) SignalValue(peer int, slot uint32) (uint64, error) {
	switch {
	case peer < 0 || peer >= s.ranks:
		return 0, device.ErrPeer
	case slot >= sketchSlots:
		return 0, device.ErrSlot
	}
	if s.looks++; s.looks > looksMax {
		return 0, fmt.Errorf("a workflow that looks for a signal instead of waiting for it cannot be sketched: %w", device.ErrMissing)
	}
	return s.waited[slotOf{peer, slot}], s.abort
}

// WaitAny implements device.Device: events are complete, and what peers raise
// comes when it is waited for.
func (s *Sketch) WaitAny(points []device.Point, timeout time.Duration) (int, error) {
	for i := range points {
		switch p := &points[i]; {
		case p.Event != nil:
		case p.Peer < 0 || p.Peer >= s.ranks:
			return -1, device.ErrPeer
		case p.Slot >= sketchSlots:
			return -1, device.ErrSlot
		}
	}
	for i := range points {
		if p := &points[i]; p.Event != nil || s.waited[slotOf{p.Peer, p.Slot}] >= p.Value {
			return i, s.abort
		}
	}
	if timeout == 0 || len(points) == 0 {
		if s.looks++; s.looks > looksMax {
			return -1, fmt.Errorf("a workflow that looks for a signal instead of waiting for it cannot be sketched: %w", device.ErrMissing)
		}
		return -1, device.ErrTimeout
	}
	s.waited[slotOf{points[0].Peer, points[0].Slot}] = points[0].Value
	return 0, s.abort
}

// Now implements device.Device: time passes with each look at it.
func (s *Sketch) Now() int64 {
	s.asked++
	return s.asked * sketchNanos
}

// Abort implements device.Device. Unlike of other devices it is to be called by
// the guest's goroutine, which waits for nothing here.
func (s *Sketch) Abort(error) {}

// Close implements device.Device.
func (s *Sketch) Close() error {
	s.closed = true
	return nil
}

// sketchComm is a communicator.
type sketchComm struct {
	sketch     *Sketch
	rank, size int
}

func (c *sketchComm) Rank() int    { return c.rank }
func (c *sketchComm) Size() int    { return c.size }
func (c *sketchComm) Close() error { return nil }

// NewComm implements device.Collectives.
func (s *Sketch) NewComm(_ string, members []int, _ time.Duration) (device.Comm, error) {
	for i, rank := range members {
		if rank == s.rank {
			return &sketchComm{s, i, len(members)}, nil
		}
	}
	return nil, device.ErrPeer
}

// sketchEvent is always complete.
type sketchEvent struct{ sketch *Sketch }

func (*sketchEvent) Recorded() bool           { return true }
func (*sketchEvent) Sync(time.Duration) error { return nil }
func (*sketchEvent) Close() error             { return nil }

// NewEvent implements device.Device.
func (s *Sketch) NewEvent() (device.Event, error) { return &sketchEvent{s}, nil }

// sketchStream has nothing left to do.
type sketchStream struct{ sketch *Sketch }

// NewStream implements device.Device.
func (s *Sketch) NewStream() (device.Stream, error) { return &sketchStream{s}, nil }

func (*sketchStream) Query() (done bool, err error) { return true, nil }
func (*sketchStream) Sync(time.Duration) error      { return nil }
func (*sketchStream) Close() error                  { return nil }

// Submit implements device.Stream: it checks what other devices check.
func (t *sketchStream) Submit(o *op.Op) error {
	s := t.sketch
	s.looks = 0
	if err := o.Check(); err != nil {
		return err
	}
	for _, v := range []op.View{o.Dst, o.Src} {
		if v.Buf == nil {
			continue
		}
		if _, err := s.own(v.Buf); err != nil {
			return err
		}
	}
	for i := range o.Sources[:o.SourceCount] {
		if _, err := s.own(o.Sources[i].Buf); err != nil {
			return err
		}
	}
	if o.Kind.HasPeer() {
		if err := s.checkPeer(o); err != nil {
			return err
		}
	}
	if o.Result != nil {
		*o.Result = op.Result{FirstBad: -1}
	}
	return nil
}

// checkPeer checks what names another rank.
func (s *Sketch) checkPeer(o *op.Op) error {
	most := uint32(sketchSlots)
	if o.Kind == op.Send || o.Kind == op.Recv {
		most = sketchChannels
	}
	switch {
	case o.Peer < 0 || int(o.Peer) >= s.ranks:
		return device.ErrPeer
	case o.Slot >= most:
		return device.ErrSlot
	case o.Kind == op.Wait:
		at := slotOf{int(o.Peer), o.Slot}
		s.waited[at] = max(s.waited[at], o.Value)
	}
	return nil
}

// Set implements device.Exchange.
func (s *Sketch) Set(key string, value []byte) error {
	s.published[key] = bytes.Clone(value)
	return nil
}

// Get implements device.Exchange: for a peer's key it gives what this rank has
// published under its own.
func (s *Sketch) Get(key string, _ time.Duration) ([]byte, error) {
	if value, ok := s.published[key]; ok {
		return value, nil
	}
	mine, ok := s.mirrored(key)
	if !ok {
		return nil, fmt.Errorf("%q: what other ranks want cannot be sketched: %w", key, device.ErrMissing)
	}
	value, ok := s.published[mine]
	if !ok {
		return nil, fmt.Errorf("%q: a rank that waits for what it has not published itself cannot be sketched: %w", key, device.ErrMissing)
	}
	return value, nil
}

// CompareAndSwap implements device.Exchange.
func (s *Sketch) CompareAndSwap(key string, old, value []byte) ([]byte, error) {
	have, ok := s.published[key]
	if ok == (old != nil) && bytes.Equal(have, old) {
		return value, s.Set(key, value)
	}
	return have, nil
}

// Keys of package module that each rank publishes alike: one has the rank first,
// the other last.
const (
	shareKeys = "share/"
	joinKeys  = "join/"
)

// mirrored gives the key of this rank that stands for that of another.
func (s *Sketch) mirrored(key string) (string, bool) {
	own := strconv.Itoa(s.rank)
	if rest, ok := strings.CutPrefix(key, shareKeys); ok {
		_, rest, ok = strings.Cut(rest, "/")
		return shareKeys + own + "/" + rest, ok
	}
	if rest, ok := strings.CutPrefix(key, joinKeys); ok {
		at := strings.LastIndexByte(rest, '/')
		return joinKeys + rest[:at+1] + own, at >= 0
	}
	return "", false
}
