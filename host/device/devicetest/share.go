package devicetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var shareCases = []testCase{
	{"share/view at an offset", shareOffset},
	{"share/own export", shareOwn},
	{"share/freed by its owner", shareFreed},
	{"share/address used again", shareReused},
	{"share/exporter ahead", shareAhead},
	{"share/opposite order", shareOpposite},
	{"share/uneven hits", shareUneven},
	{"share/bad handles", shareBad},
}

// shareOffset exports parts of a buffer: an importer must get those bytes and
// reach no others.
func shareOffset(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	const size = 4096
	w.each(func(r *rank) {
		mine := r.filled(size, uint64(r.n))
		for _, c := range []struct{ offset, bytes int64 }{{256, 1000}, {1, 1}, {4000, 96}, {4096, 0}, {256, 0}} {
			name := fmt.Sprint(c)
			r.publish(name, at(mine, c.offset), c.bytes)
			got := r.lookup(1-r.n, name)
			if got.Size() != c.bytes || got.Peer() != 1-r.n {
				r.failf("size %d, peer %d", got.Size(), got.Peer())
			}
			if !bytes.Equal(r.read(got), pattern(size, uint64(1-r.n))[c.offset:c.offset+c.bytes]) {
				r.failf("wrong bytes at offset %d", c.offset)
			}
			r.is(r.Read(make([]byte, 1), at(got, c.bytes)), op.ErrRange)
		}
		r.barrier()
	})
}

func shareOwn(t *testing.T, open Open) {
	r := one(t, open)
	s, b := r.stream(), r.filled(1000, 1)
	r.publish("b", at(b, 100), 800)
	alias := r.lookup(0, "b")
	if alias.Peer() != 0 {
		t.Errorf("peer %d", alias.Peer())
	}
	_, err := r.Export(at(alias, 0), 1)
	r.is(err, device.ErrForeign)
	r.submit(s, move(op.Put, at(alias, 0), at(b, 0), 100))
	r.sync(s)
	if !bytes.Equal(r.read(b)[100:200], pattern(1000, 1)[:100]) {
		t.Error("the put did not arrive")
	}
	r.must(r.Free(alias))
	r.must(r.Read(make([]byte, 1), at(b, 0))) // freeing an import frees nothing else
	r.is(r.Read(make([]byte, 1), at(alias, 0)), device.ErrStale)
}

// shareFreed checks everything that an importer can do with a buffer that its
// owner has freed.
func shareFreed(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine, local, s := r.alloc(100_000), r.alloc(100_000), r.stream()
		theirs := r.share("b", mine)[1-r.n]
		h := r.handle(1-r.n, "b")
		r.submit(s, wait(1-r.n, 0, 1), move(op.Get, at(local, 0), at(theirs, 0), 100)) // queued before, executed after
		r.barrier()
		r.must(r.Free(mine))
		r.barrier()
		r.submit(r.stream(), signal(1-r.n, 0, 1))
		r.is(s.Sync(patience), device.ErrStale)
		s = r.stream()
		get := move(op.Get, at(local, 0), at(theirs, 0), 1)
		put := move(op.Put, at(theirs, 0), at(local, 0), 1)
		sum := op.Op{Kind: op.Reduce, Dst: at(local, 0), SourceCount: 2, Sources: [op.MaxSources]op.View{at(local, 0), at(theirs, 0)}, Bytes: 4, Peer: -1}
		for _, o := range []op.Op{get, put, sum} {
			r.is(s.Submit(&o), device.ErrStale)
		}
		r.is(r.Read(make([]byte, 1), at(theirs, 0)), device.ErrStale)
		r.is(r.Write(at(theirs, 0), make([]byte, 1)), device.ErrStale)
		_, err := r.Import(1-r.n, h)
		r.is(err, device.ErrStale)
		r.must(r.Free(theirs))
		r.sync(s)
		r.barrier()
	})
}

// shareReused frees and allocates until an address comes again: the old handle
// must be refused although other bytes lie there now.
func shareReused(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	for _, size := range []int64{500, 200_000} {
		w.each(func(r *rank) {
			name := fmt.Sprint("old", size)
			mine := r.filled(size, 1)
			theirs := r.share(name, mine)[1-r.n]
			for i := range 20 {
				r.barrier()
				r.must(r.Free(mine))
				mine = r.filled(size, 2)
				r.barrier()
				r.is(r.Read(make([]byte, 1), at(theirs, 0)), device.ErrStale)
				_, err := r.Import(1-r.n, r.handle(1-r.n, name))
				r.is(err, device.ErrStale)
				name = fmt.Sprint("new", size, i)
				theirs = r.share(name, mine)[1-r.n]
				if !bytes.Equal(r.read(theirs), pattern(size, 2)) {
					r.failf("wrong bytes after the exchange")
				}
			}
			r.barrier()
		})
	}
}

// shareAhead lets the exporter publish a second epoch, and free nothing,
// before the importer asks for the first.
func shareAhead(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s := r.stream()
		if r.n == 0 {
			for epoch := range uint64(2) {
				r.publish(fmt.Sprint(epoch), at(r.filled(1000, epoch), 0), 1000)
			}
			r.submit(s, signal(1, 0, 1), wait(1, 0, 1))
			r.sync(s)
			return
		}
		r.submit(s, wait(0, 0, 1))
		r.sync(s)
		for epoch := range uint64(2) {
			if !bytes.Equal(r.read(r.lookup(0, fmt.Sprint(epoch))), pattern(1000, epoch)) {
				r.failf("wrong bytes in epoch %d", epoch)
			}
		}
		r.submit(s, signal(0, 0, 1))
		r.sync(s)
	})
}

// shareOpposite imports from both neighbours, odd ranks in the other order.
func shareOpposite(t *testing.T, open Open) {
	const n = 5
	w := newWorld(t, open, n)
	w.each(func(r *rank) {
		for epoch := range 10 {
			seed := uint64(epoch*n + r.n)
			r.publish(fmt.Sprint(epoch), at(r.filled(700, seed), 0), 700)
			order := []int{(r.n + 1) % n, (r.n + n - 1) % n}
			if r.n%2 == 1 {
				order[0], order[1] = order[1], order[0]
			}
			for _, peer := range order {
				got := r.read(r.lookup(peer, fmt.Sprint(epoch)))
				if !bytes.Equal(got, pattern(700, uint64(epoch*n+peer))) {
					r.failf("wrong bytes of rank %d in epoch %d", peer, epoch)
				}
			}
		}
		r.barrier()
	})
}

// shareUneven lets 1, 2 and all but one of the ranks forget their imports and
// ask again while the others go on with what they have. Nobody waits for
// anybody but by the ring's own signals.
func shareUneven(t *testing.T, open Open) {
	const n, size = 4, 3000
	for _, missing := range []int{1, 2, n - 1} {
		w := newWorld(t, open, n)
		w.each(func(r *rank) {
			s, mine, local := r.stream(), r.alloc(size), r.filled(size, uint64(r.n))
			next, prev := (r.n+1)%n, (r.n+n-1)%n
			target := r.share("b", mine)[next]
			for i := range uint64(20) {
				if r.n < missing && i%3 == 0 {
					r.must(r.Free(target))
					target = r.lookup(next, "b")
				}
				r.submit(s, wait(next, 1, i), move(op.Put, at(target, 0), at(local, 0), size), signal(next, 0, i+1),
					wait(prev, 0, i+1))
				r.sync(s)
				if !bytes.Equal(r.read(mine), pattern(size, uint64(prev))) {
					r.failf("wrong bytes in round %d", i)
				}
				r.submit(s, signal(prev, 1, i+1))
			}
			r.sync(s)
			r.barrier()
		})
	}
}

// shareBad imports handles that no rank has exported.
func shareBad(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		mine := r.alloc(1000)
		r.share("b", mine)
		good := r.handle(1-r.n, "b")
		for i, change := range []func(*device.Handle){
			func(h *device.Handle) { h.Allocation = 1<<32 - 1 },
			func(h *device.Handle) { h.Allocation += 1000 },
			func(h *device.Handle) { h.Generation += 7 },
			func(h *device.Handle) { h.Offset = -1 },
			func(h *device.Handle) { h.Offset = 1<<63 - 1 },
			func(h *device.Handle) { h.Bytes = -1 },
			func(h *device.Handle) { h.Bytes = 1<<63 - 1 },
			func(h *device.Handle) { *h = device.Handle{} },
		} {
			h := good
			change(&h)
			if b, err := r.Import(1-r.n, h); err == nil {
				r.failf("import of bad handle %d gave a buffer of %d bytes", i, b.Size())
			}
		}
		for _, peer := range []int{-1, 2, 1 << 40} {
			_, err := r.Import(peer, good)
			r.is(err, device.ErrPeer)
		}
		r.barrier()
	})
}
