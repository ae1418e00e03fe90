package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// allocation is memory of a rank.
type allocation struct {
	of     *memory
	number uint32 // never used twice by a rank
	bytes  int64
	data   []byte // nil if it is a phantom, or empty
	freed  bool
	name   string // what the rank was at when it asked for it
	lines  *lines // on processor cores: who has its bytes, nil before anybody has
}

// linesOf says who has the allocation's bytes.
func (a *allocation) linesOf() *lines {
	if a.lines == nil {
		a.lines = linesOf(a.bytes)
	}
	return a.lines
}

// phantom reports whether the allocation has a size but no bytes.
func (a *allocation) phantom() bool { return a.data == nil && a.bytes > 0 }

// haunt makes an allocation a phantom: bytes that nobody knows were written to
// it.
func (a *allocation) haunt() {
	if a.data != nil && a.bytes > 0 {
		if !a.freed { // else it has been counted off
			a.of.hold(-a.bytes)
		}
		a.data = nil
	}
}

// touched is how much of the allocation operations have touched.
func (a *allocation) touched() int64 {
	if a.lines == nil {
		return 0
	}
	return a.lines.touched
}

// buffer is a range of an allocation, this rank's or an imported peer's.
type buffer struct {
	device *Device
	owner  *allocation
	peer   int // -1 for an own buffer
	offset int64
	bytes  int64
	freed  bool // given back by the guest
}

// Size is the length in bytes.
func (b *buffer) Size() int64 { return b.bytes }

// Peer is the rank whose memory this is, or -1.
func (b *buffer) Peer() int { return b.peer }

// Phantom implements device.Phantom.
func (b *buffer) Phantom() bool { return b.owner.phantom() }

// remote reports whether the memory is another rank's.
func (b *buffer) remote() bool { return b.peer >= 0 && b.peer != b.device.rank }

// rank is the rank whose memory this is.
func (b *buffer) rank() int {
	if b.peer < 0 {
		return b.device.rank
	}
	return b.peer
}

// region is n bytes from off on, nil if they are a phantom's.
func (b *buffer) region(off, n int64) []byte {
	if b.owner.data == nil {
		return nil
	}
	return b.owner.data[b.offset+off:][:n:n]
}

// gone reports whether an imported buffer's owner has freed it.
func (b *buffer) gone() bool { return b.peer >= 0 && b.owner.freed }

// memory is what a rank has allocated.
type memory struct {
	cluster                 *Cluster
	limit                   int64
	used                    int64
	real                    int64 // bytes of used that hold data
	peak                    int64
	realTotal, phantomTotal int64         // bytes allocated in all
	live                    []*allocation // in the order of allocation
	atPeak                  []Holding     // the largest ones, when peak was reached
	next                    uint32
	open                    int  // buffers, imported ones too
	stale                   bool // atPeak is to be made anew before something is freed
}

func (m *memory) init(c *Cluster, limit int64) {
	if limit <= 0 {
		limit = c.preset.Memory.Bytes
	}
	if limit <= 0 {
		limit = memoryBytesMax
	}
	m.cluster, m.limit = c, limit
}

// memoryBytesMax is the memory of a rank whose preset has no limit.
const memoryBytesMax = 1 << 50

// Holding is an allocation of a rank.
type Holding struct {
	Name  string `json:"name"` // which allocation of the rank it was, from 1
	Bytes int64  `json:"bytes"`
}

// MemoryUse is what a rank's buffers needed.
type MemoryUse struct {
	LimitBytes int64 `json:"limit_bytes"`
	PeakBytes  int64 `json:"peak_bytes"`
	RealBytes  int64 `json:"real_bytes"` // that hold data now
	// Bytes allocated in all, with and without data.
	RealTotalBytes    int64     `json:"real_total_bytes"`
	PhantomTotalBytes int64     `json:"phantom_total_bytes"`
	Holdings          []Holding `json:"holdings"` // the largest ones at the peak, largest first
}

// holdingsMax is how many allocations a report names.
const holdingsMax = 5

// Memory is what a rank has used. It is to be called when nothing runs.
func (c *Cluster) Memory(rank int) MemoryUse {
	m := &c.devices[rank].memory
	m.notePeak()
	return MemoryUse{LimitBytes: m.limit, PeakBytes: m.peak, RealBytes: m.real, RealTotalBytes: m.realTotal, PhantomTotalBytes: m.phantomTotal, Holdings: m.atPeak}
}

// notePeak lists the largest allocations if the peak was reached since.
func (m *memory) notePeak() {
	if !m.stale {
		return
	}
	m.stale = false
	m.atPeak = m.atPeak[:0]
	for _, a := range m.live {
		m.keep(Holding{Name: a.name, Bytes: a.bytes})
	}
}

// keep enters a holding if it is among the largest.
func (m *memory) keep(h Holding) {
	at := len(m.atPeak)
	for at > 0 && m.atPeak[at-1].Bytes < h.Bytes {
		at--
	}
	if at == holdingsMax {
		return
	}
	m.atPeak = append(m.atPeak, Holding{})
	copy(m.atPeak[at+1:], m.atPeak[at:])
	m.atPeak[at] = h
	m.atPeak = m.atPeak[:min(len(m.atPeak), holdingsMax)]
}

// smallBytes is the size of buffers that hold data whatever the rank's share,
// unless none do: counts, times and other things that schedules depend on.
const smallBytes = 16 << 10

// holdsData reports whether a new allocation is to have bytes.
func (m *memory) holdsData(bytes int64) bool {
	share := m.cluster.realBytes
	return share < 0 || bytes <= share-m.real || share > 0 && bytes <= smallBytes
}

// find gives the place of an allocation among those that are alive, whose
// numbers rise.
func (m *memory) find(number uint32) (at int, ok bool) {
	return slices.BinarySearchFunc(m.live, number, func(a *allocation, number uint32) int { return cmp.Compare(a.number, number) })
}

// hold counts bytes that hold data.
func (m *memory) hold(bytes int64) {
	m.real += bytes
	m.cluster.realHeld += bytes
}

func (m *memory) close() {
	m.cluster.realHeld -= m.real
	for _, a := range m.live {
		a.freed, a.data = true, nil
		m.cluster.touched -= a.touched()
	}
	m.live = nil
}

// Alloc gives a zeroed buffer.
func (d *Device) Alloc(bytes int64) (op.Buffer, error) {
	defer d.leave(d.enter())
	if d.closed {
		return nil, device.ErrClosed
	}
	if bytes < 0 {
		return nil, op.ErrRange
	}
	m := &d.memory
	if bytes > m.limit-m.used {
		return nil, fmt.Errorf("%d bytes (%d of %d in use): %w", bytes, m.used, m.limit, device.ErrNoMemory)
	}
	if m.open == maxBuffers {
		return nil, fmt.Errorf("%d buffers: %w", maxBuffers, device.ErrTooMany)
	}
	data := m.holdsData(bytes)
	if c := m.cluster; data && bytes > c.realMost-c.realHeld {
		return nil, fmt.Errorf("%d bytes of data (%d of %d in use by all ranks together): %w", bytes, c.realHeld, c.realMost, device.ErrNoMemory)
	}
	d.charge()
	m.next++
	a := &allocation{of: m, number: m.next, bytes: bytes, name: fmt.Sprintf("buffer %d", m.next)}
	if data {
		a.data = make([]byte, bytes)
		m.hold(bytes)
		m.realTotal += bytes
	} else {
		m.phantomTotal += bytes
	}
	m.open++
	m.live = append(m.live, a)
	if m.used += bytes; m.used > m.peak {
		m.peak, m.stale = m.used, true
	}
	if d.recorder != nil {
		d.recorder.CountBuffer(bytes)
	}
	return &buffer{device: d, owner: a, peer: -1, bytes: bytes}, nil
}

// Free gives a buffer back, own or imported. Operations that were submitted
// before keep what they need of it.
func (d *Device) Free(buf op.Buffer) error {
	defer d.leave(d.enter())
	if d.closed {
		return device.ErrClosed
	}
	b, ok := buf.(*buffer)
	if !ok || b == nil || b.device != d {
		return device.ErrForeign
	}
	if b.freed {
		return device.ErrStale
	}
	m := &d.memory
	b.freed = true
	m.open--
	if b.peer >= 0 {
		return nil
	}
	d.catchUp()
	m.notePeak()
	a := b.owner
	a.freed = true
	m.used -= a.bytes
	m.cluster.touched -= a.touched()
	if a.data != nil {
		m.hold(-a.bytes)
	}
	if at, ok := m.find(a.number); ok {
		m.live = slices.Delete(m.live, at, at+1)
	}
	if d.recorder != nil {
		d.recorder.CountBuffer(-a.bytes)
	}
	return nil
}

// use checks that a buffer is this device's and alive.
func (d *Device) use(buf op.Buffer) (*buffer, error) {
	b, ok := buf.(*buffer)
	if !ok || b == nil || b.device != d {
		return nil, device.ErrForeign
	}
	if b.freed || b.gone() {
		return nil, device.ErrStale
	}
	return b, nil
}

// reach finds n bytes of a buffer for the guest's own thread.
func (d *Device) reach(v op.View, n int) (*buffer, error) {
	if d.closed {
		return nil, device.ErrClosed
	}
	b, err := d.use(v.Buf)
	if err != nil {
		return nil, err
	}
	if v.Off < 0 || int64(n) > b.Size() || v.Off > b.Size()-int64(n) {
		return nil, op.ErrRange
	}
	d.charge()
	d.catchUp()
	return b, nil
}

// Read copies len(dst) bytes from src to the guest; a phantom's are zero.
func (d *Device) Read(dst []byte, src op.View) error {
	defer d.leave(d.enter())
	b, err := d.reach(src, len(dst))
	if err != nil {
		return err
	}
	if region := b.region(src.Off, int64(len(dst))); region != nil {
		copy(dst, region)
	} else {
		clear(dst)
	}
	d.looked()
	return nil
}

// Write copies len(src) bytes from the guest to dst.
func (d *Device) Write(dst op.View, src []byte) error {
	defer d.leave(d.enter())
	b, err := d.reach(dst, len(src))
	if err != nil {
		return err
	}
	copy(b.region(dst.Off, int64(len(src))), src)
	return nil
}

// Export names bytes of an own buffer, from v on.
func (d *Device) Export(v op.View, bytes int64) (device.Handle, error) {
	defer d.leave(d.enter())
	if d.closed {
		return device.Handle{}, device.ErrClosed
	}
	b, err := d.use(v.Buf)
	if err != nil {
		return device.Handle{}, err
	}
	if b.peer >= 0 {
		return device.Handle{}, fmt.Errorf("export an imported buffer: %w", device.ErrForeign)
	}
	if bytes < 0 || v.Off < 0 || bytes > b.Size() || v.Off > b.Size()-bytes {
		return device.Handle{}, op.ErrRange
	}
	d.charge()
	return device.Handle{Allocation: b.owner.number, Generation: 1, Offset: v.Off, Bytes: bytes}, nil
}

// Import gives access to what peer exported.
func (d *Device) Import(peer int, h device.Handle) (op.Buffer, error) {
	defer d.leave(d.enter())
	if d.closed {
		return nil, device.ErrClosed
	}
	if peer < 0 {
		return nil, fmt.Errorf("rank %d: %w", peer, device.ErrPeer)
	}
	if err := d.meet(peer, device.Forever); err != nil {
		return nil, err
	}
	if d.memory.open == maxBuffers {
		return nil, fmt.Errorf("%d buffers: %w", maxBuffers, device.ErrTooMany)
	}
	d.charge()
	owner := &d.cluster.devices[peer].memory
	if h.Generation != 1 || h.Allocation == 0 || h.Allocation > owner.next || h.Offset < 0 || h.Bytes < 0 {
		return nil, fmt.Errorf("handle of rank %d: %w", peer, op.ErrRange)
	}
	at, ok := owner.find(h.Allocation)
	if !ok {
		return nil, fmt.Errorf("allocation %d of rank %d: %w", h.Allocation, peer, device.ErrStale)
	}
	a := owner.live[at]
	if h.Bytes > a.bytes || h.Offset > a.bytes-h.Bytes {
		return nil, fmt.Errorf("handle of rank %d: %w", peer, op.ErrRange)
	}
	d.memory.open++
	return &buffer{device: d, owner: a, peer: peer, offset: h.Offset, bytes: h.Bytes}, nil
}
