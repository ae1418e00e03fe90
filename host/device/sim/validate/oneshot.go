package main

import (
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// Slots of the all-reduces that load from peers.
const (
	readySlot   = 1 // a rank's input may be read
	reducedSlot = 2 // a rank's part of the result is here
)

// shot is an all_reduce of a rank.
type shot struct {
	input, output op.Buffer
	submit        func()
}

func oneshot(ranks int, bytes int64) func(*preset.Preset) (float64, error) {
	schedule := oneshotOf(bytes)
	return micros(ranks, func(r *rank) func() { return schedule(r).submit })
}

func twoshot(ranks int, bytes int64) func(*preset.Preset) (float64, error) {
	schedule := twoshotOf(bytes)
	return micros(ranks, func(r *rank) func() { return schedule(r).submit })
}

// oneshotOf is all_reduce by one step: every rank loads all ranks' vectors and
// adds them up. The library has two buffers in turn, so that nobody need say
// when it has read; here one stands for both.
func oneshotOf(bytes int64) func(*rank) shot {
	return func(r *rank) shot {
		s, inputs := r.stream(), r.share("input", bytes)
		output := r.buffer(bytes)
		return shot{inputs[r.number], output, func() {
			r.meet(s, readySlot)
			r.reduce(s, op.View{Buf: output}, views(inputs, 0), bytes)
		}}
	}
}

// twoshotOf is all_reduce by two: every rank adds up its part of all vectors
// and stores it to all others.
func twoshotOf(bytes int64) func(*rank) shot {
	return func(r *rank) shot {
		s, inputs := r.stream(), r.share("input", bytes)
		outputs, lanes := r.share("output", bytes), r.lanes(r.size-1)
		part := bytes / int64(r.size)
		mine := op.View{Buf: outputs[r.number], Off: part * int64(r.number)}
		return shot{inputs[r.number], outputs[r.number], func() {
			r.meet(s, readySlot)
			r.reduce(s, mine, views(inputs, mine.Off), part)
			lanes.fork(s)
			for i, peer := range r.peers() {
				r.submit(lanes.of(i), op.Op{Kind: op.Put, Dst: op.View{Buf: outputs[peer], Off: mine.Off}, Src: mine, Bytes: part})
			}
			lanes.join(s)
			r.meet(s, reducedSlot)
		}}
	}
}

// meet tells all peers that this rank has come so far, and waits for them.
func (r *rank) meet(s device.Stream, slot uint32) {
	for _, peer := range r.peers() {
		r.signal(s, peer, slot)
	}
	for _, peer := range r.peers() {
		r.wait(s, peer, slot)
	}
}

// micros times a schedule.
func micros(ranks int, prepare func(*rank) func()) func(*preset.Preset) (float64, error) {
	return func(p *preset.Preset) (float64, error) {
		b := bench{preset: p, ranks: ranks, prepare: prepare}
		seconds, err := b.seconds()
		return seconds * 1e6, err
	}
}

// reduce adds sources up.
func (r *rank) reduce(s device.Stream, dst op.View, sources []op.View, bytes int64) {
	o := op.Op{Kind: op.Reduce, Type: op.F32, Red: op.Sum, Dst: dst, Bytes: bytes, SourceCount: uint8(len(sources))}
	copy(o.Sources[:], sources)
	r.submit(s, o)
}

// pass is a kernel that reads and writes so many bytes of this rank's memory,
// half of them each.
func (r *rank) pass(s device.Stream, scratch op.Buffer, bytes int64) {
	r.reduce(s, op.View{Buf: scratch}, []op.View{{Buf: scratch}}, bytes/2&^3)
}

func views(buffers []op.Buffer, off int64) []op.View {
	all := make([]op.View, len(buffers))
	for i, b := range buffers {
		all[i] = op.View{Buf: b, Off: off}
	}
	return all
}

// lanes is streams that work at the same time, as the warps of a kernel do.
type lanes struct {
	rank    *rank
	streams []device.Stream
	forked  device.Event
	done    []device.Event
}

// lanesMax is as many as the simulation of 128 ranks can afford; twice as many
// change its figures by 2 %.
const lanesMax = 32

func (r *rank) lanes(n int) *lanes {
	l := &lanes{rank: r, forked: r.event()}
	for range min(n, lanesMax) {
		l.streams = append(l.streams, r.stream())
		l.done = append(l.done, r.event())
	}
	return l
}

func (l *lanes) of(i int) device.Stream { return l.streams[i%len(l.streams)] }

// fork lets all lanes go on from where s is.
func (l *lanes) fork(s device.Stream) {
	l.rank.record(s, l.forked)
	for _, lane := range l.streams {
		l.rank.after(lane, l.forked)
	}
}

// join holds s until all lanes have come this far.
func (l *lanes) join(s device.Stream) {
	for i, lane := range l.streams {
		l.rank.record(lane, l.done[i])
		l.rank.after(s, l.done[i])
	}
}
