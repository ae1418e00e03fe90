// Package cpu is the device that every machine has: buffers are shared memory
// that the ranks of a node map from each other, streams are executed by the
// guest's own thread where that is faster and by worker goroutines where they
// must overlap. Start with [Open]; [Device.NewComm] is where collectives begin.
//
// Each rank has one arena, a memfd with a control region (signal pads,
// mailboxes, a table of generations) and a heap. A peer maps it once; from
// then on no operation asks anybody for anything: a transfer is one copy, a
// signal is one store. Nothing that lies in a peer's arena is trusted, since
// the peer may have been killed or may be hostile.
package cpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/kernels"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// Opener is how the list of devices names this one.
func Opener() device.Opener {
	return device.Opener{Name: "cpu", Open: Open, Available: available}
}

// Device is one rank's share of the machine.
type Device struct {
	rank, size  int
	exchange    device.Exchange
	recorder    *flight.Writer
	clock       flight.Clock
	opTimeout   time.Duration
	memoryBytes int64
	spins       int // pauses before a waiter yields
	pace        pace
	kernels     kernels.Set
	ending      ending // nil unless operations go wrong on purpose

	oneProcessor   bool        // is all that the threads of this rank have
	crowdedProcess atomic.Bool // another rank lives in this process

	own    *arena
	peers  []atomic.Pointer[arena] // by rank, this one's own included; nil until first needed
	memory memory
	mail   []channelState // by peer and channel

	streams  [laneCount]atomic.Pointer[stream] // by number; 0 is not used
	open     int                               // streams
	lanes    uint32                            // one more than the highest stream number ever used
	events   int
	any      anyWait
	barriers uint64 // entered
	comms    comms

	progress progress
	workers  sync.WaitGroup
	abort    atomic.Pointer[abortCause]
	closed   bool
}

type abortCause struct{ err error }

// Open makes the device of one rank and publishes where its memory is.
func Open(c device.Config) (device.Device, error) {
	if c.Size < 1 || c.Rank < 0 || c.Rank >= c.Size {
		return nil, fmt.Errorf("rank %d of %d: %w", c.Rank, c.Size, device.ErrPeer)
	}
	limit := c.MemoryBytes
	if limit <= 0 {
		limit = defaultMemoryBytes(c.Size)
	}
	a, err := createArena(c.Rank, c.Size, 2*limit+64*hugePageBytes)
	if err != nil {
		return nil, err
	}
	d := &Device{
		rank: c.Rank, size: c.Size, exchange: c.Exchange, recorder: c.Recorder, opTimeout: c.OpTimeout,
		memoryBytes: limit, spins: spinPauses, pace: usualPace(), kernels: kernels.New(), own: a, lanes: 1,
		peers:    make([]atomic.Pointer[arena], c.Size),
		mail:     make([]channelState, c.Size*sendChannels),
		memory:   newMemory(a.heapBytes(), limit),
		progress: newProgress(),
	}
	if c.Size > onlineProcessors() {
		d.spins = spinPausesCrowded
	}
	d.oneProcessor = d.spins == spinPausesCrowded || ownProcessors() == 1
	d.clock = clockOf(c.Recorder)
	d.adopt(a)
	if err := c.Exchange.Set(arenaKey(c.Rank), a.name()); err != nil {
		return nil, errors.Join(fmt.Errorf("publish shared memory: %w", err), a.close())
	}
	return d, nil
}

func clockOf(w *flight.Writer) flight.Clock {
	if w == nil {
		return flight.NewClock()
	}
	return w.Clock
}

// Facts says what the device is.
func (d *Device) Facts() device.Facts {
	return device.Facts{
		Name: "cpu", Model: processorModel(), MemoryBytes: d.memoryBytes,
		MaxStreams: maxStreams, MaxEvents: maxEvents,
		SignalSlots: signalSlots, SendChannels: sendChannels,
	}
}

// Now is the time on the clock of the flight records.
func (d *Device) Now() int64 { return d.clock.Now() }

// Abort ends every wait, now and from now on.
func (d *Device) Abort(cause error) {
	if cause == nil {
		cause = errors.New("no cause given")
	}
	d.abort.CompareAndSwap(nil, &abortCause{fmt.Errorf("%w: %w", device.ErrAborted, cause)})
}

// abortError is nil until Abort is called.
func (d *Device) abortError() error {
	if a := d.abort.Load(); a != nil {
		return a.err
	}
	return nil
}

// usable is nil while the guest may call: until Close and Abort.
func (d *Device) usable() error {
	if d.closed {
		return device.ErrClosed
	}
	return d.abortError()
}

// Close stops the streams and unmaps all memory. Peers that have mapped this
// rank's keep it.
func (d *Device) Close() error {
	if d.closed {
		return device.ErrClosed
	}
	d.Abort(device.ErrClosed)
	d.closed = true
	for i := range d.streams {
		if s := d.streams[i].Load(); s != nil {
			s.stop()
		}
	}
	d.progress.stop()
	d.workers.Wait()
	var err error
	for i := range d.peers {
		if a := d.peers[i].Swap(nil); a != nil {
			err = errors.Join(err, a.close())
		}
	}
	return err
}

// record writes the flight record of an operation that began at start and has
// just ended. It gives the time of the end, 0 if none was recorded.
func (d *Device) record(o *op.Op, stream, peer int, status uint8, start int64) int64 {
	if !device.Recorded(d.recorder, o) {
		return 0
	}
	end := d.Now()
	device.Record(d.recorder, o, stream, peer, status, start, end)
	return end
}

// recordReduce writes a record for each peer whose memory a Reduce has read,
// since each of them is a transfer of its own, or one record if all sources
// were this rank's.
func (d *Device) recordReduce(o *op.Op, stream int, start int64) int64 {
	if !device.Recorded(d.recorder, o) {
		return 0
	}
	end, remote := d.Now(), false
	for i := range o.Sources[:o.SourceCount] {
		if b := o.Sources[i].Buf.(*buffer); b.remote() {
			device.Record(d.recorder, o, stream, b.peer, flight.StatusOK, start, end)
			remote = true
		}
	}
	if !remote {
		device.Record(d.recorder, o, stream, -1, flight.StatusOK, start, end)
	}
	return end
}
