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

// The numbers that ranks show each other: these, the stalls, and the times.
const (
	verifiedWord = iota
	phantomWord
	badWord
	peakBytesWord
	devicePeakWord
	peakBucketsWord
	meanBytesWord
	meanBucketsWord // thousandths
	sentWord
	copiedWord
	operationsWord
	skippedWord
	largestWord
	statWords
	countWords = statWords + int(ccrun.StallOversize) + 1
)

// words are the numbers that other ranks see.
func (c *counts) words() []uint64 {
	words := make([]uint64, statWords, countWords+len(c.times))
	words[verifiedWord], words[phantomWord], words[badWord] = uint64(c.verified), uint64(c.phantom), uint64(c.bad)
	words[peakBytesWord], words[devicePeakWord], words[peakBucketsWord] = uint64(c.peakBytes), uint64(c.devicePeak), uint64(c.peakBuckets)
	words[meanBytesWord], words[meanBucketsWord] = uint64(c.last.MeanBytes), uint64(c.last.MeanBuckets*1000)
	words[sentWord], words[copiedWord] = uint64(c.last.SentBytes), uint64(c.last.CopiedBytes)
	words[operationsWord], words[skippedWord] = uint64(c.last.Operations), uint64(c.last.Skipped)
	words[largestWord] = uint64(c.largest)
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
		m.verified, m.phantom, m.bad = m.verified+int64(w[verifiedWord]), m.phantom+int64(w[phantomWord]), m.bad+int64(w[badWord])
		if peak := int64(w[peakBytesWord]); rank == 0 || peak > m.peak {
			m.peak, m.peakRank, m.mean, m.meanBuckets = peak, rank, int64(w[meanBytesWord]), float64(w[meanBucketsWord])/1000
		}
		m.devicePeak, m.peakBuckets = max(m.devicePeak, int64(w[devicePeakWord])), max(m.peakBuckets, int(w[peakBucketsWord]))
		m.wire, m.copied = m.wire+int64(w[sentWord]), m.copied+int64(w[copiedWord])
		m.operations, m.skipped = m.operations+int64(w[operationsWord]), m.skipped+int64(w[skippedWord])
		m.largest = max(m.largest, int64(w[largestWord]))
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
