package ccrun

import (
	"time"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun/raw"
)

// Comm is a communicator: ranks that call collectives together, see
// [Stream.AllReduce] and its like. All of them call the same ones in the same
// order.
type Comm struct {
	// Options hold for the calls that are submitted from now on. All ranks of
	// the communicator set the same.
	Options CallOptions

	world  *World
	handle uint64
	info   raw.Comm
	names  map[string]*[64]byte // of algorithms, where the host may read them
}

// CallOptions say how the host carries out a collective; the zero value leaves
// it to the host.
type CallOptions struct {
	Algorithm  string // "ring"; the collective must have it
	SliceBytes int64  // size of a pipelined slice, less than 4 GiB
	Warmup     bool   // to be left out of the statistics
}

// Comm is the communicator of all ranks, which all of them ask for.
func (w *World) Comm() (*Comm, error) {
	c := &Comm{world: w}
	return c.open("comm_world", w.host.CommWorld(int64(Forever), &c.handle))
}

// Split makes communicators of the ranks that give the same color, numbered by
// key and then as in c. All ranks of c call it; one that gives a negative color
// gets nil.
func (c *Comm) Split(color, key int32) (*Comm, error) { return c.SplitWithin(color, key, Forever) }

// SplitWithin is [Comm.Split] with a deadline, after which it fails with
// [ErrTimedOut]; it can be repeated.
func (c *Comm) SplitWithin(color, key int32, timeout time.Duration) (*Comm, error) {
	part := &Comm{world: c.world}
	return part.open("comm_split", c.world.host.CommSplit(c.handle, color, key, int64(timeout), &part.handle))
}

// open asks what c is, whose handle a call has given.
func (c *Comm) open(call string, errno raw.Errno) (*Comm, error) {
	if err := c.world.check(call, errno); err != nil || c.handle == 0 {
		return nil, err
	}
	c.names = make(map[string]*[64]byte)
	if err := c.world.check("comm_info", c.world.host.CommInfo(c.handle, &c.info)); err != nil {
		return nil, err
	}
	return c, nil
}

// Free gives the communicator back. Calls that are submitted still finish.
func (c *Comm) Free() error { return c.world.check("comm_free", c.world.host.CommFree(c.handle)) }

// Rank is this rank within the communicator, from 0.
func (c *Comm) Rank() int { return int(c.info.Rank) }

// Size is the number of the communicator's ranks.
func (c *Comm) Size() int { return int(c.info.Size) }

// Group is the communicator's number, by which traces name it; 0 is the
// world's.
func (c *Comm) Group() int { return int(c.info.Group) }

// Handle is the communicator's handle, for package raw.
func (c *Comm) Handle() uint64 { return c.handle }

// Ring is the ring of the communicator's ranks, in order.
func (c *Comm) Ring() Ring { return NewRing(c.Rank(), c.Size()) }

// WorldRank is the rank in the world of a rank of the communicator.
func (c *Comm) WorldRank(rank int) (int, error) {
	var world uint32
	err := c.world.check("comm_world_rank", c.world.host.CommWorldRank(c.handle, hostIndex(rank), &world))
	return int(world), err
}

// algorithm is where the host may read the name of the algorithm in the
// options: kept for good, since a call may be held.
func (c *Comm) algorithm() (address, bytes uint32) {
	name := c.Options.Algorithm
	if name == "" {
		return 0, 0
	}
	text, known := c.names[name]
	if !known {
		text = new([64]byte)
		copy(text[:], name)
		c.names[name] = text
	}
	return c.world.host.AddressOfText(text), uint32(len(name))
}
