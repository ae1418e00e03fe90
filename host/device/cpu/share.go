package cpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// attachTimeout is how long a peer may take to appear if operations have no
// time limit of their own.
const attachTimeout = time.Minute

func arenaKey(rank int) string { return "cpu/arena/" + strconv.Itoa(rank) }

// Export names bytes of an own buffer, from v on.
func (d *Device) Export(v op.View, bytes int64) (device.Handle, error) {
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
	h := device.Handle{Allocation: b.allocation, Generation: b.generation, Offset: v.Off, Bytes: bytes}
	binary.LittleEndian.PutUint64(h.Extra[:], uint64(b.offset))
	return h, nil
}

// Import gives access to what peer exported.
func (d *Device) Import(peer int, h device.Handle) (op.Buffer, error) {
	if d.closed {
		return nil, device.ErrClosed
	}
	a, err := d.attach(peer)
	if err != nil {
		return nil, err
	}
	base := int64(binary.LittleEndian.Uint64(h.Extra[:]))
	if h.Allocation >= maxAllocations || h.Offset < 0 || h.Bytes < 0 ||
		!a.holds(base, 0) || h.Offset > int64(len(a.mem))-base || !a.holds(base+h.Offset, h.Bytes) {
		return nil, fmt.Errorf("handle of rank %d: %w", peer, op.ErrRange)
	}
	b := &buffer{
		device: d, arena: a, peer: peer, allocation: h.Allocation, generation: h.Generation,
		offset: base + h.Offset, mem: a.mem[base+h.Offset:][:h.Bytes:h.Bytes],
	}
	if !b.alive() {
		return nil, fmt.Errorf("allocation %d of rank %d: %w", h.Allocation, peer, device.ErrStale)
	}
	if h.Bytes >= largeBytes {
		_ = a.populate(b.offset, h.Bytes, populateWrite) // only saves faults later
	}
	return b, nil
}

// attach gives the arena of a rank, mapping it when it is needed first.
func (d *Device) attach(peer int) (*arena, error) { return d.attachUntil(peer, never) }

// attachUntil is attach with a deadline besides the device's own.
func (d *Device) attachUntil(peer int, deadline int64) (*arena, error) {
	if peer < 0 || peer >= d.size {
		return nil, fmt.Errorf("rank %d of %d: %w", peer, d.size, device.ErrPeer)
	}
	if a := d.peers[peer].Load(); a != nil {
		return a, nil
	}
	name, err := d.lookUp(arenaKey(peer), peer, deadline)
	if err != nil {
		return nil, err
	}
	a, err := attachArena(peer, d.size, name)
	if err != nil {
		return nil, err
	}
	if a.pid == os.Getpid() {
		d.crowdedProcess.Store(true)
	}
	d.adopt(a)
	return a, nil
}

// adopt makes an arena ready for operations of this rank.
func (d *Device) adopt(a *arena) {
	a.presence(d.rank).Store(d.lanes)
	d.peers[a.rank].Store(a)
}

// lookUp asks for what a peer publishes in rounds, so that an abort ends the
// wait.
func (d *Device) lookUp(key string, peer int, deadline int64) ([]byte, error) {
	limit := attachTimeout
	if d.opTimeout > 0 {
		limit = d.opTimeout
	}
	start := d.Now()
	deadline = min(deadline, start+int64(limit))
	waits := false
	defer func() {
		if waits && d.recorder != nil {
			d.recorder.EndWait(0)
		}
	}()
	for {
		round := min(parkNanos, max(deadline-d.Now(), 0))
		value, err := d.exchange.Get(key, time.Duration(round))
		if err == nil || !errors.Is(err, device.ErrTimeout) {
			return value, err
		}
		if err := d.abortError(); err != nil {
			return nil, err
		}
		if d.Now() >= deadline {
			return nil, fmt.Errorf("rank %d has not published %s after %v: %w",
				peer, key, time.Duration(d.Now()-start).Round(time.Millisecond), device.ErrTimeout)
		}
		if d.recorder == nil {
			continue
		}
		if !waits {
			waits = true
			d.recorder.BeginWait(0, flight.Wait{
				Kind: uint8(op.ShareLookup), Peer: peer, Since: d.Now(), Name: key, Limited: true,
			})
		}
		d.recorder.CheckWait(0, 0)
	}
}
