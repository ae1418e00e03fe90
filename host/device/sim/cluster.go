// Package sim is the simulator: a device whose ranks live in one process and
// in virtual time. Call [New] with a preset, open a rank's device with
// [Cluster.Open] for each rank, and run the ranks' bodies with [Cluster.Run]:
// they take turns, each until it has to wait, so a run is a function of what
// its bodies do, of the preset and of the seed. Times are picoseconds inside
// and nanoseconds outside.
//
// Operations take the time that the preset's numbers say: transfers share
// links fairly (package network), collectives of GPU presets take what NCCL's
// model says (package nccl), and what guests compute by themselves takes none.
// Buffers hold real bytes, on which operations have their effect, or are
// phantoms, that have a size only.
//
// Outside Run the same devices can be used from goroutines, one for each device
// at a time, as the conformance suite does: whoever waits drives the events, and timeouts are of
// wall time, because only there can somebody else act.
package sim

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/device/sim/event"
	"github.com/ccrun/ccrun/host/device/sim/network"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// RanksMax is the largest number of ranks of a cluster.
const RanksMax = 1 << 16

// Options are a cluster.
type Options struct {
	Preset *preset.Preset
	Ranks  int
	Seed   uint64
	// RealBytes is how many bytes of buffers all ranks together may have that
	// hold data, each rank its share: buffers past it are phantoms, but for small
	// ones. -1 is no limit, and of 0 not even small ones hold data. Whatever it
	// says, half of this computer's memory and 64 GiB are the most that there is.
	RealBytes int64
	// GivenUp is called by Run when the run is given up, since somebody has called
	// Abort or, with a [*Deadlock] as the cause, since no rank can go on: where no
	// rank runs, before they are told, and while what they wait for stands in the
	// lanes of their recorders. nil for nothing.
	GivenUp func(cause error)
	// Between is called by Run where no rank runs, before one goes on. nil for
	// nothing.
	Between func()
}

// Cluster is the simulated machine and all ranks' devices.
type Cluster struct {
	preset    *preset.Preset
	machine   machine
	seed      uint64
	ranks     int
	realBytes int64  // of one rank, -1 for no limit
	realMost  int64  // of all ranks together, whatever that says
	realHeld  int64  // bytes of all ranks' buffers that hold data
	turns     *turns // of ranks that share processor cores, nil if none do
	touched   int64  // on processor cores: bytes of ranks' buffers that operations have touched

	now           int64 // picoseconds
	queue         event.Queue
	net           network.Network
	dirty         bool        // net has to be settled
	owners        []flowOwner // by flow
	pending       int         // events on the queue that will have an effect
	limited       int         // ranks that wait until a time at most
	slabs         slabs
	machineDemand demand // scratch
	scratch       op.Op  // of records
	jobs          pool[job]
	letters       pool[letter]
	streams       []*stream  // by number in the cluster
	unused        []int32    // numbers of streams given back
	ready         []*stream  // that can go on at this instant
	readyRuns     []*callRun // calls that can
	opened        int
	devices       []*Device // by rank, nil until opened

	rounds  []round // barriers, from number passed + 1 on
	passed  uint64  // barriers that all ranks have entered
	meeting int     // ranks that wait for another's device
	comms   map[string]*group
	store   store
	stats   Stats

	scheduled  bool // Run is under way
	coroutines []coroutine
	live       int   // bodies that have not ended
	result     error // of Run
	told       bool  // the ranks know that the run is given up
	runnable   fifo
	aborted    atomic.Pointer[error]
	news       atomic.Bool // somebody has called Abort since Run has looked
	givenUp    func(cause error)
	between    func()

	mu      sync.Mutex // outside Run
	changed *sync.Cond
}

// Stats is what a run cost the simulator.
type Stats struct {
	Events     uint64 `json:"events"`
	Operations uint64 `json:"operations"` // of streams
	Switches   uint64 `json:"switches"`   // from one rank to another
}

// Kinds of events; the target is said behind each.
const (
	evStart   uint32 = iota // stream: its next operation has been handed over by now
	evFlow                  // flow: its bytes may be through
	evJob                   // job: complete
	evSignal                // letter: a signal arrives
	evResume                // rank: its own time has come
	evTimeout               // rank: its wait is over
	evBarrier               // nothing: the first barrier that is not over ends
	evCall                  // job: a call is complete
)

// New makes a cluster.
func New(o Options) (*Cluster, error) {
	if o.Ranks < 1 || o.Ranks > RanksMax {
		return nil, fmt.Errorf("%d ranks: a simulated cluster has 1 to %d", o.Ranks, RanksMax)
	}
	c := &Cluster{
		preset: o.Preset, seed: o.Seed, ranks: o.Ranks, realBytes: o.RealBytes, givenUp: o.GivenUp, between: o.Between,
		devices: make([]*Device, o.Ranks), comms: make(map[string]*group),
	}
	c.realMost = realMost()
	if c.realBytes > 0 {
		c.realBytes = min(c.realBytes, c.realMost) / int64(o.Ranks)
	}
	c.changed = sync.NewCond(&c.mu)
	c.store.init()
	c.machine = newMachine(c)
	return c, nil
}

// Now is the virtual time in nanoseconds.
func (c *Cluster) Now() int64 { return c.now / picosPerNano }

// Stats is to be called when nothing runs.
func (c *Cluster) Stats() Stats { return c.stats }

// Preset is what the cluster was made with.
func (c *Cluster) Preset() *preset.Preset { return c.preset }

// Abort gives the run up: every wait, present and future, of every rank fails
// with [device.ErrAborted] and cause. Any goroutine may call it; the first call
// counts.
func (c *Cluster) Abort(cause error) {
	if cause == nil {
		cause = errors.New("no cause given")
	}
	wrapped := fmt.Errorf("%w: %w", device.ErrAborted, cause)
	c.aborted.CompareAndSwap(nil, &wrapped)
	c.news.Store(true)
	c.announce()
}

const (
	picosPerNano   = 1000
	picosPerSecond = 1e12
)

// picos converts seconds of a preset.
func picos(seconds float64) int64 { return int64(seconds*picosPerSecond + 0.5) }

// pool hands out indices of values that are used again.
type pool[T any] struct {
	all    []T
	unused []int32
}

func (p *pool[T]) take() int32 {
	if n := len(p.unused); n > 0 {
		i := p.unused[n-1]
		p.unused = p.unused[:n-1]
		return i
	}
	var zero T
	p.all = append(p.all, zero)
	return int32(len(p.all) - 1)
}

func (p *pool[T]) give(i int32) {
	var zero T
	p.all[i] = zero
	p.unused = append(p.unused, i)
}

func (p *pool[T]) at(i int32) *T { return &p.all[i] }
