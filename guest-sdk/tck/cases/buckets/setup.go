package main

import (
	"fmt"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// setup is how a case's pipeline works.
type setup struct {
	options   ccrun.PipelineOptions
	budget    int // of budgets
	streams   int
	runs      int
	script    int                                             // of scripts
	order     uint64                                          // of buckets: seed of an order, 0 for the pipeline's own
	transport func(int, *ccrun.PipelineEntry) ccrun.Transport // of each entry
}

// budgets are kinds of MaxBytes, as a share of the largest bucket of the rank.
var budgets = [...]struct {
	name string
	of   func(largest int64) int64
}{
	{"none", func(int64) int64 { return 0 }},
	{"one bucket", func(largest int64) int64 { return largest }},
	{"a bit more", func(largest int64) int64 { return largest + largest/4 }},
	{"two buckets", func(largest int64) int64 { return 2 * largest }},
	{"half a bucket", func(largest int64) int64 { return largest / 2 }},
	{"a byte", func(largest int64) int64 { return min(largest, 1) }},
}

// scripts are ways to admit buckets.
var scripts = [...]func(ccrun.PipelineStatus) int{
	func(ccrun.PipelineStatus) int { return 1 << 20 },
	func(s ccrun.PipelineStatus) int { return s.Published + 1 },
	func(s ccrun.PipelineStatus) int { return s.Published + 3 },
	func(s ccrun.PipelineStatus) int { // one at a time, on each rank
		if s.Admitted > s.Finished {
			return 0
		}
		return s.Next + 1
	},
}

// drawSetup draws what is the same on all ranks from d; half the time the
// limits are the rank's own, and drawn from own.
func drawSetup(d, own *draw, w *ccrun.World) setup {
	s := setup{runs: 1 + d.n(2), script: d.n(len(scripts))}
	o := &s.options
	o.Name, o.Policy, o.Publish = "storm", ccrun.Admission(d.n(5)), ccrun.Publishing(d.n(3))
	o.Checksums, o.Warmup = d.one(3), d.one(4)
	if !d.one(4) {
		o.BucketBytes = int64(1) << d.n(14)
	}
	o.FirstSlot, o.FirstChannel = d.n(w.SignalSlots()-3), d.n(w.SendChannels())
	if d.one(2) {
		o.Channels = d.from(1, w.SendChannels()-o.FirstChannel)
	}
	if o.Policy == ccrun.Scripted {
		o.Admit = scripts[s.script]
	}
	if d.one(3) {
		s.order = d.next() | 1
		o.Order = func(buckets []ccrun.Bucket) []int { return (&draw{s.order}).order(len(buckets)) }
	}
	transports, seed := d.n(5), d.next()
	// Direct needs memory that can be reached, channels for answers, and neither
	// parts nor checksums.
	direct := w.LocalSize() == w.Size() && o.Channels != 1 && w.SendChannels()-o.FirstChannel > 1 && !o.Checksums
	s.transport = func(number int, e *ccrun.PipelineEntry) ccrun.Transport {
		t := ccrun.Transport(transports)
		if transports == 4 {
			t = ccrun.Transport(mix(seed+uint64(number)) % 4)
		}
		if t == ccrun.Direct && (!direct || len(e.Parts) > 1) {
			return ccrun.Packed
		}
		return t
	}
	s.drawLimits(d)
	if d.one(2) {
		s.drawLimits(own)
	}
	return s
}

// drawLimits draws what may differ between ranks.
func (s *setup) drawLimits(d *draw) {
	o := &s.options
	o.MaxInFlight, o.MaxBuckets, o.Window = d.n(5), 0, d.from(1, 4)
	if d.one(2) {
		o.MaxBuckets = d.from(1, 5)
	}
	s.budget, s.streams = d.n(len(budgets)), d.from(1, streamsMax)
}

func (s *setup) String() string {
	o := s.options
	text := fmt.Sprintf("%d runs on %d streams, buckets of %d bytes, policy %d", s.runs, s.streams, o.BucketBytes, o.Policy)
	if o.Policy == ccrun.Scripted {
		text += fmt.Sprintf(" (script %d)", s.script)
	}
	return text + fmt.Sprintf(", window %d, publish %d, checksums %t, budget %s, %d buckets, %d per channel, own order %t, send channels %d from %d",
		o.Window, o.Publish, o.Checksums, budgets[s.budget].name, o.MaxBuckets, o.MaxInFlight, s.order != 0, o.Channels, o.FirstChannel)
}
