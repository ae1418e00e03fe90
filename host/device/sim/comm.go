package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/op"
)

// commsMax is how many communicators a rank may have.
const commsMax = 256

// group is a communicator as all its ranks see it.
type group struct {
	name     string
	ranks    []int       // of the world
	members  []*comm     // by rank of the communicator, nil until it has come
	places   map[int]int // numbers in it by ranks of the world
	joined   int
	closed   int
	absent   int          // all ranks of it before this one have come
	mismatch bool         // ranks have asked for it with different ranks
	last     model        // of a call
	nodes    int          // that its ranks are on, 0 until somebody asks
	first    uint64       // number of calls[0]
	calls    []*callState // that some rank is still in or has not come to

	mismatched error // ranks have called different things
}

// comm is one rank's side of a communicator. Its calls are numbered from 1, on
// all ranks alike.
type comm struct {
	device    *Device
	group     *group
	rank      int
	submitted uint64 // number of the last call that was submitted
	done      uint64 // number of the last call before which all are complete
	closed    bool
	broken    error     // why it carries out no more calls
	turns     []*stream // that wait for earlier calls

	measured map[*op.Program][2]int64 // what programs need of its areas
}

// Rank is this rank's number within the communicator.
func (c *comm) Rank() int { return c.rank }

// Size is how many ranks there are.
func (c *comm) Size() int { return len(c.group.ranks) }

// complete reports whether all ranks have come.
func (g *group) complete() bool { return g.joined == len(g.ranks) }

// NewComm makes a communicator. After a timeout it can be asked for again.
func (d *Device) NewComm(name string, ranks []int, timeout time.Duration) (device.Comm, error) {
	defer d.leave(d.enter())
	if err := d.usable(); err != nil {
		return nil, err
	}
	d.charge()
	d.catchUp()
	g, err := d.join(name, ranks)
	if err != nil {
		return nil, fmt.Errorf("communicator %q: %w", name, err)
	}
	d.wait = guestWait{kind: op.ShareLookup, joined: g, peer: -1}
	if err := d.await(timeout); err != nil {
		return nil, fmt.Errorf("communicator %q: rank %d: %w", name, g.missing(), err)
	}
	if g.mismatch {
		return nil, fmt.Errorf("communicator %q: ranks have other ranks in it: %w", name, device.ErrMismatch)
	}
	return g.members[g.place(d.rank)], nil
}

// place is a rank's number within the communicator, -1 if it is none of it.
func (g *group) place(rank int) int {
	if at, ok := g.places[rank]; ok {
		return at
	}
	return -1
}

func (d *Device) checkRanks(ranks []int) error {
	seen := make([]bool, d.cluster.ranks)
	for _, rank := range ranks {
		if rank < 0 || rank >= len(seen) || seen[rank] {
			return fmt.Errorf("rank %d of %d: %w", rank, d.cluster.ranks, device.ErrPeer)
		}
		seen[rank] = true
	}
	if !seen[d.rank] {
		return fmt.Errorf("rank %d is none of it: %w", d.rank, device.ErrPeer)
	}
	return nil
}

// join enters this rank into the communicator of that name.
func (d *Device) join(name string, ranks []int) (*group, error) {
	c := d.cluster
	g := c.comms[name]
	same := g != nil && slices.Equal(g.ranks, ranks)
	if !same || g.place(d.rank) < 0 { // else somebody else's have been checked
		if err := d.checkRanks(ranks); err != nil {
			return nil, err
		}
	}
	if d.openComms >= commsMax && !(same && g.members[g.place(d.rank)] != nil) {
		return nil, device.ErrTooMany
	}
	if g == nil {
		g, same = &group{name: name, ranks: slices.Clone(ranks), members: make([]*comm, len(ranks)), places: make(map[int]int, len(ranks)), first: 1}, true
		for at, rank := range ranks {
			g.places[rank] = at
		}
		c.comms[name] = g
	}
	if !same {
		if at := g.place(d.rank); at < 0 || g.members[at] == nil {
			g.mismatch = true
			c.pokeAll()
		}
		return nil, fmt.Errorf("other ranks than before: %w", device.ErrMismatch)
	}
	at := g.place(d.rank)
	if g.members[at] == nil {
		g.members[at] = &comm{device: d, group: g, rank: at}
		d.openComms++ // even if the others never come
		if g.joined++; g.complete() {
			for _, rank := range g.ranks {
				if m := c.devices[rank]; m != nil {
					m.poke()
				}
			}
		}
	}
	return g, nil
}

// missing is the first rank of the world that has not come.
func (g *group) missing() int {
	for ; g.absent < len(g.members); g.absent++ {
		if g.members[g.absent] == nil {
			return g.ranks[g.absent]
		}
	}
	return -1
}

// Close waits for the calls and gives the communicator back.
func (c *comm) Close() error {
	d := c.device
	defer d.leave(d.enter())
	if c.closed || d.closed {
		return device.ErrClosed
	}
	c.closed = true
	d.openComms--
	if c.done < c.submitted && c.broken == nil {
		d.wait = guestWait{kind: op.SyncStream, comm: c, peer: -1}
		if err := d.await(device.Forever); err != nil {
			return err
		}
	}
	var err error
	if c.broken == nil {
		err = c.compareRest()
	}
	if c.group.closed++; c.group.closed == len(c.group.ranks) {
		delete(d.cluster.comms, c.group.name)
	}
	return err
}

// compareRest compares the calls of which others may think otherwise: of two
// ranks that differ the later one notices.
func (c *comm) compareRest() error {
	for _, s := range c.group.calls {
		if s.number <= c.submitted && s.in[c.rank] {
			if err := s.disagreement(c.rank); err != nil {
				return err
			}
		}
	}
	return nil
}

// number gives the numbers of a group of calls, of which it returns the first.
func (c *comm) number(calls *op.Call) (first uint64) {
	first = c.submitted + 1
	for ; calls != nil; calls = calls.Next {
		c.submitted++
	}
	return first
}

// breakOff ends the communicator for this rank.
func (c *comm) breakOff(err error) {
	if c.broken != nil {
		return
	}
	c.broken = err
	for _, s := range c.turns {
		s.yourTurn()
	}
	c.turns = nil
	c.device.poke()
}

// advanceDone notes that all calls up to a number are complete.
func (c *comm) advanceDone(number uint64) {
	c.done = number
	turns := c.turns
	c.turns = nil
	for _, s := range turns {
		s.yourTurn()
	}
	c.device.poke()
}

// state finds the state of a call, or makes it.
func (g *group) state(number uint64) *callState {
	for g.first+uint64(len(g.calls)) <= number {
		g.calls = append(g.calls, &callState{group: g, number: g.first + uint64(len(g.calls)), in: make([]bool, len(g.ranks)), firstIn: -1})
	}
	return g.calls[number-g.first]
}

// retire drops the states of calls that all ranks are done with.
func (g *group) retire() {
	for len(g.calls) > 0 && g.calls[0].finished == len(g.ranks) {
		if g.calls[0].different != nil {
			return // who closes the communicator is to be told
		}
		g.calls = g.calls[1:]
		g.first++
	}
}
