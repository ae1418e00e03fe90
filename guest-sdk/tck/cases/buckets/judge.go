package main

import (
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// judge checks the statistics of a run, the number-th from 0.
func (c *kase) judge(s *ccrun.PipelineStats, number int) {
	expected := c.traffic()
	o := &c.setup.options
	for _, equal := range [...]struct {
		name      string
		got, want int64
	}{
		{"bytes sent", s.SentBytes, expected.SentBytes},
		{"bytes received", s.ReceivedBytes, expected.ReceivedBytes},
		{"bytes copied", s.CopiedBytes, expected.CopiedBytes},
		{"buckets", int64(s.Buckets), int64(c.plan.Mine)},
		{"runs", s.Runs, int64(number + 1)},
	} {
		if equal.got != equal.want {
			c.wrongf("run %d: %s: %d, want %d", number, equal.name, equal.got, equal.want)
		}
	}
	if c.host.stages {
		c.atMost(number, "a bucket and peak of buckets", min(1, int64(c.plan.Mine)), int64(s.PeakBuckets))
		c.atMost(number, "largest bucket and peak of bytes", c.plan.LargestBytes, s.PeakBytes)
	}
	perChannel := int64(o.MaxInFlight)
	if perChannel == 0 {
		perChannel = 2
	}
	c.atMost(number, "peak of buckets and streams", int64(s.PeakBuckets), int64(c.setup.streams))
	c.atMost(number, "peak of buckets and max_in_flight", int64(s.PeakBuckets), perChannel*int64(c.plan.MyChannels))
	if o.MaxBuckets > 0 {
		c.atMost(number, "peak of buckets and max_buckets", int64(s.PeakBuckets), int64(o.MaxBuckets))
	}
	if o.MaxBytes > 0 {
		c.atMost(number, "peak of bytes", s.PeakBytes, max(o.MaxBytes, c.plan.LargestBytes))
	}
	switch o.Policy {
	case ccrun.Serialized:
		c.atMost(number, "peak of buckets, serialized", int64(s.PeakBuckets), 1)
	case ccrun.Windowed:
		c.atMost(number, "peak of buckets and window", int64(s.PeakBuckets), int64(o.Window))
	}
	// What the first run took of the device at its peak, the pipeline may keep
	// for the next.
	c.mostBytes = max(c.mostBytes, s.PeakBytes)
	c.atMost(number, "peak of bytes and device's peak", s.PeakBytes, s.DevicePeakBytes)
	c.atMost(number, "device's peak and peak of bytes", s.DevicePeakBytes, c.mostBytes)
	c.atMost(number, "mean of bytes", s.MeanBytes, s.PeakBytes)
	c.atMost(number, "skipped buckets", s.Skipped, int64(c.plan.Mine))
	if s.Elapsed < 0 || s.MeanBuckets > float64(s.PeakBuckets)+0.001 {
		c.wrongf("run %d: %v long, %f buckets on average, %d at most", number, s.Elapsed, s.MeanBuckets, s.PeakBuckets)
	}
}

func (c *kase) atMost(number int, name string, got, most int64) {
	if got > most {
		c.wrongf("run %d: %s: %d, more than %d", number, name, got, most)
	}
}

// traffic is what this rank must have sent, received and copied.
func (c *kase) traffic() (s ccrun.PipelineStats) {
	me := c.world.Rank()
	for i := range c.entries {
		e := &c.entries[i]
		count := func(from, to int) {
			switch {
			case from == to && to == me:
				s.CopiedBytes += e.Bytes()
			case from == me:
				s.SentBytes += e.Bytes()
			case to == me:
				s.ReceivedBytes += e.Bytes()
			}
		}
		last := -1
		for _, part := range append(slices.DeleteFunc(slices.Clone(e.Parts), func(p int) bool { return p == e.Source }), e.Source) {
			if last >= 0 {
				count(last, part)
			}
			last = part
		}
		for _, destination := range e.Destinations {
			if destination == e.Source {
				count(e.Source, e.Source)
				continue
			}
			count(last, destination)
			if e.Transport == ccrun.Chain {
				last = destination
			}
		}
	}
	return s
}
