package devicetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

var callCases = []testCase{
	{"call/every program", callPrograms},
	{"call/rooted", callRooted},
	{"call/variable parts", callVariable},
	{"call/group", callGroup},
	{"call/order across streams", callAcrossStreams},
	{"call/two communicators at once", callTwoComms},
	{"call/split", callSplit},
	{"call/freed behind", callFreed},
}

// collectives gives the device's, or skips the case.
func (r *rank) collectives() device.Collectives {
	r.w.t.Helper()
	c, ok := r.Device.(device.Collectives)
	if !ok {
		r.w.t.Skip("the device has no collectives")
	}
	return c
}

// needsCollectives skips a case for devices without.
func needsCollectives(t *testing.T, open Open) {
	t.Helper()
	one(t, open).collectives()
}

func (r *rank) comm(name string, ranks ...int) device.Comm {
	r.w.t.Helper()
	c, err := r.collectives().NewComm(name, ranks, patience)
	r.must(err)
	return c
}

func (r *rank) everyone() []int {
	ranks := make([]int, r.size)
	for i := range ranks {
		ranks[i] = i
	}
	return ranks
}

// vector is an all-reduce of one rank: its buffer holds input and output.
type vector struct {
	planned
	buffer op.Buffer
	dtype  op.Dtype
	red    op.RedOp
	inputs [][]byte // by rank of the communicator
}

// newVector fills this rank's input with its pattern.
func (r *rank) newVector(c op.Comm, bytes int64, dtype op.Dtype, red op.RedOp, seed uint64) *vector {
	r.w.t.Helper()
	v := &vector{
		planned: planned{rank: c.Rank(), size: c.Size(), bytes: bytes, elem: int64(dtype.Size())},
		buffer:  r.alloc(2*bytes + 64), dtype: dtype, red: red,
	}
	for n := range v.size {
		input := make([]byte, bytes)
		op.FillPattern(input, dtype, seed+uint64(n), 0)
		v.inputs = append(v.inputs, input)
	}
	r.write(v.buffer, 0, v.inputs[v.rank])
	return v
}

func (v *vector) call(p *op.Program) *op.Call {
	return &op.Call{
		Collective: op.AllReduce, Type: v.dtype, Red: v.red, Count: v.bytes / v.elem, Bytes: v.bytes, Program: p,
		In: at(v.buffer, 0), Out: at(v.buffer, v.bytes+64),
	}
}

func (r *rank) checkVector(v *vector, what string) {
	r.w.t.Helper()
	got := r.read(v.buffer)
	if want := naiveReduce(v.inputs, v.dtype, v.red); !bytes.Equal(got[v.bytes+64:], want) {
		r.failf("%s", firstDifference(got[v.bytes+64:], want, fmt.Sprintf("%s of %d bytes on %d ranks", what, v.bytes, v.size)))
	}
}

func onComm(c op.Comm, call *op.Call) op.Op {
	return op.Op{Kind: op.CollectiveCall, Comm: c, Call: call, Peer: -1}
}

// callPrograms reduces vectors of whole numbers, whose sums have no order, by
// every program, often enough that places are used again.
func callPrograms(t *testing.T, open Open) {
	needsCollectives(t, open)
	for size := 1; size <= 6; size++ {
		w := newWorld(t, open, size)
		w.each(func(r *rank) {
			c, s := r.comm("all", r.everyone()...), r.stream()
			for n := range 30 {
				v := r.newVector(c, []int64{4, 400, 16000, 12}[n%4], op.I32, redOps[n%len(redOps)], uint64(n)*100)
				p := []*op.Program{v.oneshot(), v.direct(), v.ring()}[n%3]
				if size == 1 {
					p = v.alone()
				}
				r.submit(s, onComm(c, v.call(p)))
				r.sync(s)
				r.checkVector(v, p.Name)
				r.must(r.Free(v.buffer))
			}
			r.must(c.Close())
			r.is(c.Close(), device.ErrClosed)
		})
	}
}

// callRooted has roots that run ahead of the others until their places are
// used up.
func callRooted(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		const rounds, bytes = 100, 256
		c, s := r.comm("all", r.everyone()...), r.stream()
		p := planned{rank: r.n, size: r.size, bytes: bytes, elem: 1}
		in, out := r.filled(rounds*bytes, uint64(r.n)), r.alloc(rounds*bytes)
		for n := range rounds {
			root := n / 40 % r.size
			r.submit(s, onComm(c, &op.Call{
				Collective: op.Broadcast, Root: root, Count: bytes, Bytes: bytes, Program: p.rooted(root),
				In: at(in, int64(n*bytes)), Out: at(out, int64(n*bytes)),
			}))
		}
		r.sync(s)
		for n := range rounds {
			root := n / 40 % r.size
			if root == r.n {
				continue
			}
			part := slice(r.read(out), n*bytes, bytes)
			if want := slice(pattern(rounds*bytes, uint64(root)), n*bytes, bytes); !bytesEqual(part, want) {
				r.failf("broadcast %d: %s", n, firstDifference(part, want, "from slot"))
			}
		}
	})
}

func slice(b []byte, from, n int) []byte { return b[from:][:n] }

func bytesEqual(a, b []byte) bool { return slices.Equal(a, b) }

// variable is what rank a sends to rank b in a round, in elements.
func variable(a, b, round int) int64 { return int64((a*7 + b*3 + round*5) % 11) }

// callVariable exchanges parts of lengths that only their two ends know, and
// that lie in any order.
func callVariable(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 4)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		p := planned{rank: r.n, size: r.size}
		in, out := r.filled(4*100, uint64(r.n)), r.alloc(4*100)
		for round := range 20 {
			call := &op.Call{Collective: op.AllToAllV, Type: op.I32, Program: p.exchange(), In: at(in, 0), Out: at(out, 0)}
			var want []byte
			for peer := range r.size {
				call.SendCounts = append(call.SendCounts, variable(r.n, peer, round))
				call.SendOffsets = append(call.SendOffsets, int64((3-peer)*20+r.n))
				call.RecvCounts = append(call.RecvCounts, variable(peer, r.n, round))
				call.RecvOffsets = append(call.RecvOffsets, int64(len(want)/4))
				want = append(want, slice(pattern(4*100, uint64(peer)), 4*((3-r.n)*20+peer), int(4*variable(peer, r.n, round)))...)
			}
			r.submit(s, onComm(c, call))
			r.sync(s)
			if got := r.read(out)[:len(want)]; !bytes.Equal(got, want) {
				r.failf("round %d: %s", round, firstDifference(got, want, "all_to_all_v"))
			}
		}
	})
}

// callGroup links calls, of which some ranks link more than others.
func callGroup(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 4)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		for round := range 12 {
			var vectors []*vector
			var calls []*op.Call
			for n := range 10 {
				v := r.newVector(c, int64(16*(n+1)), op.I64, op.Sum, uint64(round*1000+n*10))
				p := []*op.Program{v.oneshot(), v.direct(), v.ring()}[(n+round)%3]
				vectors, calls = append(vectors, v), append(calls, v.call(p))
			}
			links := 1 + (round+r.n*round)%10
			for i := 0; i < len(calls); i += links {
				part := calls[i:min(i+links, len(calls))]
				for j := range len(part) - 1 {
					part[j].Next = part[j+1]
				}
				r.submit(s, onComm(c, part[0]))
			}
			for _, call := range calls {
				*call = op.Call{} // streams have copied it
			}
			r.sync(s)
			for _, v := range vectors {
				r.checkVector(v, "group")
				r.must(r.Free(v.buffer))
			}
		}
	})
}

// callAcrossStreams submits calls on one communicator to several streams. They
// are carried out in the order in which they were submitted.
func callAcrossStreams(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		c, streams := r.comm("all", r.everyone()...), []device.Stream{r.stream(), r.stream(), r.stream()}
		var vectors []*vector
		for n := range 60 {
			v := r.newVector(c, []int64{8, 40_000}[n%2], op.F32, op.Max, uint64(n*10))
			vectors = append(vectors, v)
			p := v.direct()
			if n%2 == 0 {
				p = v.oneshot()
			}
			r.submit(streams[(n*(r.n+1))%3], onComm(c, v.call(p)))
		}
		for i := range streams {
			r.sync(streams[(i+r.n)%3])
		}
		for _, v := range vectors {
			r.checkVector(v, "across streams")
		}
	})
}

// callTwoComms has calls of two communicators under way at once, which ranks
// submit in different orders, in streams of their own.
func callTwoComms(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 3)
	w.each(func(r *rank) {
		comms := []device.Comm{r.comm("first", 0, 1, 2), r.comm("second", 2, 0, 1)}
		streams := []device.Stream{r.stream(), r.stream()}
		for round := range 40 {
			var vectors [2]*vector
			for i := range comms {
				which := (i + r.n + round) % 2
				v := r.newVector(comms[which], 20_000, op.I32, op.Sum, uint64(round*100+which*10))
				vectors[which] = v
				r.submit(streams[which], onComm(comms[which], v.call(v.ring())))
			}
			for i := range comms {
				r.sync(streams[(i+r.n)%2])
			}
			for _, v := range vectors {
				r.checkVector(v, "one of two")
				r.must(r.Free(v.buffer))
			}
		}
		r.must(errors.Join(comms[0].Close(), comms[1].Close()))
	})
}

// callSplit makes communicators of some of the ranks, in an order of their own.
func callSplit(t *testing.T, open Open) {
	needsCollectives(t, open)
	w := newWorld(t, open, 5)
	w.each(func(r *rank) {
		parts := [][]int{{4, 2, 0}, {1, 3}}
		part := parts[r.n%2]
		c, s := r.comm(fmt.Sprint("part ", r.n%2), part...), r.stream()
		if c.Size() != len(part) || part[c.Rank()] != r.n {
			r.failf("rank %d of %d in %v", c.Rank(), c.Size(), part)
		}
		world := r.comm("all", r.everyone()...)
		for n := range 20 {
			v := r.newVector(c, 96, op.F64, op.Sum, uint64(n*10+r.n%2*1000))
			u := r.newVector(world, 4800, op.I32, op.Prod, uint64(n))
			r.submit(s, onComm(c, v.call(v.direct())), onComm(world, u.call(u.direct())))
			r.must(s.Sync(time.Minute))
			r.checkVector(v, "split")
			r.checkVector(u, "world")
		}
	})
}

// callFreed frees buffers behind calls that wait for a peer: submitted
// operations still finish, and nobody gets that memory until they have.
func callFreed(t *testing.T, open Open) {
	needsCollectives(t, open)
	const bytes = 4 << 20
	w := newWorld(t, open, 2)
	w.each(func(r *rank) {
		c, s := r.comm("all", r.everyone()...), r.stream()
		for round := range 10 {
			late, freed := round%2, "freed "+string(rune('0'+round))
			v := r.newVector(c, bytes, op.I32, op.Sum, uint64(round*10))
			if r.n == late {
				_, err := r.w.exchange.Get(freed, patience)
				r.must(err)
			}
			r.submit(s, onComm(c, v.call(v.direct())))
			if r.n != late {
				r.must(r.Free(v.buffer))
				next := r.filled(2*bytes, 99)
				r.must(r.w.exchange.Set(freed, []byte{1}))
				r.sync(s)
				if got := r.read(next); !bytesEqual(got, pattern(2*bytes, 99)) {
					r.failf("%s", firstDifference(got, pattern(2*bytes, 99), "the buffer after a freed one"))
				}
				r.must(r.Free(next))
				continue
			}
			r.sync(s)
			r.checkVector(v, "with a freed buffer")
			r.must(r.Free(v.buffer))
		}
	})
}
