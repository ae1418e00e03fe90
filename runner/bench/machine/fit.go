package machine

import (
	"math"

	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/runner/bench/script"
)

// Numbers are those of a preset that are measured: seconds, and rates of one
// busy core in bytes a second by the bytes in use for each core.
type Numbers struct {
	Cores                       int
	Call, Wake                  float64 // of the host
	Op, Signal                  float64
	Switch                      float64 // 0 if it was not measured
	Pattern                     float64
	Copy, Reduce, Local, Shared []preset.Point
}

// Fit takes the median of each piece's times and solves what the simulator
// makes of it for its numbers.
//
// A round is its first operation's handing over, Call, its operations one after
// the other, and the thread's going on, Wake. So the time of many operations
// over that of one gives Op, and so on: each number is one measurement, less
// what those before it explain. Handing over an operation that nobody waits for
// is part of Op: the cpu device does it on the same thread, so Call is not more.
func (p *Plan) Fit() Numbers {
	n := Numbers{Cores: p.Cores}
	n.Op = atLeastZero(p.secs(many, 0)-p.secs(one, 0)) / (manyOps - 1)
	n.Call = min(p.secs(nothing, 0), n.Op)
	n.Wake = atLeastZero(p.secs(one, 0) - n.Op - n.Call)
	n.Signal = atLeastZero(p.secs(pingPong, 0)-n.round())/(2*hops) - n.Op
	if len(p.times) > 1 {
		// In a step a core carries out a copy and two signals for each of two ranks.
		// It goes from one to the other and back; with one core or three, whose
		// ranks are at an odd distance in so small a ring, the simulator comes to
		// have one of them ahead by a step always, and goes from one to the other
		// once. With five and more it does not.
		turns := 2.0
		if p.Cores == 1 || p.Cores == 3 {
			turns = 1
		}
		step := (script.Median(p.times[1][0]) - n.round()) / hops
		n.Switch = atLeastZero(step-6*n.Op) / turns
	}
	n.Signal = atLeastZero(n.Signal)
	n.Pattern = significant(fillBytes / max(p.secs(fill, fillBytes)-n.round()-n.Op, 1e-9))
	for _, bytes := range p.sizes {
		p.fitSize(&n, bytes)
	}
	return n
}

// fitSize finds the rates at a size.
func (p *Plan) fitSize(n *Numbers, bytes int64) {
	operations := 2 * math.Ceil(float64(bytes/2)/SliceBytes)
	busy := func(k kind, more float64) float64 {
		secs := p.secs(k, bytes)
		return max(secs-n.round()-operations*n.Op-more, secs/4) // of so small a buffer little is left
	}
	slowdown := min(max(1, busy(local, 0)/busy(alone, 0)), float64(p.ranks))
	meeting := 2 * (2*n.Op + n.Signal) // two signals each step, and one on its way
	point := func(secs float64) preset.Point {
		return preset.Point{X: float64(bytes), Y: significant(float64(bytes) / (secs / slowdown))}
	}
	n.Local = append(n.Local, point(busy(local, 0)))
	n.Copy = append(n.Copy, point(busy(fetch, meeting)))
	n.Reduce = append(n.Reduce, point(busy(reduce, meeting)))
	n.Shared = append(n.Shared, preset.Point{X: float64(bytes), Y: p.sharing(slowdown)})
}

// sharing is how many cores' rates the memory has for all of them, if those that
// were measured together slowed each other down so much. Where they hardly did
// and there are more cores, nothing is known, and none are held back.
func (p *Plan) sharing(slowdown float64) float64 {
	const noise = 1.1
	if p.ranks < p.Cores && slowdown < noise {
		return float64(p.Cores)
	}
	return significant(float64(p.ranks) / slowdown)
}

// round is what a round costs beside its operations.
func (n *Numbers) round() float64 { return n.Call + n.Wake }

func (p *Plan) secs(k kind, bytes int64) float64 {
	return script.Median(p.times[0][p.pieces[piece{k, bytes}]])
}

func atLeastZero(v float64) float64 { return max(v, 0) }

// significant keeps three digits: more were not measured.
func significant(v float64) float64 {
	if v <= 0 {
		return v
	}
	places := 2 - int(math.Floor(math.Log10(v)))
	if scale := math.Pow10(max(places, -places)); places > 0 {
		return math.Round(v*scale) / scale // a whole number by another is the nearest to what is printed
	} else {
		return math.Round(v/scale) * scale
	}
}

// Preset is the preset of a machine with these numbers. What was not measured is
// that of the preset cpu, with its sources.
func (n *Numbers) Preset(about, source string) (*preset.Preset, error) {
	p, err := preset.Find("cpu")
	if err != nil {
		return nil, err
	}
	p.About = about
	c := &p.CPU
	c.Cores, p.Host.Call, p.Host.Wake = n.Cores, significant(n.Call), significant(n.Wake)
	c.Op, c.Signal, c.Pattern = significant(n.Op), significant(n.Signal), n.Pattern
	c.Copy, c.Reduce, c.Local, c.Sharing = n.Copy, n.Reduce, n.Local, n.Shared
	for key, how := range map[string]string{
		"host.call":   "an empty round of submit and stream_sync from a guest",
		"host.wake":   "a round of one small copy, less the copy and the calls",
		"cpu.cores":   "processors that this process may use",
		"cpu.op":      "64 copies of 64 bytes in a batch",
		"cpu.signal":  "signals to and fro between two ranks",
		"cpu.pattern": "ranks that fill 768 KiB",
		"cpu.copy":    "ranks that copy what the previous one has just written",
		"cpu.reduce":  "ranks that add what the previous one has just written",
		"cpu.local":   "ranks that copy within their own buffers",
		"cpu.sharing": "the same, one rank and all at once",
	} {
		p.Sources[key] = source + ": " + how
	}
	if n.Switch > 0 {
		c.Switch = significant(n.Switch)
		p.Sources["cpu.switch"] = source + ": steps of a ring of twice as many ranks as there are cores, without the bytes"
	}
	p.Validation = nil // it was of other numbers
	return p, nil
}
