package devicetest

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ccrun/ccrun/host/op"
)

var ringCases = []testCase{
	{"ring/put, one rank delayed", func(t *testing.T, open Open) { ring(t, open, op.Put) }},
	{"ring/get, one rank delayed", func(t *testing.T, open Open) { ring(t, open, op.Get) }},
}

// Slots of the ring: data is there, data has been taken.
const (
	ringFull = iota
	ringEmpty
)

const ringIterations = 10_000

// ring hands a number on 10,000 times without any barrier and without waiting
// on the host, while one rank is late at random. Signals that only grow carry
// it: a flag would lose some.
func ring(t *testing.T, open Open, kind op.Kind) {
	const n, ahead = 3, 64
	w := newWorld(t, open, n)
	w.each(func(r *rank) {
		random, clutter := rand.New(rand.NewPCG(uint64(kind), 1)), uint64(1)
		s := r.stream()
		next, prev := (r.n+1)%n, (r.n+n-1)%n
		in, out := r.alloc(8*ringIterations), r.alloc(8)
		inbox, outbox := r.share("in", in), r.share("out", out)
		log := r.alloc(8 * ringIterations)
		numbers := r.alloc(8 * ringIterations)
		for i := range ringIterations {
			r.write(numbers, int64(i)*8, binary.LittleEndian.AppendUint64(nil, ringNumber(r.n, i)))
		}
		for i := range uint64(ringIterations) {
			here := int64(i) * 8
			if kind == op.Put { // into one place at the next rank, once that is free
				r.submit(s, wait(next, ringEmpty, i), move(op.Put, at(inbox[next], 0), at(numbers, here), 8), signal(next, ringFull, i+1),
					wait(prev, ringFull, i+1), move(op.Copy, at(log, here), at(in, 0), 8), signal(prev, ringEmpty, i+1))
			} else { // into one place of this rank, for the next to fetch
				r.submit(s, wait(next, ringEmpty, i), move(op.Copy, at(out, 0), at(numbers, here), 8), signal(next, ringFull, i+1),
					wait(prev, ringFull, i+1), move(op.Get, at(log, here), at(outbox[prev], 0), 8), signal(prev, ringEmpty, i+1))
			}
			if r.n == 1 && random.IntN(16) == 0 {
				dawdle(&clutter, random.IntN(20_000))
			}
			if i%ahead == 0 && random.IntN(4) == 0 {
				r.sync(s)
			}
		}
		r.sync(s)
		got := r.read(log)
		for i := range ringIterations {
			if v := binary.LittleEndian.Uint64(got[i*8:]); v != ringNumber(prev, i) {
				r.failf("iteration %d brought %x, want %x", i, v, ringNumber(prev, i))
			}
		}
		r.barrier()
	})
}

func ringNumber(rank, i int) uint64 { return uint64(rank+1)<<32 | uint64(i) }

// dawdle computes for a while, on x so that it is not optimised away.
func dawdle(x *uint64, rounds int) {
	for range rounds {
		*x ^= *x << 13
		*x ^= *x >> 7
		*x ^= *x << 17
	}
}
