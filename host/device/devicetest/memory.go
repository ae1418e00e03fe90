package devicetest

import (
	"bytes"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var memoryCases = []testCase{
	{"memory/zeroed", memoryZeroed},
	{"memory/read and write", memoryReadWrite},
	{"memory/bounds", memoryBounds},
	{"memory/limit", memoryLimit},
	{"memory/free", memoryFree},
	{"memory/accounting", memoryAccounting},
	{"memory/foreign", memoryForeign},
	{"memory/freed in use", memoryFreedInUse},
}

var sizes = []int64{0, 1, 7, 255, 256, 257, 4095, 4096, 65535, 65536, 100_001, 3 << 20}

func memoryZeroed(t *testing.T, open Open) {
	r := one(t, open)
	for round := range 3 { // from the second on, of memory used before
		var all []op.Buffer
		for _, size := range sizes {
			b := r.alloc(size)
			if b.Size() != size || b.Peer() != -1 {
				t.Fatalf("size %d peer %d, want %d and -1", b.Size(), b.Peer(), size)
			}
			if !bytes.Equal(r.read(b), make([]byte, size)) {
				t.Fatalf("round %d: buffer of %d bytes is not zero", round, size)
			}
			r.write(b, 0, pattern(size, 1))
			all = append(all, b)
		}
		for _, b := range all {
			r.must(r.Free(b))
		}
	}
}

func memoryReadWrite(t *testing.T, open Open) {
	r := one(t, open)
	var all []op.Buffer
	for i, size := range sizes {
		all = append(all, r.filled(size, uint64(i)))
	}
	for i, b := range all { // no two share a byte
		if !bytes.Equal(r.read(b), pattern(sizes[i], uint64(i))) {
			t.Errorf("buffer of %d bytes was changed", sizes[i])
		}
	}
	b := all[len(all)-1]
	part := []byte("seven b")
	r.write(b, 1001, part)
	want := pattern(b.Size(), uint64(len(all)-1))
	copy(want[1001:], part)
	if !bytes.Equal(r.read(b), want) {
		t.Error("a write at offset 1001 changed other bytes or not its own")
	}
}

func memoryBounds(t *testing.T, open Open) {
	r := one(t, open)
	b := r.alloc(100)
	for _, c := range []struct{ offset, bytes int64 }{
		{0, 101}, {1, 100}, {100, 1}, {101, 0}, {-1, 1}, {-1 << 63, 1}, {1<<63 - 1, 1}, {1<<63 - 1, 100},
	} {
		v, part := at(b, c.offset), make([]byte, c.bytes)
		r.is(r.Read(part, v), op.ErrRange)
		r.is(r.Write(v, part), op.ErrRange)
		if _, err := r.Export(v, c.bytes); err == nil {
			t.Errorf("export of %d bytes at %d succeeded", c.bytes, c.offset)
		}
	}
	if _, err := r.Alloc(-1); err == nil {
		t.Error("allocated -1 bytes")
	}
	r.must(r.Read(nil, at(b, 100)))
}

func memoryLimit(t *testing.T, open Open) {
	r := one(t, open, func(c *device.Config) { c.MemoryBytes = 4 << 20 })
	if got := r.Facts().MemoryBytes; got != 4<<20 {
		t.Fatalf("limit %d", got)
	}
	for _, tooMuch := range []int64{4<<20 + 1, 1 << 40, 1<<63 - 1} {
		_, err := r.Alloc(tooMuch)
		r.is(err, device.ErrNoMemory)
	}
	for range 3 {
		b := r.alloc(4 << 20)
		_, err := r.Alloc(1)
		r.is(err, device.ErrNoMemory)
		r.must(r.Free(b))
	}
	var quarters []op.Buffer
	for range 4 {
		quarters = append(quarters, r.alloc(1<<20))
	}
	_, err := r.Alloc(1)
	r.is(err, device.ErrNoMemory)
	r.must(r.Free(quarters[1]))
	r.alloc(1 << 20)
}

func memoryFree(t *testing.T, open Open) {
	r := one(t, open)
	s := r.stream()
	old := r.filled(1000, 1)
	other := r.alloc(1000)
	h, err := r.Export(at(old, 0), 1000)
	r.must(err)
	r.must(r.Free(old))
	r.is(r.Free(old), device.ErrStale)
	r.is(r.Read(make([]byte, 1), at(old, 0)), device.ErrStale)
	r.is(r.Write(at(old, 0), make([]byte, 1)), device.ErrStale)
	o := move(op.Copy, at(other, 0), at(old, 0), 10)
	r.is(s.Submit(&o), device.ErrStale)
	_, err = r.Export(at(old, 0), 1)
	r.is(err, device.ErrStale)
	fresh := r.alloc(1000)
	_, err = r.Import(0, h)
	r.is(err, device.ErrStale)
	h2, err := r.Export(at(fresh, 0), 1000)
	r.must(err)
	if h2.Allocation == h.Allocation && h2.Generation == h.Generation {
		t.Error("allocation and generation were used twice")
	}
	r.sync(s) // a refused operation does not harm the stream
}

func memoryAccounting(t *testing.T, open Open) {
	r := one(t, open)
	a, b := r.alloc(1000), r.alloc(500)
	r.must(r.Free(a))
	c := r.recorder.Counters()
	if c.BufferBytes != 500 || c.BufferPeak != 1500 {
		t.Errorf("in use %d, peak %d, want 500 and 1500", c.BufferBytes, c.BufferPeak)
	}
	r.must(r.Free(b))
	if got := r.recorder.Counters().BufferBytes; got != 0 {
		t.Errorf("%d bytes in use after the last Free", got)
	}
}

// strange is a buffer and an event of no device.
type strange struct{}

func (strange) Size() int64    { return 100 }
func (strange) Peer() int      { return -1 }
func (strange) Recorded() bool { return true }

func memoryForeign(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	r := w.ranks[0]
	s := r.stream()
	mine, theirs := r.alloc(100), w.ranks[1].alloc(100)
	for _, b := range []op.Buffer{strange{}, theirs} {
		r.is(r.Free(b), device.ErrForeign)
		r.is(r.Read(make([]byte, 1), at(b, 0)), device.ErrForeign)
		o := move(op.Copy, at(mine, 0), at(b, 0), 1)
		r.is(s.Submit(&o), device.ErrForeign)
		o = move(op.Copy, at(b, 0), at(mine, 0), 1)
		r.is(s.Submit(&o), device.ErrForeign)
	}
	for _, e := range []op.Event{strange{}, w.ranks[1].event()} {
		r.is(s.Submit(&op.Op{Kind: op.EventWait, Event: e}), device.ErrForeign)
		r.is(s.Submit(&op.Op{Kind: op.EventRecord, Event: e}), device.ErrForeign)
	}
	r.sync(s)
}

// memoryFreedInUse frees the source of an operation that has been submitted
// but cannot begin yet: it must still see the old bytes, even though the
// memory is wanted.
func memoryFreedInUse(t *testing.T, open Open) {
	r := one(t, open, func(c *device.Config) { c.MemoryBytes = 4 << 20 })
	s, other := r.stream(), r.stream()
	const size = 1 << 20
	src, dst := r.filled(size, 1), r.alloc(size)
	r.submit(s, wait(0, 0, 1), move(op.Copy, at(dst, 0), at(src, 0), size))
	r.must(r.Free(src))
	for seed := range uint64(2) { // takes all that is left
		r.filled(size, 2+seed)
	}
	r.submit(other, signal(0, 0, 1))
	r.sync(s)
	if !bytes.Equal(r.read(dst), pattern(size, 1)) {
		t.Error("the copy did not see what the freed buffer held")
	}
}
