package cpu

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// comm is a communicator. Its ranks find each other's block once, when it is
// made; from then on a call is loads and stores. Calls are numbered from 1, on
// all ranks alike, and the numbers are in every word that ranks exchange, so
// that nothing is ever reset.
type comm struct {
	device *Device
	name   string
	rank   int
	peers  []commPeer // by rank of the communicator, this one's own included
	taken  block
	closed bool

	submitted uint64  // number of the last call that was submitted; the guest's
	extent    extent  // of the program that was submitted last
	done      counter // number of the last call that is complete here
	broken    atomic.Pointer[brokenComm]

	run    groupRun
	areas  []peerArea // by rank and area: what the current call may touch
	pinned []int      // indices of areas that hold a pin
	waits  op.Op      // what the recorder says that a stream waits for

	sources [op.MaxSources][]byte // scratch of moveNear
	dests   [1][]byte
}

// commPeer is one rank of a communicator and its block.
type commPeer struct {
	world int // rank of the world
	block commBlock
}

// brokenComm is why a communicator carries out no more calls.
type brokenComm struct{ err error }

// maxComms is how many communicators a rank may have.
const maxComms = 256

// Rank is this rank's number within the communicator.
func (c *comm) Rank() int { return c.rank }

// Size is how many ranks there are.
func (c *comm) Size() int { return len(c.peers) }

// comms are the communicators of a device: those that some rank is still to
// join, by name, and those given up, until no peer uses them.
type comms struct {
	open    int
	joining map[string]*comm
	leaving []*comm
}

// NewComm makes a communicator. After a timeout it can be asked for again: what
// peers have seen of it stays valid.
func (d *Device) NewComm(name string, ranks []int, timeout time.Duration) (device.Comm, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	c, err := d.joining(name, ranks)
	if err != nil {
		return nil, fmt.Errorf("communicator %q: %w", name, err)
	}
	deadline := d.deadlineAfter(timeout)
	for i := range c.peers {
		if err := c.meetPeer(i, ranks, deadline); err != nil {
			return nil, fmt.Errorf("communicator %q: rank %d: %w", name, c.peers[i].world, err)
		}
	}
	delete(d.comms.joining, name)
	d.comms.open++
	return c, nil
}

// joining gives the communicator of that name that is being made, or begins
// and publishes a new one.
func (d *Device) joining(name string, ranks []int) (*comm, error) {
	if c, ok := d.comms.joining[name]; ok {
		if !slices.EqualFunc(c.peers, ranks, func(p commPeer, r int) bool { return p.world == r }) {
			return nil, fmt.Errorf("other ranks than before: %w", device.ErrMismatch)
		}
		return c, nil
	}
	if d.comms.open+len(d.comms.joining) >= maxComms {
		return nil, device.ErrTooMany
	}
	c := &comm{device: d, name: name, rank: slices.Index(ranks, d.rank)}
	for i, rank := range ranks {
		if rank < 0 || rank >= d.size || slices.Index(ranks, rank) != i {
			return nil, fmt.Errorf("rank %d of %d: %w", rank, d.size, device.ErrPeer)
		}
		c.peers = append(c.peers, commPeer{world: rank})
	}
	if c.rank < 0 {
		return nil, fmt.Errorf("rank %d is none of it: %w", d.rank, device.ErrPeer)
	}
	c.areas, c.pinned = make([]peerArea, 2*len(ranks)), make([]int, 0, 2*len(ranks))
	if err := c.publish(ranks); err != nil {
		return nil, err
	}
	if d.comms.joining == nil {
		d.comms.joining = make(map[string]*comm)
	}
	d.comms.joining[name] = c
	return c, nil
}

// publish takes memory for this rank's block and says where it is. It does not
// count as the guest's memory.
func (c *comm) publish(ranks []int) error {
	d := c.device
	d.reclaim()
	taken, ok := d.memory.heap.take(commLayoutOf(len(ranks)).bytes)
	if !ok {
		return device.ErrNoMemory
	}
	d.memory.used += taken.bytes // clean gives it back if it fails
	taken, err := d.clean(taken)
	if err != nil {
		return err
	}
	d.memory.used -= taken.bytes
	c.taken = taken
	address := binary.LittleEndian.AppendUint64(nil, uint64(d.own.heap+taken.offset))
	address = binary.LittleEndian.AppendUint64(address, membership(ranks))
	return d.exchange.Set(commKey(c.name, d.rank), address)
}

func commKey(name string, rank int) string { return "cpu/comm/" + name + "/" + strconv.Itoa(rank) }

// membership tells lists of ranks apart.
func membership(ranks []int) uint64 {
	h := fnv.New64a()
	for _, r := range ranks {
		_ = binary.Write(h, binary.LittleEndian, int64(r)) // a hash accepts everything
	}
	return h.Sum64()
}

// meetPeer finds the block of one rank of the communicator, unless it is known.
func (c *comm) meetPeer(i int, ranks []int, deadline int64) error {
	d, p := c.device, &c.peers[i]
	if p.block.arena != nil {
		return nil
	}
	a, err := d.attachUntil(p.world, deadline)
	if err != nil {
		return err
	}
	address, err := d.lookUp(commKey(c.name, p.world), p.world, deadline)
	if err != nil {
		return err
	}
	l := commLayoutOf(len(ranks))
	if len(address) != 16 {
		return device.ErrPeer
	}
	base := int64(binary.LittleEndian.Uint64(address))
	if !a.holds(base, l.bytes) || base%lineBytes != 0 {
		return device.ErrPeer
	}
	if binary.LittleEndian.Uint64(address[8:]) != membership(ranks) {
		return fmt.Errorf("has other ranks in it: %w", device.ErrMismatch)
	}
	p.block = blockAt(a, base, l, c.rank)
	return nil
}

// Close waits for the calls and gives the communicator back. Its memory stays
// until all ranks have closed theirs: one that could not wait, because the run
// is given up, has not.
func (c *comm) Close() error {
	d := c.device
	if c.closed || d.closed {
		return device.ErrClosed
	}
	c.closed = true
	d.comms.open--
	if err := d.finishCalls(c); err != nil {
		return err
	}
	err := c.compareRest()
	for i := range c.peers {
		c.peers[i].block.closedBy(c.rank).Store(1)
	}
	d.comms.leaving = append(d.comms.leaving, c)
	d.reclaim()
	return err
}

// finishCalls waits until no stream has a call on c in its queue.
func (d *Device) finishCalls(c *comm) error {
	for i := range d.streams {
		s := d.streams[i].Load()
		if s == nil {
			continue
		}
		if at, ok := s.lastCall(c); ok {
			g := d.guestWaitFor(op.SyncStream, device.Forever)
			g.slot = uint32(s.number)
			if err := s.reach(at, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastCall is how far the queue must be done until no call on c is in it.
func (q *queue) lastCall(c *comm) (done uint64, found bool) {
	for i := q.tail.Load(); i > q.done.value.Load(); i-- {
		if o := &q.at(i - 1).op; o.Kind == op.CollectiveCall && o.Comm == op.Comm(c) {
			return i, true
		}
	}
	return 0, false
}

// reclaim gives the memory of communicators back that all ranks have closed.
func (m *comms) reclaim(d *Device) {
	m.leaving = slices.DeleteFunc(m.leaving, func(c *comm) bool {
		for rank := range c.peers {
			if c.peers[c.rank].block.closedBy(rank).Load() == 0 {
				return false
			}
		}
		d.memory.used += c.taken.bytes
		d.giveBlock(c.taken)
		return true
	})
}
