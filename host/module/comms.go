package module

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ccrun/ccrun/host/abi"
	"github.com/ccrun/ccrun/host/device"
	"github.com/ccrun/ccrun/host/flight"
	"github.com/ccrun/ccrun/host/op"
)

// comm is what a communicator handle names.
type comm struct {
	device.Comm
	op        op.Comm // the same, so that it need not be converted for each call
	name      string  // the same on all its ranks, and no other communicator's
	group     uint16  // likewise, but numbers are used again after 65,535
	ranks     []int   // of the world, by rank of the communicator
	splits    int     // that are complete
	pending   *splitVote
	plans     map[string]*plan
	planSteps int // of all its plans
}

// worldComm is the communicator of all ranks and how often it was made.
type worldComm struct {
	handle uint64
	made   int
}

// splitVote is what a rank asks of a split.
type splitVote struct{ color, key int32 }

// ballot is what a rank lets the others know for a split: its vote, and how
// many communicators it has made, which numbers the next one that it is first
// in.
type ballot struct {
	splitVote
	made uint32
}

const ballotBytes = 12

func (b ballot) encode() []byte {
	e := binary.LittleEndian.AppendUint32(nil, uint32(b.color))
	e = binary.LittleEndian.AppendUint32(e, uint32(b.key))
	return binary.LittleEndian.AppendUint32(e, b.made)
}

func decodeBallot(b []byte) (ballot, error) {
	if len(b) != ballotBytes {
		return ballot{}, refuse(abi.Failed, "a ballot of %d bytes is malformed", len(b))
	}
	return ballot{splitVote{int32(get32(b)), int32(get32(b[4:]))}, get32(b[8:])}, nil
}

// commWorld writes the handle of the communicator of all ranks, made by the
// first call. timed_out: not all ranks have called it; unsupported: the device
// has no communicators.
func commWorld(c *call) error {
	if _, err := c.comms.get(c.world.handle); err == nil {
		put64(c.out[0], c.world.handle)
		return nil
	}
	ranks := make([]int, c.config.Size)
	for rank := range ranks {
		ranks[rank] = rank
	}
	n, began, timeout := &comm{name: "world." + strconv.Itoa(c.world.made), ranks: ranks}, c.moment(), c.timeout(0)
	if !c.facts.Virtual { // a device in virtual time tells the recorder itself, if it must
		if err := c.meetWorld(n.name, timeout); err != nil {
			return err
		}
	}
	handle, err := c.newComm(n, c.remaining(timeout, began))
	if err != nil {
		return err
	}
	c.world = worldComm{handle, c.world.made + 1}
	put64(c.out[0], handle)
	return nil
}

// meetWorld waits until all ranks have asked for the communicator of that name:
// here, where the flight recorder is told, so that making one does not wait
// long for anyone.
func (c *call) meetWorld(name string, timeout time.Duration) error {
	if err := c.config.Exchange.Set(joinKey(name, c.config.Rank), []byte{1}); err != nil {
		return fmt.Errorf("communicator: %w", err)
	}
	began := c.moment()
	for rank := range c.config.Size {
		_, err := c.awaitKey(joinKey(name, rank), c.remaining(timeout, began), flight.Wait{
			Kind: uint8(op.ShareLookup), Peer: rank, Since: c.config.Device.Now(), Name: "communicator " + name,
		})
		if err != nil {
			return fmt.Errorf("communicator with rank %d: %w", rank, err)
		}
	}
	return nil
}

func joinKey(name string, rank int) string { return fmt.Sprintf("join/%s/%d", name, rank) }

// newComm has the device make n and gives its handle.
func (c *call) newComm(n *comm, timeout time.Duration) (uint64, error) {
	collectives, ok := c.config.Device.(device.Collectives)
	if !ok {
		return 0, fmt.Errorf("communicators: %w", device.ErrMissing)
	}
	if err := c.comms.full(); err != nil {
		return 0, err
	}
	made, err := collectives.NewComm(n.name, n.ranks, timeout)
	if err != nil {
		return 0, withoutOperation(err)
	}
	n.Comm, n.op, n.plans = made, made, make(map[string]*plan)
	return c.comms.add(n), nil
}

// commSplit writes the handle of the communicator of the ranks that vote for
// the same color, 0 if this one votes for none. A split that timed out goes on
// when it is called again. invalid: with another vote than before.
func commSplit(c *call) error {
	if err := c.comms.full(); err != nil {
		return err
	}
	parent, vote := c.comm, splitVote{int32(c.uint32(1)), int32(c.uint32(2))}
	if p := parent.pending; p != nil && *p != vote {
		return refuse(abi.Invalid, "a split that timed out asked for color %d and key %d: repeat it as it was", p.color, p.key)
	}
	began, timeout := c.moment(), c.timeout(3)
	ballots, err := c.collectBallots(parent, vote, timeout)
	if err != nil {
		return err
	}
	handle := uint64(0)
	if vote.color >= 0 {
		if handle, err = c.newComm(parent.part(ballots, vote.color, c.config.Size), c.remaining(timeout, began)); err != nil {
			return err
		}
	}
	parent.pending = nil
	parent.splits++
	put64(c.out[0], handle)
	return nil
}

// moment is a point in time on the clock that the guest's deadlines run by: the
// device's where that is virtual, so that no deadline there depends on how fast
// this machine is.
func (i *Instance) moment() time.Duration {
	if i.facts.Virtual {
		return time.Duration(i.config.Device.Now())
	}
	return time.Since(i.began)
}

// remaining is what is left of a timeout that began at a moment.
func (i *Instance) remaining(timeout, began time.Duration) time.Duration {
	if timeout < 0 {
		return timeout
	}
	return max(0, timeout-(i.moment()-began))
}

// collectBallots casts this rank's ballot for the parent's next split and
// gives those of all its ranks.
func (c *call) collectBallots(parent *comm, vote splitVote, timeout time.Duration) ([]ballot, error) {
	name := parent.name + "/" + strconv.Itoa(parent.splits)
	if parent.pending == nil {
		mine := ballot{vote, c.splitsMade}
		if err := c.config.Exchange.Set(ballotKey(name, parent.Rank()), mine.encode()); err != nil {
			return nil, fmt.Errorf("split: %w", err)
		}
		c.splitsMade++
		parent.pending = &vote
	}
	began, all := c.moment(), make([]ballot, parent.Size())
	for rank := range all {
		value, err := c.awaitKey(ballotKey(name, rank), c.remaining(timeout, began), flight.Wait{
			Kind: uint8(op.ShareLookup), Peer: parent.ranks[rank], Since: c.config.Device.Now(), Name: "split of " + parent.name,
		})
		if err == nil {
			all[rank], err = decodeBallot(value)
		}
		if err != nil {
			return nil, fmt.Errorf("split with rank %d: %w", parent.ranks[rank], err)
		}
	}
	return all, nil
}

func ballotKey(split string, rank int) string { return fmt.Sprintf("split/%s/%d", split, rank) }

// part is the communicator of the ranks that vote for a color, in the order of
// their keys. The first of them numbers it, in a way that all can compute:
// worldSize numbers later for each ballot that it has cast.
func (p *comm) part(ballots []ballot, color int32, worldSize int) *comm {
	var members []int // by rank of p
	for rank := range ballots {
		if ballots[rank].color == color {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(ballots[a].key, ballots[b].key) })
	n := &comm{name: fmt.Sprintf("%s/%d:%d", p.name, p.splits, color)}
	for _, rank := range members {
		n.ranks = append(n.ranks, p.ranks[rank])
	}
	number := uint64(n.ranks[0]) + uint64(worldSize)*uint64(ballots[members[0]].made)
	n.group = 1 + uint16(number%maxGroupNumber)
	return n
}

const maxGroupNumber = 1<<16 - 1

// commFree makes the handle stale; the device gives its side back when all
// calls are done.
func commFree(c *call) error {
	if err := c.comms.remove(c.stack[0]); err != nil {
		return err
	}
	c.forgetPlans(c.comm)
	return c.comm.Close()
}

// commInfo writes the comm structure, 16 bytes.
func commInfo(c *call) error {
	b := c.out[0]
	put32(b[0:], uint32(c.comm.Rank()))
	put32(b[4:], uint32(c.comm.Size()))
	put32(b[8:], uint32(c.comm.group))
	put32(b[12:], 0)
	return nil
}

// commWorldRank writes the rank in the world of a rank of the communicator.
func commWorldRank(c *call) error {
	rank := c.uint32(1)
	if uint64(rank) >= uint64(len(c.comm.ranks)) {
		return inField("rank", errRank)
	}
	put32(c.out[0], uint32(c.comm.ranks[rank]))
	return nil
}
