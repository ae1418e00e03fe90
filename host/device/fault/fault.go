// Package fault makes a device do something wrong on purpose, to see that it is
// found out: numbers that are not right, operations that take too long or fail, a
// rank that dies or hangs. [Parse] reads what is to go wrong, [Wrap] puts it around
// another device. No fault is injected into anything that does not ask for it.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// Effect is what goes wrong.
type Effect uint8

// The effects.
const (
	// Reduction is a kernel that gets the first byte of every reduction wrong, of
	// Reduce and of collectives that reduce, on all ranks.
	Reduction Effect = iota
	// Delay has operations take longer.
	Delay
	// Kill ends the process of the rank in an operation, when its bytes are in
	// place and before it is complete.
	Kill
	// Hang has an operation take for ever: until the run is given up.
	Hang
	// Jitter has each operation take longer by a part of its own time that is
	// drawn anew each time, up to a limit.
	Jitter
	// Corrupt has operations deliver their bytes with the first one wrong, and say
	// nothing. The bytes of a phantom cannot be wrong.
	Corrupt
	// Fail has an operation fail as if the hardware had: with [device.ErrFault],
	// after which its stream has failed. Its bytes may be in place, or not.
	Fail
	effectCount
)

var effects = [...]string{Reduction: "reduction", Delay: "delay", Kill: "kill", Hang: "hang", Jitter: "jitter", Corrupt: "corrupt", Fail: "fail"}

// String is the name that [Parse] reads.
func (e Effect) String() string { return effects[e] }

// AnyRank stands for every rank, AnyPeer for every other end and none.
const (
	AnyRank = -1
	AnyPeer = -1
)

// Fault is one thing that goes wrong, and where.
type Fault struct {
	Effect Effect
	Rank   int // in whose operations, or AnyRank

	// Delay: how much longer operations take, by a factor of their own time or by
	// a fixed time. One of them is 0.
	Factor float64
	Time   time.Duration

	// Jitter: how much longer operations take at most, in percent of their own time.
	Percent float64

	// The operations of the rank that are concerned.
	Kinds       []op.Kind // nil for those that move or combine bytes, for Jitter for all; Corrupt can name those only that write some
	Peer        int       // the rank at the other end, or AnyPeer
	Nth         uint64    // only this one of them, from 1; 0 for all
	Probability float64   // each of them by chance; 0 for all
}

// RankError is a fault of a rank that there is not.
type RankError struct{ Rank, Size int }

// Error names the rank.
func (e *RankError) Error() string {
	return fmt.Sprintf("there is no rank %d among %d", e.Rank, e.Size)
}

// Check reports whether faults make sense for a number of ranks: the error is a
// [*RankError].
func Check(faults []Fault, size int) error {
	for i := range faults {
		if rank := max(faults[i].Rank, faults[i].Peer); rank >= size {
			return &RankError{rank, size}
		}
	}
	return nil
}

// Config is whose device goes wrong, and how.
type Config struct {
	Faults []Fault
	Rank   int
	Seed   uint64 // of what goes wrong by chance
	Kill   func() // ends the process and does not return; for Kill only
}

var errKill = errors.New("nobody can kill this rank")

// Wrap gives a device that works as d does, but for the faults that concern its
// rank.
func Wrap(d device.Device, c Config) (device.Device, error) {
	var held []*injector
	for i := range c.Faults {
		f := &c.Faults[i]
		if f.Effect == Reduction || f.Rank != c.Rank && f.Rank != AnyRank {
			continue
		}
		if f.Effect == Kill && c.Kill == nil {
			return nil, errKill
		}
		held = append(held, newInjector(f, i, &c))
	}
	if len(held) > 0 {
		faults, ok := d.(device.Faults)
		if !ok {
			return nil, fmt.Errorf("faults in operations: %w", device.ErrMissing)
		}
		faults.Inject(func(kind op.Kind, peer int, nanos int64) device.Ending { return ending(held, kind, peer, nanos) })
	}
	if slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Effect == Reduction }) {
		return &faulty{d}, nil
	}
	return d, nil
}
