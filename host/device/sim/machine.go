package sim

import (
	"github.com/ccrun/ccrun/host/device/sim/nccl"
	"github.com/ccrun/ccrun/host/device/sim/preset"
	"github.com/ccrun/ccrun/host/op"
)

// machine says what operations cost: a GPU cluster's or a processor's cores.
type machine interface {
	// demand says what an operation at the head of a rank's stream needs.
	demand(d *demand, rank int, t *task)
	// step says what a step of a call needs that combines bytes at places of
	// ranks of the world.
	step(d *demand, rank int, t *stepWork)
	// callModel is the time of a whole call from the moment the last rank
	// comes, and how it is carried out; ok is false if calls are carried out
	// step by step.
	callModel(call nccl.Call) (choice nccl.Choice, ok bool)
	// raisePicos is what a signal takes of its stream's time before it leaves.
	raisePicos() int64
	// signalPicos is how long a signal is on its way.
	signalPicos(from, to int) int64
	barrierPicos() int64
	callPicos() int64 // of a call, on the rank's own thread
	wakePicos() int64 // until that thread goes on when its wait is over
	// node is the number of the node that a rank of the world is on.
	node(rank int) int
	// shares reports whether a rank's operations have to wait for turns on a core
	// that it has not to itself.
	shares(rank int) bool
}

// stepWork is a move of a call.
type stepWork struct {
	bytes                  int64
	sources, dests         [op.MaxSources]int // ranks of the world
	from, to               [op.MaxSources]place
	sourceCount, destCount int
}

func newMachine(c *Cluster) machine {
	if c.preset.Machine == preset.Cores {
		return newCores(c)
	}
	return newGPUs(c)
}
