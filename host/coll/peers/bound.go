package main

import (
	"github.com/ccrun/ccrun/host/coll"
	"github.com/ccrun/ccrun/host/op"
)

// What ccrun should reach: so much of the bound of memory traffic, from a size
// on.
const (
	wantedPercent   = 75
	boundedMinBytes = 16 << 20
)

// wantedRatio is how many times as fast as the best peer ccrun should be, or 0
// where nothing is asked of it.
func wantedRatio(collective string, ranks int, bytes int64) float64 {
	if ranks != 2 && ranks != 4 {
		return 0
	}
	bySize := map[int64]float64{8: 0, 64 << 10: 1.5, 1 << 20: 1.1, 16 << 20: 1, 64 << 20: 1.5}
	switch {
	case collective == "all_reduce" && bytes == 8:
		return 0.8
	case collective == "all_reduce" || collective == "reduce_scatter":
		bySize = map[int64]float64{64 << 10: 4, 1 << 20: 4, 16 << 20: 2.3, 64 << 20: 3}
	case ranks == 4 && bySize[bytes] > 0:
		return 1.5
	}
	return bySize[bytes]
}

// call is the shape of a call as all peers make it: only the broadcast is in
// place. Its algorithm is the one that ccrun chooses without calibration.
func call(collective string, ranks int, bytes int64) (coll.Shape, bool) {
	for _, c := range compared {
		if c.name != collective {
			continue
		}
		s := coll.Shape{Collective: c.op, Type: op.F32, Ranks: ranks, Count: bytes / 4, InPlace: c.op == op.Broadcast}
		if c.op != op.AllReduce && c.op != op.Broadcast {
			s.Count /= int64(ranks)
		}
		s.Algorithm = coll.DefaultTable().Select(s)
		return s, true
	}
	return coll.Shape{}, false
}

// bound is the time in which all that the ranks load and store of their inputs
// and outputs would be loaded and stored at the rate of plain copies that take
// copyNanos: a byte copied is one loaded and one stored, and as many processes
// as ranks copy at once.
func bound(trafficBytes int64, ranks int, bytes int64, copyNanos float64) float64 {
	return float64(trafficBytes) * copyNanos / float64(2*int64(ranks)*bytes)
}

// percentOfBound is the median over the rounds, or 0 if there was no copy.
func (r rounds) percentOfBound(name string, trafficBytes int64, ranks int, bytes int64) float64 {
	var percents []float64
	for i := range min(len(r[name]), len(r[plainCopy])) {
		percents = append(percents, 100*bound(trafficBytes, ranks, bytes, r[plainCopy][i])/r[name][i])
	}
	return median(percents)
}
