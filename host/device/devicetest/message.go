package devicetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var messageCases = []testCase{
	{"message/order", messageOrder},
	{"message/everyone sends first", messageGroup},
	{"message/group grows", messageGroupGrows},
	{"message/many in flight", messageMany},
	{"message/channels", messageChannels},
	{"message/to itself", messageSelf},
	{"message/mismatch", messageMismatch},
	{"message/freed after submission", messageFreed},
	{"message/freed after failure", messageWithdrawn},
}

func send(peer int, channel uint32, src op.View, bytes int64) op.Op {
	return op.Op{Kind: op.Send, Peer: int32(peer), Slot: channel, Src: src, Bytes: bytes}
}

func recv(peer int, channel uint32, dst op.View, bytes int64) op.Op {
	return op.Op{Kind: op.Recv, Peer: int32(peer), Slot: channel, Dst: dst, Bytes: bytes}
}

// messageOrder sends messages of many sizes, empty ones too.
func messageOrder(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	const size = 200_000
	lengths := []int64{0, 1, 100, 0, 65_537, 3, 4096, 0, 100_000}
	w.each(func(r *rank) {
		s, b := r.stream(), r.alloc(size)
		if r.n == 0 {
			r.write(b, 0, pattern(size, 1))
		}
		offset := int64(0)
		for _, n := range lengths {
			if r.n == 0 {
				r.submit(s, send(1, 0, at(b, offset), n))
			} else {
				r.submit(s, recv(0, 0, at(b, offset), n))
			}
			offset += n
		}
		r.sync(s)
		want := pattern(size, 1)
		if r.n == 1 {
			clear(want[offset:])
		}
		if !bytes.Equal(r.read(b), want) {
			r.failf("wrong bytes")
		}
	})
}

// messageGroup lets every rank send to its neighbour before it receives, on
// one stream, many times.
func messageGroup(t *testing.T, open Open) {
	const size, rounds = 5000, 40
	for _, n := range []int{2, 5} {
		w := newWorld(t, open, n)
		w.each(func(r *rank) {
			s := r.stream()
			held, next := r.filled(size, uint64(r.n)), r.alloc(size)
			for range rounds {
				r.submit(s, send((r.n+1)%n, 0, at(held, 0), size), recv((r.n+n-1)%n, 0, at(next, 0), size))
				r.submit(s, move(op.Copy, at(held, 0), at(next, 0), size)) // ends the group
			}
			r.sync(s)
			from := uint64((r.n + rounds*(n-1)) % n)
			if !bytes.Equal(r.read(held), pattern(size, from)) {
				r.failf("does not hold the bytes of rank %d", from)
			}
		})
	}
}

// messageGroupGrows appends the receive once the send alone has been waiting
// for a while.
func messageGroupGrows(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s, second := r.stream(), r.stream()
		out, in := r.filled(100, uint64(r.n)), r.alloc(100)
		r.submit(s, send(1-r.n, 0, at(out, 0), 100))
		r.submit(second, signal(1-r.n, 0, 1), wait(1-r.n, 0, 1))
		r.sync(second)
		if done, err := s.Query(); done || err != nil {
			r.failf("done %v, error %v before anyone received", done, err)
		}
		r.submit(second, signal(1-r.n, 0, 2), wait(1-r.n, 0, 2))
		r.sync(second)
		r.submit(s, recv(1-r.n, 0, at(in, 0), 100))
		r.sync(s)
		if !bytes.Equal(r.read(in), pattern(100, uint64(1-r.n))) {
			r.failf("wrong bytes")
		}
		r.barrier()
	})
}

// messageMany sends more than any mailbox holds before the peer looks.
func messageMany(t *testing.T, open Open) {
	const count, size = 500, 64
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s, b := r.stream(), r.alloc(count*size)
		if r.n == 0 {
			r.write(b, 0, pattern(count*size, 4))
		}
		for i := range int64(count) {
			if r.n == 0 {
				r.submit(s, send(1, 0, at(b, i*size), size))
			} else {
				r.submit(s, recv(0, 0, at(b, i*size), size))
			}
		}
		r.sync(s)
		if !bytes.Equal(r.read(b), pattern(count*size, 4)) {
			r.failf("wrong bytes")
		}
	})
}

// messageChannels receives on two channels in the opposite order.
func messageChannels(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s, b, last := r.stream(), r.alloc(200), r.Facts().SendChannels-1
		if r.n == 0 {
			r.write(b, 0, pattern(200, 6))
			r.submit(s, send(1, 0, at(b, 0), 100), send(1, last, at(b, 100), 100))
		} else {
			r.submit(s, recv(0, last, at(b, 100), 100), recv(0, 0, at(b, 0), 100))
		}
		r.sync(s)
		if !bytes.Equal(r.read(b), pattern(200, 6)) {
			r.failf("wrong bytes")
		}
	})
}

func messageSelf(t *testing.T, open Open) {
	r := one(t, open)
	s, a, b := r.stream(), r.filled(1000, 2), r.alloc(1000)
	r.submit(s, recv(0, 0, at(b, 0), 1000), send(0, 0, at(a, 0), 1000))
	r.sync(s)
	if !bytes.Equal(r.read(b), pattern(1000, 2)) {
		t.Error("wrong bytes")
	}
}

func messageMismatch(t *testing.T, open Open) {
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		s, b := r.stream(), r.alloc(100)
		if r.n == 0 {
			r.submit(s, send(1, 0, at(b, 0), 50))
		} else {
			r.submit(s, recv(0, 0, at(b, 0), 51))
		}
		r.is(s.Sync(patience), device.ErrMismatch)
		o := signal(0, 0, 1)
		r.is(s.Submit(&o), device.ErrMismatch) // the failure is kept
		_, err := s.Query()
		r.is(err, device.ErrMismatch)
		r.barrier()
	})
}

// messageFreed frees the buffers of a Send and a Recv that are on their way,
// and allocates others: the message arrives, and hits nothing else.
func messageFreed(t *testing.T, open Open) {
	const size = 100_000
	w := newWorld(t, open, 2)
	sender, receiver := w.ranks[0], w.ranks[1]
	s, theirs := sender.stream(), receiver.stream()
	for round := range uint64(4) {
		posted := round%2 == 0 // or still in the queue when it is freed
		b := sender.filled(size, round)
		sender.submit(s, send(1, 0, at(b, 0), size))
		if posted {
			sender.is(s.Sync(5*time.Millisecond), device.ErrTimeout)
		}
		sender.must(sender.Free(b))
		other := sender.filled(size, 100)
		b = receiver.alloc(size)
		copied := receiver.alloc(size)
		receiver.submit(theirs, recv(0, 0, at(b, 0), size), move(op.Copy, at(copied, 0), at(b, 0), size))
		receiver.must(receiver.Free(b))
		after := receiver.filled(size, 101)
		both := make(chan error)
		go func() { both <- s.Sync(patience) }()
		receiver.sync(theirs)
		sender.must(<-both)
		for name, found := range map[string]bool{
			"the message":                bytes.Equal(receiver.read(copied), pattern(size, round)),
			"the sender's next buffer":   bytes.Equal(sender.read(other), pattern(size, 100)),
			"the receiver's next buffer": bytes.Equal(receiver.read(after), pattern(size, 101)),
		} {
			if !found {
				t.Errorf("round %d: %s does not hold its bytes", round, name)
			}
		}
	}
}

// messageWithdrawn frees the buffer of a Send that has failed and uses its
// memory for another: whoever receives then must not get that one's bytes.
func messageWithdrawn(t *testing.T, open Open) {
	const size = 100_000
	w := newWorld(t, open, 2, func(c *device.Config) {
		if c.Rank == 0 {
			c.OpTimeout = 20 * time.Millisecond
		}
	})
	sender, receiver := w.ranks[0], w.ranks[1]
	s, b := sender.stream(), sender.filled(size, 1)
	sender.submit(s, send(1, 0, at(b, 0), size))
	sender.is(s.Sync(patience), device.ErrTimeout)
	sender.must(sender.Free(b))
	sender.filled(size, 2)
	theirs, local := receiver.stream(), receiver.alloc(size)
	receiver.submit(theirs, recv(0, 0, at(local, 0), size))
	receiver.is(theirs.Sync(patience), device.ErrStale)
	if !bytes.Equal(receiver.read(local), make([]byte, size)) {
		t.Error("bytes of a withdrawn message arrived")
	}
}
