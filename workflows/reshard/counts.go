package main

import (
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// counts is what a rank counts in the iterations of one way to do it.
type counts struct {
	verified, phantom, bad int64
	largest                int64               // staging memory of the bucket that needs most
	last                   ccrun.PipelineStats // of the last iteration, but for:
	peakBytes, devicePeak  int64               // of all
	peakBuckets            int
	times                  []time.Duration
}

func newCounts(iters int) *counts { return &counts{times: make([]time.Duration, 0, iters)} }

// add counts an iteration.
func (c *counts) add(s *ccrun.PipelineStats) {
	c.last = *s
	c.peakBytes = max(c.peakBytes, s.PeakBytes)
	c.devicePeak = max(c.devicePeak, s.DevicePeakBytes)
	c.peakBuckets = max(c.peakBuckets, s.PeakBuckets)
	c.times = append(c.times, s.Elapsed)
}

// How many numbers words gives: before the stalls, and before the times.
const (
	statWords  = 14
	countWords = statWords + int(ccrun.StallOversize) + 1
)

// words are the numbers that other ranks see.
func (c *counts) words() []uint64 {
	words := []uint64{
		uint64(c.verified), uint64(c.phantom), uint64(c.bad), uint64(c.peakBytes), uint64(c.devicePeak), uint64(c.peakBuckets),
		uint64(c.last.MeanBytes), uint64(c.last.MeanBuckets * 1000), uint64(c.last.SentBytes), uint64(c.last.CopiedBytes),
		uint64(c.last.Operations), uint64(c.last.Skipped), uint64(c.last.Allocations), uint64(c.largest),
	}
	for _, stall := range c.last.Stalls {
		words = append(words, uint64(stall))
	}
	for _, took := range c.times {
		words = append(words, uint64(took))
	}
	return words
}

// measured is what one way to do it came to, on all ranks.
type measured struct {
	setting
	plan  ccrun.PipelinePlan
	bytes int64 // of all tensors
	took  time.Duration

	verified, phantom, bad int64
	peak, devicePeak       int64 // of the rank that has most
	peakRank               int
	peakBuckets            int
	mean                   int64 // bytes, of the rank with the highest peak
	meanBuckets            float64
	wire, copied           int64
	operations, skipped    int64
	largest                int64                            // staging memory of the bucket that needs most on any rank
	stalls                 [ccrun.StallOversize + 1]float64 // shares of the time, on average over the ranks
}

// gather shows what this rank has counted, and adds up what all have.
func (s *site) gather(c *counts) (measured, error) {
	all, err := s.show(c.words())
	if err != nil {
		return measured{}, err
	}
	m := combine(all)
	s.checked.verified += m.verified
	s.checked.phantom += m.phantom
	s.checked.bad += m.bad
	s.checked.runs++
	return m, nil
}

// combine adds up the numbers of all ranks. An iteration takes as long as it
// does on the slowest rank; the time is the median of the iterations.
func combine(all [][]uint64) measured {
	var m measured
	times := make([]time.Duration, len(all[0])-countWords)
	var rankTime float64
	for rank, w := range all {
		m.verified, m.phantom, m.bad = m.verified+int64(w[0]), m.phantom+int64(w[1]), m.bad+int64(w[2])
		if peak := int64(w[3]); rank == 0 || peak > m.peak {
			m.peak, m.peakRank, m.mean, m.meanBuckets = peak, rank, int64(w[6]), float64(w[7])/1000
		}
		m.devicePeak, m.peakBuckets = max(m.devicePeak, int64(w[4])), max(m.peakBuckets, int(w[5]))
		m.wire, m.copied, m.operations, m.skipped = m.wire+int64(w[8]), m.copied+int64(w[9]), m.operations+int64(w[10]), m.skipped+int64(w[11])
		m.largest = max(m.largest, int64(w[13]))
		stalls, own := w[statWords:countWords], w[countWords:]
		rankTime += float64(own[len(own)-1])
		for cause, nanos := range stalls {
			m.stalls[cause] += float64(nanos)
		}
		for i, nanos := range own {
			times[i] = max(times[i], time.Duration(nanos))
		}
	}
	for cause := range m.stalls {
		m.stalls[cause] /= max(rankTime, 1)
	}
	slices.Sort(times)
	m.took = times[len(times)/2]
	return m
}

// rate is bytes of tensors per second.
func (m *measured) rate() float64 { return float64(m.bytes) / max(m.took.Seconds(), 1e-9) }
