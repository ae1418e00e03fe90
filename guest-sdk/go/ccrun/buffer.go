package ccrun

import "iter"

// Buffer is device memory, this rank's own or, if [World.Lookup] gave it, a
// peer's.
type Buffer struct {
	world  *World
	handle uint64
	bytes  int64
	peer   int
}

// Alloc allocates zeroed device memory, aligned to 256 bytes. It fails with
// [ErrNoMemory] past the rank's limit; 0 bytes is a valid size.
func (w *World) Alloc(bytes int64) (*Buffer, error) {
	b := &Buffer{world: w, bytes: bytes, peer: -1}
	if err := w.check("buffer_alloc", w.host.BufferAlloc(bytes, &b.handle)); err != nil {
		return nil, err
	}
	return b, nil
}

// Free gives a buffer back, own or looked up. Operations already submitted
// still finish; later ones fail with [ErrStale], at peers too.
func (b *Buffer) Free() error {
	return b.world.check("buffer_free", b.world.host.BufferFree(b.handle))
}

// Bytes is the buffer's size.
func (b *Buffer) Bytes() int64 { return b.bytes }

// Peer is the rank whose memory this is, -1 for this rank's own.
func (b *Buffer) Peer() int { return b.peer }

// Handle is the buffer's handle, for package raw.
func (b *Buffer) Handle() uint64 { return b.handle }

// Read copies len(p) bytes from offset on to p, now: it waits for no stream.
func (b *Buffer) Read(p []byte, offset int64) error {
	if len(p) == 0 {
		return nil
	}
	return b.world.check("buffer_read", b.world.host.BufferRead(b.handle, offset, &p[0], uint32(len(p))))
}

// Write copies p to the buffer at offset, now: it waits for no stream.
func (b *Buffer) Write(p []byte, offset int64) error {
	if len(p) == 0 {
		return nil
	}
	return b.world.check("buffer_write", b.world.host.BufferWrite(b.handle, offset, &p[0], uint32(len(p))))
}

// All is the whole buffer.
func (b *Buffer) All() Region { return Region{b, 0, b.bytes} }

// At is the region of bytes bytes from offset on. The host refuses one that
// reaches outside the buffer ([ErrRange]) when it is used.
func (b *Buffer) At(offset, bytes int64) Region { return Region{b, offset, bytes} }

// Region is a run of bytes in a buffer.
type Region struct {
	Buffer *Buffer
	Offset int64 // from the buffer's start
	Bytes  int64
}

// At is the part of r of bytes bytes, from offset bytes after r's start on.
func (r Region) At(offset, bytes int64) Region { return Region{r.Buffer, r.Offset + offset, bytes} }

// Chunk is the index-th of count chunks of equal size. That size is a multiple
// of 16 bytes, so that a chunk holds whole elements of any type; the last
// chunks are shorter, or empty. Where ranks contribute a fixed number of bytes
// each, as in an all-gather, use [Region.At].
func (r Region) Chunk(index, count int) Region {
	const align = 16
	size := (r.Bytes + int64(count) - 1) / int64(count)
	size = (size + align - 1) / align * align
	start := min(int64(index)*size, r.Bytes)
	return r.At(start, min(size, r.Bytes-start))
}

// Slices yields r in order, cut into slices of sliceBytes (the last one may be
// shorter): the slice's number and its offset from r's start. No slice size,
// 0 or less, means one slice; an empty region has none.
func (r Region) Slices(sliceBytes int64) iter.Seq2[int, Region] {
	return func(yield func(int, Region) bool) {
		step := sliceBytes
		if step <= 0 {
			step = r.Bytes
		}
		for index, start := 0, int64(0); start < r.Bytes; index, start = index+1, start+step {
			if !yield(index, r.At(start, min(step, r.Bytes-start))) {
				return
			}
		}
	}
}

// SliceCount is how many slices [Region.Slices] yields.
func (r Region) SliceCount(sliceBytes int64) int {
	switch {
	case r.Bytes <= 0:
		return 0
	case sliceBytes <= 0:
		return 1
	default:
		return int((r.Bytes + sliceBytes - 1) / sliceBytes)
	}
}

// handle is the buffer's handle, 0 (which the host refuses) without a buffer.
func (r Region) handle() uint64 {
	if r.Buffer == nil {
		return 0
	}
	return r.Buffer.handle
}
