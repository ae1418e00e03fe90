package main

import (
	"math/rand/v2"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/oracle"
)

var dtypes = []ccrun.Dtype{ccrun.U8, ccrun.I32, ccrun.I64, ccrun.F16, ccrun.BF16, ccrun.F32, ccrun.F64}

var reductions = []ccrun.RedOp{ccrun.Sum, ccrun.Prod, ccrun.Min, ccrun.Max, ccrun.Avg}

// manner is how the calls of a round are submitted.
type manner int

// The manners. Ranks visit the sites of a round in different orders where that
// is allowed.
const (
	alone   manner = iota // one call on one site, waited for
	queued                // several calls on one site
	abreast               // several calls on each site, each on its own stream
	grouped               // likewise, as a group on one stream
	manners
)

// plan is what all ranks know of a round.
type plan struct {
	manner manner
	site   int // of a round on one site
	calls  int // on each site
}

// source is the randomness of a round: that of all ranks, or of those that
// share a site.
func (s *soak) source(round int, of uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.world.Seed(), uint64(round)<<16|of))
}

func (s *soak) drawPlan(round int) plan {
	r := s.source(round, 0)
	p := plan{manner: manner(r.IntN(int(manners))), site: r.IntN(len(s.sites)), calls: 1 + r.IntN(areas)}
	if p.manner == alone {
		p.calls = 1
	}
	return p
}

// slicesMax is how many slices a part has at most where calls ask for a size:
// many more make long programs, which the host remembers, and find nothing new.
const slicesMax = 256

// drawCall draws what all ranks of a site agree on.
func (s *soak) drawCall(r *rand.Rand, t *site) (c oracle.Call, options ccrun.CallOptions) {
	c.Collective = &s.collectives[r.IntN(len(s.collectives))]
	c.Shape = oracle.Shape{
		Dtype: dtypes[r.IntN(len(dtypes))], Red: reductions[r.IntN(len(reductions))], Count: drawCount(r),
		Root: r.IntN(t.comm.Size()), InPlace: r.IntN(2) == 1 && c.Collective.Name != "all_to_all_v",
	}
	if r.IntN(2) == 1 {
		name := c.Collective.Algorithms[r.IntN(len(c.Collective.Algorithms))]
		if c.Collective.Has(name, c.Shape, t.comm.Size()) {
			options.Algorithm = name
		}
	}
	if r.IntN(2) == 1 {
		options.SliceBytes = max(8<<r.IntN(14), c.Count*c.Dtype.Bytes()/slicesMax)
	}
	return c, options
}

// drawCount draws a number of elements: often none, a few or an odd number,
// all magnitudes alike.
func drawCount(r *rand.Rand) int64 {
	switch most := int64(1) << r.IntN(16); {
	case r.IntN(20) == 0:
		return 0
	case most > elementsMax:
		return elementsMax
	default:
		return min(most+r.Int64N(most), elementsMax)
	}
}
