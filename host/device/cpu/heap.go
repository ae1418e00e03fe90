package cpu

import (
	"slices"
	"sort"
)

// Small blocks share pages and are zeroed when they are allocated; large ones
// consist of whole pages, which are given back when they are freed.
const (
	blockAlign = 256
	largeBytes = 64 << 10
)

// heap hands out ranges of an address space. It is pure bookkeeping, first
// fit, and touches no memory.
type heap struct {
	free []block // sorted by offset, no two adjacent
}

// block is a range. A dirty one may hold other bytes than zero.
type block struct {
	offset, bytes int64
	dirty         bool
}

func newHeap(bytes int64) heap { return heap{free: []block{{bytes: bytes}}} }

// blockBytes is what a request takes.
func blockBytes(bytes int64) int64 {
	if bytes >= largeBytes {
		return roundUp(bytes, pageBytes)
	}
	return roundUp(bytes, blockAlign)
}

// blockAlignment is what the offset of a block is a multiple of. Blocks that
// can hold huge pages are aligned for them.
func blockAlignment(bytes int64) int64 {
	switch {
	case bytes >= hugePageBytes:
		return hugePageBytes
	case bytes >= largeBytes:
		return pageBytes
	default:
		return blockAlign
	}
}

// take finds room for blockBytes(bytes) bytes, more than zero.
func (h *heap) take(bytes int64) (block, bool) {
	need, align := blockBytes(bytes), blockAlignment(bytes)
	for i, f := range h.free {
		at := roundUp(f.offset, align)
		skipped := at - f.offset
		if need > f.bytes || skipped > f.bytes-need {
			continue
		}
		h.cut(i, f, at, need)
		return block{offset: at, bytes: need, dirty: f.dirty}, true
	}
	return block{}, false
}

// cut removes need bytes at offset at from free block i.
func (h *heap) cut(i int, f block, at, need int64) {
	var rest [2]block
	n := 0
	if at > f.offset {
		rest[n] = block{f.offset, at - f.offset, f.dirty}
		n++
	}
	if end := f.offset + f.bytes; at+need < end {
		rest[n] = block{at + need, end - at - need, f.dirty}
		n++
	}
	h.free = slices.Replace(h.free, i, i+1, rest[:n]...)
}

// give returns a block that take handed out.
func (h *heap) give(b block) {
	i := sort.Search(len(h.free), func(i int) bool { return h.free[i].offset > b.offset })
	h.free = slices.Insert(h.free, i, b)
	if i+1 < len(h.free) {
		h.join(i)
	}
	if i > 0 {
		h.join(i - 1)
	}
}

// join merges free blocks i and i+1 if they touch.
func (h *heap) join(i int) {
	a, b := h.free[i], h.free[i+1]
	if a.offset+a.bytes != b.offset {
		return
	}
	h.free[i] = block{a.offset, a.bytes + b.bytes, a.dirty || b.dirty}
	h.free = slices.Delete(h.free, i+1, i+2)
}
