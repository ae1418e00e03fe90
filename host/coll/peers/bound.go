package main

import (
	"fmt"

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

// trafficOf is what all ranks together load and store in such a call, and by
// which algorithm.
func trafficOf(s sweep, bytes int64) (traffic int64, algorithm string, err error) {
	shape, ok := call(s.collective, s.ranks, bytes)
	if !ok {
		return 0, "", fmt.Errorf("%s: not a collective", s.collective)
	}
	t, err := coll.TrafficOf(shape)
	return t.Read + t.Written, shape.Algorithm.String(), err
}

// boundBytes is how much each of as many processes as ranks must copy, so that
// together they load and store as much as the algorithm does.
func boundBytes(s sweep, bytes int64) (int64, error) {
	traffic, _, err := trafficOf(s, bytes)
	return max(traffic/int64(2*s.ranks), 1), err
}

// percentOfBound is the median over the rounds, or 0 if the bound was not
// measured.
func (r rounds) percentOfBound(name string) float64 { return 100 * r.ratio(memoryBound, name) }
