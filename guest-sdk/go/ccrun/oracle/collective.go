package oracle

import (
	"slices"

	"github.com/ccrun/ccrun/guest-sdk/go/ccrun"
)

// Collective is how one is called and what its result must be.
type Collective struct {
	Name       string
	Algorithms []string

	apart     []string // algorithms that it has only if not in place
	together  []string // algorithms that it has only in place
	slotParts func(n int) int64
	input     func(c *Call) (apart, inPlace ccrun.Region)
	submit    func(c *Call, source ccrun.Region)
	verify    func(c *Call) error
}

// slotBytes is what fits into the slots of small collectives.
const slotBytes = 16 << 10

func one(int) int64     { return 1 }
func every(n int) int64 { return int64(n) }

// Collectives lists all of them.
func Collectives() []Collective {
	return []Collective{
		{"all_reduce", []string{"oneshot", "direct", "ring", "doubling"}, nil, nil, one, giveOne, allReduce, reducedWhole},
		{"all_gather", []string{"oneshot", "direct", "pull", "ring"}, nil, nil, one, giveOwn, allGather, everyPart},
		{"reduce_scatter", []string{"oneshot", "direct", "ring"}, nil, nil, every, giveAll, reduceScatter, reducedPart},
		{"broadcast", []string{"oneshot", "direct", "ring", "tree"}, nil, nil, one, giveOneAtRoot, broadcast, partOfRoot},
		{"reduce", []string{"oneshot", "direct", "ring", "tree"}, nil, nil, one, giveOne, reduce, reducedAtRoot},
		{"gather", []string{"oneshot", "direct"}, nil, nil, one, giveToRoot, gather, everyPartAtRoot},
		{"scatter", []string{"oneshot", "direct"}, nil, nil, every, giveAllAtRoot, scatter, ownPartOfRoot},
		{"all_to_all", []string{"oneshot", "direct", "swap"}, []string{"direct"}, []string{"swap"}, every, giveAll, allToAll, transposed},
		{"all_to_all_v", []string{"direct"}, []string{"direct"}, nil, every, giveAll, allToAllV, unevenParts},
		{"barrier", []string{"oneshot", "doubling"}, nil, nil, one, giveNothing, barrier, everyoneCame},
	}
}

// Has reports whether n ranks can have the collective carried out in a shape by
// an algorithm, of which "" is the host's choice.
func (c *Collective) Has(algorithm string, s Shape, n int) bool {
	if c.Name == "all_to_all_v" && s.InPlace {
		return false
	}
	switch {
	case algorithm == "":
		return true
	case !slices.Contains(c.Algorithms, algorithm), slices.Contains(c.apart, algorithm) && s.InPlace, slices.Contains(c.together, algorithm) && !s.InPlace:
		return false
	}
	slot := algorithm == "oneshot" || algorithm == "doubling" || algorithm == "tree"
	return !slot || c.Name == "barrier" || c.slotParts(n)*s.Count*s.Dtype.Bytes()*8 <= slotBytes
}

// What a rank gives: where its input lies if not in place, and if so.

func giveOne(c *Call) (apart, inPlace ccrun.Region) { return c.first(c.In), c.first(c.Out) }
func giveOwn(c *Call) (apart, inPlace ccrun.Region) { return c.first(c.In), c.at(c.Out, c.me) }
func giveAll(c *Call) (apart, inPlace ccrun.Region) { return c.whole(c.In), c.whole(c.Out) }

func giveNothing(*Call) (apart, inPlace ccrun.Region) { return }

func giveOneAtRoot(c *Call) (apart, inPlace ccrun.Region) {
	if c.me != c.Root {
		return
	}
	return giveOne(c)
}

func giveAllAtRoot(c *Call) (apart, inPlace ccrun.Region) {
	if c.me != c.Root {
		return
	}
	return giveAll(c)
}

func giveToRoot(c *Call) (apart, inPlace ccrun.Region) {
	if c.me != c.Root {
		return giveOne(c)
	}
	return giveOwn(c)
}

// How it is called.

func allReduce(c *Call, source ccrun.Region) {
	c.Stream.AllReduce(c.Comm, c.Red, c.Dtype, c.first(c.Out), source)
}

func allGather(c *Call, source ccrun.Region) {
	c.Stream.AllGather(c.Comm, c.Dtype, c.whole(c.Out), source)
}

func reduceScatter(c *Call, source ccrun.Region) {
	dst := c.at(c.Out, c.me)
	if c.InPlace {
		dst = c.whole(c.Out)
	}
	c.Stream.ReduceScatter(c.Comm, c.Red, c.Dtype, dst, source)
}

func broadcast(c *Call, source ccrun.Region) {
	c.Stream.Broadcast(c.Comm, c.Dtype, c.Root, c.first(c.Out), source)
}

func reduce(c *Call, source ccrun.Region) {
	c.Stream.ReduceTo(c.Comm, c.Red, c.Dtype, c.Root, c.first(c.Out), source)
}

func gather(c *Call, source ccrun.Region) {
	dst := c.first(c.Out)
	if c.me == c.Root {
		dst = c.whole(c.Out)
	}
	c.Stream.Gather(c.Comm, c.Dtype, c.Root, dst, source)
}

func scatter(c *Call, source ccrun.Region) {
	dst := c.at(c.Out, c.me)
	if c.me == c.Root && c.InPlace {
		dst = c.whole(c.Out)
	}
	c.Stream.Scatter(c.Comm, c.Dtype, c.Root, dst, source)
}

func allToAll(c *Call, source ccrun.Region) {
	c.Stream.AllToAll(c.Comm, c.Dtype, c.whole(c.Out), source)
}

// uneven is how many elements one rank sends another.
func (c *Call) uneven(from, to int) uint64 { return uint64(c.Count) * uint64((from+2*to)%3) / 3 }

func allToAllV(c *Call, source ccrun.Region) {
	var p ccrun.Parts
	for rank := range c.n {
		p.Send, p.SendOffsets = append(p.Send, c.uneven(c.me, rank)), append(p.SendOffsets, uint64(rank)*uint64(c.Count))
		p.Recv, p.RecvOffsets = append(p.Recv, c.uneven(rank, c.me)), append(p.RecvOffsets, uint64(rank)*uint64(c.Count))
	}
	c.Stream.AllToAllV(c.Comm, c.Dtype, c.whole(c.Out), source, p)
}

// barrier lets every other rank see, by a signal, that this one has come.
func barrier(c *Call, _ ccrun.Region) {
	for rank := range c.n {
		if peer, err := c.Comm.WorldRank(rank); err == nil && rank != c.me {
			c.Stream.Signal(peer, c.Slot, c.Seed)
		}
	}
	c.Stream.Barrier(c.Comm)
}
