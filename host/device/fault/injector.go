package fault

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// moving are the kinds that a fault concerns if it names none: what takes the
// longer the more bytes there are, other than looking at them.
var moving = []op.Kind{op.Copy, op.Put, op.Get, op.Recv, op.Reduce, op.CopyBox, op.GetBox}

// injector is one fault in the operations of one rank.
type injector struct {
	fault *Fault
	kinds uint64 // by number
	kill  func()
	seed  uint64
	seen  atomic.Uint64 // operations of these kinds with this peer
}

// newInjector prepares fault number i for a rank. What happens by chance
// happens to each rank and for each fault by a chance of its own.
func newInjector(f *Fault, i int, c *Config) *injector {
	kinds := f.Kinds
	switch {
	case kinds == nil && f.Effect == Jitter:
		kinds = possible
	case kinds == nil:
		kinds = moving
	}
	in := &injector{fault: f, kill: c.Kill, seed: scramble(scramble(c.Seed+uint64(c.Rank)) + uint64(i))}
	for _, k := range kinds {
		in.kinds |= 1 << k
	}
	return in
}

// ending is how an operation is to end for all faults together. What never ends
// does not fail either.
func ending(faults []*injector, kind op.Kind, peer int, nanos int64) (end device.Ending) {
	for _, in := range faults {
		number, concerned := in.concerns(kind, peer)
		if !concerned {
			continue
		}
		switch in.fault.Effect {
		case Corrupt:
			end.Corrupt = true
			continue
		case Fail:
			end.Fail = true
			continue
		}
		more := in.longer(number, nanos)
		if more > math.MaxInt64-end.LongerNanos {
			return device.Ending{LongerNanos: math.MaxInt64, Corrupt: end.Corrupt}
		}
		end.LongerNanos += more
	}
	end.Fail = end.Fail && end.LongerNanos < math.MaxInt64
	return end
}

// concerns reports whether the fault is in this operation, and numbers it.
func (in *injector) concerns(kind op.Kind, peer int) (number uint64, concerned bool) {
	f := in.fault
	if in.kinds>>kind&1 == 0 || f.Peer != AnyPeer && f.Peer != peer {
		return 0, false
	}
	number = in.seen.Add(1)
	if f.Nth != 0 && number != f.Nth {
		return number, false
	}
	return number, f.Probability == 0 || chance(in.seed+number) < f.Probability
}

// chance is a number from 0 up to 1 drawn from a seed.
func chance(seed uint64) float64 { return float64(scramble(seed)>>11) / (1 << 53) }

// longer is how much longer the operation of that number is to take, which has
// taken so long. Kill ends the process here.
func (in *injector) longer(number uint64, nanos int64) int64 {
	switch f := in.fault; {
	case f.Effect == Jitter:
		// Not by the chance that it happens by.
		return int64(min(float64(nanos)*f.Percent/100*chance(^in.seed+number), math.MaxInt64/2))
	case f.Effect == Kill:
		in.kill()
		return math.MaxInt64 // a rank that dies later than this does not complete it
	case f.Effect == Hang:
		return math.MaxInt64
	case f.Factor != 0:
		return int64(min(float64(nanos)*(f.Factor-1), math.MaxInt64/2))
	default:
		return int64(f.Time)
	}
}

// scramble is a bijection of 64 bits after which neighbours have nothing in
// common: the finaliser of SplitMix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// kindNamed finds a kind that a fault can concern by its name.
func kindNamed(name string) (op.Kind, bool) {
	i := slices.IndexFunc(possible, func(k op.Kind) bool { return k.String() == name })
	if i < 0 {
		return op.None, false
	}
	return possible[i], true
}

// possible are the kinds that a fault can concern: a device carries them out
// without waiting for another rank.
var possible = []op.Kind{op.Copy, op.Put, op.Get, op.Recv, op.Reduce, op.Signal, op.Fill, op.Verify, op.Digest, op.Gemm, op.CopyBox, op.GetBox}
