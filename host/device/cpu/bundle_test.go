package cpu_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// BenchmarkBundles is what a pipeline of buckets does: ranks that are processes,
// more of them than processors, copy what they send into a staging buffer, and
// what they receive out of one, every message with a stream and an event of its
// own. It shows what it is worth to go on with whichever message is done first
// (any) instead of the oldest (sync), and what one stream for all takes (one).
func BenchmarkBundles(b *testing.B) {
	for _, size := range []int{2, 4} {
		for _, bytes := range []int64{64 << 10, 8 << 20} {
			for _, c := range []struct {
				way     string
				streams int
			}{{"any", 2}, {"any", 8}, {"sync", 8}, {"any", 48}, {"one", 1}} {
				if c.streams == 48 && (size == 2 || bytes > 1<<20) {
					continue
				}
				b.Run(fmt.Sprintf("%d/%dKiB/%s %d", size, bytes>>10, c.way, c.streams), func(b *testing.B) {
					rounds := int(min(4000, 64<<20/bytes*2))
					for b.Loop() {
						ranks := startConfigured(b, size, processConfig{
							Program: "bundles " + c.way, Bytes: bytes, N: rounds*100 + c.streams,
						})
						var most float64
						for _, p := range ranks {
							nanos, err := strconv.ParseFloat(p.finish(b), 64)
							must(b, err)
							most = max(most, nanos)
						}
						b.ReportMetric(most/1000, "us/message")
						b.ReportMetric(float64(bytes)*float64(size)/most, "GB/s")
					}
				})
			}
		}
	}
}

// bundles is one rank of it.
type bundles struct {
	processConfig
	device.Device
	rounds  int // messages to each peer
	slots   []bundleSlot
	busy    []int // slots, oldest first
	points  []device.Point
	src     op.Buffer
	dst     op.Buffer
	done    []int // by direction: messages that are complete
	flights []int // by direction: of them, those that were begun
}

type bundleSlot struct {
	stream    device.Stream
	event     device.Event
	staging   op.Buffer
	direction int
}

const bundleWires = 32

func bundleProgram(way string) func(c processConfig, d device.Device) (string, error) {
	return func(c processConfig, d device.Device) (string, error) {
		b := &bundles{processConfig: c, Device: d, rounds: c.N / 100, slots: make([]bundleSlot, c.N%100)}
		if err := b.open(); err != nil {
			return "", err
		}
		var best time.Duration
		for range 3 {
			b.done, b.flights = make([]int, 2*(c.Size-1)), make([]int, 2*(c.Size-1))
			if err := d.Barrier(time.Minute); err != nil {
				return "", err
			}
			start := time.Now()
			if err := b.run(way); err != nil {
				return "", err
			}
			if took := time.Since(start); best == 0 || took < best {
				best = took
			}
		}
		return strconv.FormatFloat(float64(best)/float64(b.rounds*(c.Size-1)), 'f', 1, 64), d.Barrier(time.Minute)
	}
}

func (b *bundles) open() (err error) {
	for i := range b.slots {
		s := &b.slots[i]
		if s.stream, err = b.NewStream(); err != nil {
			return err
		}
		if s.event, err = b.NewEvent(); err != nil {
			return err
		}
		if s.staging, err = b.Alloc(b.Bytes); err != nil {
			return err
		}
	}
	if b.src, err = b.Alloc(b.Bytes); err == nil {
		b.dst, err = b.Alloc(b.Bytes)
	}
	return err
}

// run carries all messages out. Those of the two directions of a pair of ranks
// take turns, and so do the pairs.
func (b *bundles) run(way string) error {
	if way == "one" {
		return b.runOne()
	}
	free := make([]int, len(b.slots))
	for i := range free {
		free[i] = i
	}
	total, next := b.rounds*len(b.done), 0
	for finished := 0; finished < total; {
		for len(free) > 0 && next < total && b.begin(free[len(free)-1], next) {
			b.busy, free = append(b.busy, free[len(free)-1]), free[:len(free)-1]
			next++
		}
		at := 0
		if way == "any" {
			b.points = b.points[:0]
			for _, i := range b.busy {
				b.points = append(b.points, device.Point{Event: b.slots[i].event})
			}
			var err error
			if at, err = b.WaitAny(b.points, time.Minute); err != nil {
				return err
			}
		}
		slot := b.busy[at]
		if err := b.slots[slot].event.Sync(time.Minute); err != nil {
			return err
		}
		b.done[b.slots[slot].direction]++
		b.busy, free = append(b.busy[:at], b.busy[at+1:]...), append(free, slot)
		finished++
	}
	return nil
}

// begin submits a message, unless so many are under way that its wire may be in
// use.
func (b *bundles) begin(slot, message int) bool {
	direction := message % len(b.done)
	if b.flights[direction]-b.done[direction] >= bundleWires {
		return false
	}
	s := &b.slots[slot]
	s.direction = direction
	b.flights[direction]++
	wire := uint32(message / len(b.done) % bundleWires)
	away := direction/2 + 1
	record := op.Op{Kind: op.EventRecord, Event: s.event, Peer: -1}
	move := op.Op{Kind: op.Copy, Bytes: b.Bytes, Peer: -1}
	message1 := op.Op{Bytes: b.Bytes, Slot: wire}
	if direction%2 == 0 {
		move.Dst.Buf, move.Src.Buf = s.staging, b.src
		message1.Kind, message1.Peer, message1.Src.Buf = op.Send, int32((b.Rank+away)%b.Size), s.staging
		return submitAll(s.stream, &move, &message1, &record) == nil
	}
	move.Dst.Buf, move.Src.Buf = b.dst, s.staging
	message1.Kind, message1.Peer, message1.Dst.Buf = op.Recv, int32((b.Rank+b.Size-away)%b.Size), s.staging
	return submitAll(s.stream, &message1, &move, &record) == nil
}

func submitAll(s device.Stream, ops ...*op.Op) error {
	for _, o := range ops {
		if err := s.Submit(o); err != nil {
			return err
		}
	}
	return nil
}

// runOne has a message in each direction at a time.
func (b *bundles) runOne() error {
	s := &b.slots[0]
	for round := range b.rounds {
		for away := 1; away < b.Size; away++ {
			to, from := int32((b.Rank+away)%b.Size), int32((b.Rank+b.Size-away)%b.Size)
			if err := submitAll(s.stream,
				&op.Op{Kind: op.Copy, Bytes: b.Bytes, Peer: -1, Dst: op.View{Buf: s.staging}, Src: op.View{Buf: b.src}},
				&op.Op{Kind: op.Send, Bytes: b.Bytes, Peer: to, Slot: uint32(round % 2), Src: op.View{Buf: s.staging}},
				&op.Op{Kind: op.Recv, Bytes: b.Bytes, Peer: from, Slot: uint32(round % 2), Dst: op.View{Buf: b.dst}},
				&op.Op{Kind: op.Copy, Bytes: b.Bytes, Peer: -1, Dst: op.View{Buf: b.src}, Src: op.View{Buf: b.dst}},
			); err != nil {
				return err
			}
			if err := s.stream.Sync(time.Minute); err != nil {
				return err
			}
		}
	}
	return nil
}
