package module

import (
	"fmt"
	"sync"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// fakeWorld is the ranks of one process with devices that are as simple as can
// be: one mutex, and work is done by the rank that asks. In a world where a
// rank is alone at work, what cannot be complete at once never will be, and
// fails at once.
type fakeWorld struct {
	mu      sync.Mutex
	moved   *sync.Cond
	devices []*fakeDevice
	alone   bool
	mail    map[[3]int][][]byte // by sender, receiver, channel
	arrived []int               // barriers by rank
}

func newFakeWorld(size int, alone bool) *fakeWorld {
	w := &fakeWorld{alone: alone, mail: make(map[[3]int][][]byte), arrived: make([]int, size)}
	w.moved = sync.NewCond(&w.mu)
	for rank := range size {
		w.devices = append(w.devices, &fakeDevice{world: w, rank: rank, pads: make(map[[2]int]uint64)})
	}
	return w
}

const fakeMemoryBytes = 1 << 20

type fakeDevice struct {
	device.Device // none: a method that is missing here is a bug in the test
	world         *fakeWorld
	rank          int
	recorder      *flight.Writer
	slots         []*fakeAllocation
	used          int64
	streams       int // live, like events
	events        int
	imports       int
	comms         int
	pads          map[[2]int]uint64 // by source and slot
	clock         int64
	aborted       error
}

// fakeAllocation is a slot, used again by the next allocation of any size: the
// same address under another generation.
type fakeAllocation struct {
	data       []byte
	generation uint32
	live       bool
}

type fakeBuffer struct {
	owner      *fakeDevice
	slot       int
	generation uint32
	offset     int64
	bytes      int64
	peer       int
	closed     bool
}

func (b *fakeBuffer) Size() int64 { return b.bytes }
func (b *fakeBuffer) Peer() int   { return b.peer }

// data is the buffer's memory, if it is still what it was.
func (b *fakeBuffer) data() ([]byte, error) {
	a := b.owner.slots[b.slot]
	if b.closed || !a.live || a.generation != b.generation {
		return nil, device.ErrStale
	}
	return a.data[b.offset : b.offset+b.bytes], nil
}

func viewBytes(v op.View, bytes int64) ([]byte, error) {
	data, err := v.Buf.(*fakeBuffer).data()
	if err != nil {
		return nil, err
	}
	return data[v.Off : v.Off+bytes], nil
}

func (d *fakeDevice) Facts() device.Facts {
	return device.Facts{Name: "cpu", Model: "fake", MemoryBytes: fakeMemoryBytes, MaxStreams: 4, MaxEvents: 4, SignalSlots: 8, SendChannels: 2}
}

func (d *fakeDevice) lock() func() { d.world.mu.Lock(); return d.world.mu.Unlock }

func (d *fakeDevice) Alloc(bytes int64) (op.Buffer, error) {
	defer d.lock()()
	if bytes > fakeMemoryBytes-d.used {
		return nil, fmt.Errorf("%d bytes: %w", bytes, device.ErrNoMemory)
	}
	at := 0
	for at < len(d.slots) && d.slots[at].live {
		at++
	}
	if at == len(d.slots) {
		d.slots = append(d.slots, &fakeAllocation{})
	}
	a := d.slots[at]
	a.data, a.live = make([]byte, bytes), true
	a.generation++
	d.used += bytes
	return &fakeBuffer{owner: d, slot: at, generation: a.generation, bytes: bytes, peer: -1}, nil
}

func (d *fakeDevice) Free(b op.Buffer) error {
	defer d.lock()()
	f := b.(*fakeBuffer)
	if f.peer >= 0 {
		f.closed = true
		d.imports--
		return nil
	}
	a := d.slots[f.slot]
	a.live = false
	d.used -= f.bytes
	return nil
}

func (d *fakeDevice) Read(dst []byte, src op.View) error {
	defer d.lock()()
	b, err := viewBytes(src, int64(len(dst)))
	copy(dst, b)
	return err
}

func (d *fakeDevice) Write(dst op.View, src []byte) error {
	defer d.lock()()
	b, err := viewBytes(dst, int64(len(src)))
	copy(b, src)
	return err
}

func (d *fakeDevice) Export(v op.View, bytes int64) (device.Handle, error) {
	defer d.lock()()
	b := v.Buf.(*fakeBuffer)
	if _, err := b.data(); err != nil {
		return device.Handle{}, err
	}
	return device.Handle{Allocation: uint32(b.slot), Generation: b.generation, Offset: b.offset + v.Off, Bytes: bytes}, nil
}

func (d *fakeDevice) Import(peer int, h device.Handle) (op.Buffer, error) {
	defer d.lock()()
	owner := d.world.devices[peer]
	b := &fakeBuffer{owner: owner, slot: int(h.Allocation), generation: h.Generation, offset: h.Offset, bytes: h.Bytes, peer: peer}
	if _, err := b.data(); err != nil {
		return nil, err
	}
	d.imports++
	return b, nil
}

func (d *fakeDevice) SignalValue(peer int, slot uint32) (uint64, error) {
	defer d.lock()()
	if slot >= d.Facts().SignalSlots {
		return 0, device.ErrSlot
	}
	return d.pads[[2]int{peer, int(slot)}], nil
}

// WaitAny implements device.Device.
func (d *fakeDevice) WaitAny(points []device.Point, timeout time.Duration) (at int, err error) {
	defer d.lock()()
	at = -1
	err = d.until(timeout, func() (bool, error) {
		for i, p := range points {
			if p.Event != nil && p.Event.(*fakeEvent).pending == 0 || p.Event == nil && d.pads[[2]int{p.Peer, int(p.Slot)}] >= p.Value {
				at = i
				return true, nil
			}
		}
		return false, nil
	})
	return at, err
}

// Now counts the readings.
func (d *fakeDevice) Now() int64 { d.clock++; return d.clock }

func (d *fakeDevice) Abort(cause error) {
	defer d.lock()()
	if d.aborted == nil {
		d.aborted = fmt.Errorf("%w: %w", device.ErrAborted, cause)
	}
	d.world.moved.Broadcast()
}

func (d *fakeDevice) Barrier(timeout time.Duration) error {
	defer d.lock()()
	w := d.world
	w.arrived[d.rank]++
	w.moved.Broadcast()
	return d.until(timeout, func() (bool, error) {
		for _, n := range w.arrived {
			if n < w.arrived[d.rank] {
				return false, nil
			}
		}
		return true, nil
	})
}

// until waits, with the world's mutex held, until the condition holds.
func (d *fakeDevice) until(timeout time.Duration, condition func() (bool, error)) error {
	expired := d.world.alone || timeout == 0
	if timeout > 0 && !expired {
		defer time.AfterFunc(timeout, func() {
			defer d.lock()()
			expired = true
			d.world.moved.Broadcast()
		}).Stop()
	}
	for {
		switch done, err := condition(); {
		case d.aborted != nil:
			return d.aborted
		case done || err != nil:
			return err
		case expired:
			return device.ErrTimeout
		}
		d.world.moved.Wait()
	}
}

// newRecorder gives a flight recorder in a file of its own.
func newRecorder(dir string, rank, size int) (*flight.Writer, error) {
	return flight.Create(recorderPath(dir, rank), flight.Meta{Rank: rank, Size: size}, 1)
}

func recorderPath(dir string, rank int) string { return fmt.Sprintf("%s/rank-%04d.flight", dir, rank) }
