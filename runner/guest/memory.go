package guest

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// pageBytes is a page of WebAssembly memory; memoryBytesMax is what 32-bit
// addresses reach.
const (
	pageBytes      = 64 << 10
	memoryBytesMax = 4 << 30
)

// Memory watches over a guest's linear memory: it reserves addresses for all
// that the guest may ever use, so that growing moves nothing, and it notes a
// request that went past the limit.
type Memory struct {
	limitBytes uint64
	oneOfMany  bool // in this process: small pages, lest thousands take 2 MiB for their first byte
	peakBytes  atomic.Uint64
	refused    atomic.Bool
}

var _ experimental.MemoryAllocator = (*Memory)(nil)

// newMemory limits memory to limitBytes, 0 for as much as there can be.
func newMemory(limitBytes int64) *Memory {
	if limitBytes <= 0 || limitBytes > memoryBytesMax {
		limitBytes = memoryBytesMax
	}
	return &Memory{limitBytes: uint64(limitBytes) / pageBytes * pageBytes}
}

// PeakBytes is the most memory that the guest has had.
func (m *Memory) PeakBytes() int64 { return int64(m.peakBytes.Load()) }

// Refused reports whether the guest asked for more than its limit.
func (m *Memory) Refused() bool { return m.refused.Load() }

// Allocate implements [experimental.MemoryAllocator].
func (m *Memory) Allocate(_, maxBytes uint64) experimental.LinearMemory {
	reserve := min(maxBytes, m.limitBytes)
	region, err := unix.Mmap(-1, 0, int(max(reserve, pageBytes)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil { // addresses are limited (ulimit -v): let the Go heap grow
		return &heapMemory{owner: m}
	}
	if m.oneOfMany {
		_ = unix.Madvise(region, unix.MADV_NOHUGEPAGE) // an older kernel has no other pages
	}
	return &reservedMemory{owner: m, region: region}
}

// grant accounts a request and reports whether it is within the limit.
func (m *Memory) grant(bytes uint64) bool {
	if bytes > m.limitBytes {
		m.refused.Store(true)
		return false
	}
	if bytes > m.peakBytes.Load() {
		m.peakBytes.Store(bytes)
	}
	return true
}

// reservedMemory grows in place.
type reservedMemory struct {
	owner  *Memory
	region []byte
}

// Reallocate implements [experimental.LinearMemory].
func (r *reservedMemory) Reallocate(bytes uint64) []byte {
	if !r.owner.grant(bytes) || bytes > uint64(len(r.region)) {
		return nil
	}
	return r.region[:bytes]
}

// Free implements [experimental.LinearMemory].
func (r *reservedMemory) Free() {
	if r.region != nil {
		_ = unix.Munmap(r.region)
		r.region = nil
	}
}

// heapMemory grows by moving.
type heapMemory struct {
	owner *Memory
	bytes []byte
}

// Reallocate implements [experimental.LinearMemory].
func (h *heapMemory) Reallocate(bytes uint64) []byte {
	if !h.owner.grant(bytes) {
		return nil
	}
	if bytes > uint64(cap(h.bytes)) {
		grown := make([]byte, bytes, min(bytes+bytes/4, h.owner.limitBytes))
		copy(grown, h.bytes)
		h.bytes = grown
	}
	h.bytes = h.bytes[:bytes]
	return h.bytes
}

// Free implements [experimental.LinearMemory].
func (h *heapMemory) Free() { h.bytes = nil }
