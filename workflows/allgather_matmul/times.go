package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// times holds how long each mode took in each iteration.
type times struct {
	byMode [len(modes)][]time.Duration
	median [len(modes)]time.Duration // on the slowest rank
}

func newTimes(iters int) *times {
	t := &times{}
	for mode := range t.byMode {
		t.byMode[mode] = make([]time.Duration, 0, iters)
	}
	return t
}

func (t *times) add(mode int, took time.Duration) { t.byMode[mode] = append(t.byMode[mode], took) }

// combine takes the median of each mode, and of all ranks the largest, which a
// collective finds.
func (t *times) combine(p *product) error {
	var words [8 * len(modes)]byte
	for mode := range modes {
		sorted := slices.Sorted(slices.Values(t.byMode[mode]))
		binary.LittleEndian.PutUint64(words[8*mode:], math.Float64bits(float64(sorted[len(sorted)/2])))
	}
	buffer, err := p.world.Alloc(int64(len(words)))
	if err != nil {
		return err
	}
	if err := buffer.Write(words[:], 0); err != nil {
		return err
	}
	p.comm.Options.Warmup = true
	p.streams[0].AllReduce(p.comm, ccrun.Max, ccrun.F64, buffer.All(), ccrun.Region{})
	if err := p.streams[0].Sync(); err != nil {
		return err
	}
	if err := buffer.Read(words[:], 0); err != nil {
		return err
	}
	for mode := range modes {
		t.median[mode] = time.Duration(math.Float64frombits(binary.LittleEndian.Uint64(words[8*mode:])))
	}
	return buffer.Free()
}

// overlap is the share of the shorter of gathering and computing that the
// pipeline hides: 1 if it takes no longer than the longer of the two, 0 if it
// takes as long as both, less if it takes even longer.
func overlap(gather, compute, both time.Duration) float64 {
	return float64(gather+compute-both) / float64(max(1, min(gather, compute)))
}

func (t *times) print(out io.Writer) {
	for mode := range modes {
		fmt.Fprintf(out, "allgather_matmul: %-9s %10.3f ms\n", modes[mode].name, float64(t.median[mode])/1e6)
	}
	fmt.Fprintf(out, "allgather_matmul: overlap %.2f\n", overlap(t.median[gatherMode], t.median[computeMode], t.median[pipelinedMode]))
}
