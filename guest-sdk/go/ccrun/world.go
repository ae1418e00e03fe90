package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Forever is the timeout of a wait that nothing but the run's own limits ends.
const Forever time.Duration = -1

// World is one rank's view of the run. A guest is one thread: no method of the
// package may be called by two goroutines at a time.
type World struct {
	host raw.Host
	info raw.World

	// What the host reads and writes, kept here so that no call allocates.
	collective raw.Collective
	algorithm  [64]byte
	sequence   uint32
}

// Open asks the host who this rank is. It is the first call of a guest.
func Open() (*World, error) { return OpenHost(raw.Host{}) }

// OpenHost is [Open] with a stand-in for the host; package ccruntest uses it.
// It is not inlined, so that a World is on the heap and its address holds.
//
//go:noinline
func OpenHost(host raw.Host) (*World, error) {
	w := &World{host: host}
	if err := w.check("world", host.World(&w.info)); err != nil {
		return nil, err
	}
	return w, nil
}

// Rank is this rank, from 0.
func (w *World) Rank() int { return int(w.info.Rank) }

// Size is the number of ranks.
func (w *World) Size() int { return int(w.info.Size) }

// LocalRank is this rank among those of its node.
func (w *World) LocalRank() int { return int(w.info.LocalRank) }

// LocalSize is the number of ranks of its node.
func (w *World) LocalSize() int { return int(w.info.LocalSize) }

// Seed is the run's seed, the same on all ranks.
func (w *World) Seed() uint64 { return w.info.Seed }

// SignalSlots is the number of signal slots per pair of ranks.
func (w *World) SignalSlots() int { return int(w.info.SignalSlots) }

// SendChannels is the number of send channels per pair of ranks.
func (w *World) SendChannels() int { return int(w.info.SendChannels) }

// BufferLimitBytes is how much device memory this rank may allocate.
func (w *World) BufferLimitBytes() uint64 { return w.info.BufferLimit }

// Device names what carries out operations: "cpu", "cuda" or "sim".
func (w *World) Device() string {
	switch w.info.Device {
	case raw.DeviceCpu:
		return "cpu"
	case raw.DeviceCuda:
		return "cuda"
	case raw.DeviceSim:
		return "sim"
	}
	return "unknown"
}

// Now reads the run's clock, which all ranks of a node share: virtual time on
// sim. Its zero means nothing.
func (w *World) Now() (time.Duration, error) {
	var nanos int64
	err := w.check("clock_now", w.host.ClockNow(&nanos))
	return time.Duration(nanos), err
}

// Barrier waits until every rank has called it as often as this one. It says
// nothing about streams.
func (w *World) Barrier(timeout time.Duration) error {
	return w.check("barrier", w.host.Barrier(int64(timeout)))
}

// Abort ends all ranks; the run's exit code is code, 1 to 95. It returns only
// if code is out of range.
func (w *World) Abort(code int, text string) error {
	return w.check("abort", w.host.Abort(hostIndex(code), text))
}

// SignalValue reads the slot that peer raises here, without waiting.
func (w *World) SignalValue(peer, slot int) (uint64, error) {
	var value uint64
	err := w.check("signal_value", w.host.SignalValue(hostIndex(peer), hostIndex(slot), &value))
	return value, err
}
