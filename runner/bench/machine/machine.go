// Package machine finds the numbers by which the simulator predicts this
// machine's processor cores, and tells how well it does. [NewPlan] has guests to
// run, [Plan.Fit] makes [Numbers] of the times that they take, and
// [Numbers.Preset] a preset. [NewCheck] has rings to run for real and simulated,
// at sizes that the fit has not seen, and compares them.
//
// It runs nothing and reads no clock: cmd/ccrun does. What the numbers mean is
// said where the simulator uses them, in package sim.
package machine

import (
	"github.com/ccrun/ccrun/host/op"
	"github.com/ccrun/ccrun/runner/bench/script"
)

// SliceBytes is how large a transfer is at most, here as in the workflows.
const SliceBytes = 1 << 20

// Plan is what to measure on a machine: Scripts, each of which is to be run
// several times.
type Plan struct {
	Cores   int
	Scripts []*script.Script

	ranks  int // of the first script, each with a core to itself
	sizes  []int64
	pieces map[piece]int // of the first script
	times  [][][]float64 // by script and piece: seconds of a round, of each sample
}

// piece names what is measured: a kind, and the bytes that each rank has
// allocated.
type piece struct {
	kind  kind
	bytes int64
}

type kind int

const (
	nothing  kind = iota // an empty list: what submitting it and waiting for it costs
	one                  // a small copy
	many                 // manyOps small copies
	pingPong             // hops signals that go to and fro
	alone                // rank 0 copies within its buffer
	local                // every rank does
	fetch                // every rank copies what the previous one has just written
	reduce               // every rank adds to it
	fill                 // every rank fills its buffer with a pattern
)

const (
	manyOps    = 64
	hops       = 32 // of a round, there and back as one
	smallBytes = 64 // of a small copy
	fillBytes  = 768 << 10
	// ranksMax keeps what is measured to a few hundred megabytes.
	ranksMax = 8
	// crowdedMax is the most ranks that are started to see what sharing a core
	// costs.
	crowdedMax = 64
)

// Sizes of buffers lie between the powers of two that people ask for.
const (
	sizeMin      = 48 << 10
	sizeMax      = 192 << 20
	quickSizeMax = 12 << 20
)

// NewPlan plans what to measure on a machine of so many cores; quick measures
// fewer and smaller sizes.
func NewPlan(cores int, quick bool) *Plan {
	p := &Plan{Cores: cores, ranks: max(1, min(cores, ranksMax)), pieces: make(map[piece]int)}
	most, factor := int64(sizeMax), int64(2)
	if quick {
		most, factor = quickSizeMax, 16
	}
	for bytes := int64(sizeMin); bytes <= most; bytes *= factor {
		p.sizes = append(p.sizes, bytes)
	}
	p.Scripts = []*script.Script{p.apart()}
	if crowd := 2 * cores; crowd <= crowdedMax {
		s := &script.Script{Ranks: crowd}
		s.Pieces = []script.Piece{{Bytes: 2 * smallBytes, Samples: 20, Rounds: 20, Lists: steps(crowd)}}
		p.Scripts = append(p.Scripts, s)
	}
	p.times = make([][][]float64, len(p.Scripts))
	for i, s := range p.Scripts {
		p.times[i] = make([][]float64, len(s.Pieces))
	}
	return p
}

// apart is the script of ranks that have a core each.
func (p *Plan) apart() *script.Script {
	s := &script.Script{Ranks: p.ranks}
	add := func(k kind, bytes int64, samples, rounds int) {
		p.pieces[piece{k, bytes}] = len(s.Pieces)
		s.Pieces = append(s.Pieces, script.Piece{Bytes: max(bytes, 2*smallBytes), Samples: samples, Rounds: rounds, Lists: p.lists(k, bytes)})
	}
	for _, k := range []kind{nothing, one, many, pingPong} {
		add(k, 0, 20, 100)
	}
	add(fill, fillBytes, 10, rounds(fillBytes))
	for _, bytes := range p.sizes {
		for _, k := range []kind{alone, local, fetch, reduce} {
			add(k, bytes, 4, rounds(bytes))
		}
	}
	return s
}

// rounds makes a sample long enough for the clock, and for other processes not
// to be most of it.
func rounds(bytes int64) int {
	const bytesOfSample, most, least = 16 << 20, 100, 2
	return int(min(most, max(least, bytesOfSample/bytes)))
}

func (p *Plan) lists(k kind, bytes int64) [][]script.Op {
	lists := make([][]script.Op, p.ranks)
	for rank := range lists {
		prev, next := (rank+p.ranks-1)%p.ranks, (rank+1)%p.ranks
		switch k {
		case one, many:
			if rank == 0 {
				lists[rank] = smallCopies(k)
			}
		case pingPong:
			if rank < 2 && p.ranks > 1 {
				lists[rank] = bounce(rank)
			}
		case alone:
			if rank == 0 {
				lists[rank] = copies(bytes)
			}
		case local:
			lists[rank] = copies(bytes)
		case fetch:
			lists[rank] = exchange(op.Get, prev, next, bytes)
		case reduce:
			lists[rank] = exchange(op.Reduce, prev, next, bytes)
		case fill:
			lists[rank] = []script.Op{{Kind: op.Fill, Bytes: bytes}}
		}
	}
	return lists
}

func smallCopies(k kind) []script.Op {
	o := script.Op{Kind: op.Copy, Dst: script.Place{Offset: smallBytes}, Bytes: smallBytes}
	if k == one {
		return []script.Op{o}
	}
	list := make([]script.Op, manyOps)
	for i := range list {
		list[i] = o
	}
	return list
}

// bounce is one side of signals between ranks 0 and 1.
func bounce(rank int) []script.Op {
	var list []script.Op
	for i := range uint64(hops) {
		raise := script.Op{Kind: op.Signal, Peer: 1 - rank, Value: i + 1, Raise: hops}
		await := script.Op{Kind: op.Wait, Peer: 1 - rank, Value: i + 1, Raise: hops}
		if rank == 0 {
			list = append(list, raise, await)
		} else {
			list = append(list, await, raise)
		}
	}
	return list
}

// steps is what rings consist of, without the bytes: every rank pulls a little
// from the previous one, and goes on when both neighbours have done the same.
func steps(ranks int) [][]script.Op {
	lists := make([][]script.Op, ranks)
	for rank := range lists {
		prev, next := (rank+ranks-1)%ranks, (rank+1)%ranks
		for i := range uint64(hops) {
			at := func(k op.Kind, peer int, slot uint32) script.Op {
				return script.Op{Kind: k, Peer: peer, Slot: slot, Value: i + 1, Raise: hops}
			}
			lists[rank] = append(lists[rank],
				script.Op{Kind: op.Get, Dst: script.Place{Offset: smallBytes}, Src: script.Place{Of: script.Prev}, Bytes: smallBytes},
				at(op.Signal, next, 0), at(op.Signal, prev, 1), at(op.Wait, prev, 0), at(op.Wait, next, 1))
		}
	}
	return lists
}

// copies copies the first half of a buffer to the second one and back.
func copies(bytes int64) []script.Op {
	return append(pass(op.Copy, script.Own, 0, bytes/2), pass(op.Copy, script.Own, bytes/2, bytes/2)...)
}

// exchange has a rank take the first half of the previous rank's buffer to its
// second half and, when both neighbours are done with that, the other way round.
// So it always takes what was written just before.
func exchange(k op.Kind, prev, next int, bytes int64) []script.Op {
	const written, taken = 0, 1 // slots
	var list []script.Op
	for step, from := range []int64{0, bytes / 2} {
		at := func(k op.Kind, peer int, slot uint32) script.Op {
			return script.Op{Kind: k, Peer: peer, Slot: slot, Value: uint64(step + 1), Raise: 2}
		}
		list = append(list, pass(k, script.Prev, from, bytes/2)...)
		list = append(list, at(op.Signal, next, written), at(op.Signal, prev, taken), at(op.Wait, prev, written), at(op.Wait, next, taken))
	}
	return list
}

// pass moves one half of somebody's buffer, the one at from, to the other half
// of this rank's.
func pass(k op.Kind, whose script.Owner, from, half int64) []script.Op {
	var list []script.Op
	for off := int64(0); off < half; off += SliceBytes {
		o := script.Op{Kind: k, Dst: script.Place{Offset: half - from + off}, Src: script.Place{Of: whose, Offset: from + off}, Bytes: min(SliceBytes, half-off)}
		if k == op.Reduce {
			o.Second, o.Src = o.Src, o.Dst
		}
		list = append(list, o)
	}
	return list
}

// Add takes what one run of a script measured.
func (p *Plan) Add(scriptNumber int, r *script.Results) {
	for i := range p.times[scriptNumber] {
		p.times[scriptNumber][i] = append(p.times[scriptNumber][i], r.Secs(i)...)
	}
}
